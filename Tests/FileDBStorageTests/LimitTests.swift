import FileDBStorage
import Foundation
import Testing

/// Disks that really are full or read-only, without simulated faults.
@Suite(.serialized, .enabled(if: noMountsHere == nil, noMountsHere ?? ""))
struct LimitTests {
  let disk = SystemDisk()

  /// The sizes run from one that fits to one that cannot, so that each call of a replacement finds the disk full once.
  @Test func replaceOnFullDiskKeepsOldFile() throws {
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

  @Test func readOnlyDiskRefusesEveryWrite() throws {
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

  @Test func readOnlyFolderOfWritableDiskRefusesReplace() throws {
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
