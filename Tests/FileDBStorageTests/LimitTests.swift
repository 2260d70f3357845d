import FileDBStorage
import Foundation
import Testing

/// Disks that are full or may not be written to, and not because a test says so.
@Suite(.serialized, .enabled(if: noMountsHere == nil, noMountsHere ?? ""))
struct LimitTests {
  let disk = SystemDisk()

  /// Every size from one that fits to one that never can, so that each call gets its turn to find the disk full.
  @Test func aFullDiskLeavesTheOldFile() throws {
    try withSmallDisk(kilobytes: 256) { folder in
      let file = "\(folder)/todo"
      let old = String(repeating: "o", count: 100 << 10)
      var outcomes: [Int: DiskError.Kind?] = [:]
      for kilobytes in stride(from: 100, through: 300, by: 4) {
        _ = try disk.replace(file, with: old.bytes)
        let new = String(repeating: "n", count: kilobytes << 10)
        let kind = kind { _ = try disk.replace(file, with: new.bytes) }
        outcomes[kilobytes] = kind
        #expect(kind == nil || kind == .full, "\(kilobytes) KiB")
        let found = try disk.text(file)
        #expect(found == (kind == nil ? new : old), "\(kilobytes) KiB")
        #expect(try disk.list(folder) == ["todo"], "\(kilobytes) KiB")
        try disk.remove(file)
      }
      #expect(outcomes[100] == .some(nil), "100 KiB beside 100 KiB fit into 256")
      #expect(outcomes[160] == .full, "160 KiB beside 100 KiB do not")
    }
  }

  @Test func aReadOnlyDisk() throws {
    try withSmallDisk(kilobytes: 256) { folder in
      let file = "\(folder)/todo"
      _ = try disk.replace(file, with: "old".bytes)
      try run("mount", "-o", "remount,ro", folder)
      #expect(kind { _ = try disk.replace(file, with: "new".bytes) } == .readOnly)
      #expect(kind { _ = try disk.replace("\(folder)/other", with: "new".bytes) } == .readOnly)
      #expect(kind { try disk.createFolder("\(folder)/sub") } == .readOnly)
      #expect(kind { try disk.createFolder(folder) } == nil, "it is there already")
      #expect(kind { _ = try disk.lock("\(folder)/lock", timeout: .zero) } == .readOnly)
      let opened = try disk.open(file)
      #expect(kind { try opened.write("new".bytes, at: 0) } == .readOnly)
      #expect(try opened.read(at: 0, count: 3) == "old".bytes)
      #expect(try disk.text(file) == "old")
      #expect(try disk.list(folder) == ["todo"])
    }
  }

  @Test func aReadOnlyFolderOfAWritableDisk() throws {
    try withSmallDisk(kilobytes: 256) { folder in
      let store = "\(folder)/store"
      try disk.createFolder(store)
      _ = try disk.replace("\(store)/todo", with: "old".bytes)
      try run("mount", "--bind", store, store)
      defer { try? run("umount", store) }
      try run("mount", "-o", "remount,ro,bind", store)
      #expect(kind { _ = try disk.replace("\(store)/todo", with: "new".bytes) } == .readOnly)
      #expect(try disk.list(store) == ["todo"])
      #expect(try disk.text("\(store)/todo") == "old")
    }
  }
}

@Suite(.enabled(if: noOtherUser == nil, noOtherUser ?? ""))
struct PermissionTests {
  let disk = SystemDisk()

  @Test func aFolderOfSomebodyElse() throws {
    try withScratchFolder { folder in
      try #require(chmod(folder, 0o755) == 0)
      try disk.put("old", at: "\(folder)/todo")
      try asNobody {
        #expect(kind { _ = try disk.replace("\(folder)/todo", with: "new".bytes) } == .permissionDenied)
        #expect(kind { try disk.makeFolder("\(folder)/sub") } == .permissionDenied)
        #expect(kind { try disk.remove("\(folder)/todo") } == .permissionDenied)
        #expect(kind { _ = try disk.lock("\(folder)/lock", timeout: .zero) } == .permissionDenied)
      }
      #expect(try disk.list(folder) == ["todo"])
      #expect(try disk.text("\(folder)/todo") == "old")
    }
  }

  @Test func whatMayNotBeRead() throws {
    try withScratchFolder { folder in
      try #require(chmod(folder, 0o755) == 0)
      try disk.put("secret", at: "\(folder)/todo")
      try #require(chmod("\(folder)/todo", 0o600) == 0)
      try disk.makeFolder("\(folder)/closed")
      try #require(chmod("\(folder)/closed", 0o700) == 0)
      try asNobody {
        #expect(kind { _ = try disk.read("\(folder)/todo") } == .permissionDenied)
        #expect(kind { _ = try disk.readPrefix("\(folder)/todo", count: 1) } == .permissionDenied)
        #expect(kind { _ = try disk.list("\(folder)/closed") } == .permissionDenied)
        #expect(kind { _ = try disk.status("\(folder)/closed/todo") } == .permissionDenied)
        #expect(kind { _ = try disk.resolve("\(folder)/closed/todo") } == .permissionDenied)
      }
    }
  }
}
