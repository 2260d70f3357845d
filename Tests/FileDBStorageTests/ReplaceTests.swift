import FileDBStorage
import Foundation
import TestSupport
import Testing

@Suite struct ReplaceTests {
  let disk = SystemDisk()

  @Test(arguments: [0, 1, 2_000_000])
  func replaceCreatesOrOverwritesFile(length: Int) throws {
    let text = String(repeating: "x", count: length)
    try withScratchFolder { folder in
      let file = "\(folder)/todo.plist"
      let made = try disk.replace(file, with: text.bytes)
      #expect(try disk.text(file) == text)
      #expect(try disk.status(file)?.stamp.inode == made.inode)
      try disk.put("old", at: file)
      let replaced = try disk.replace(file, with: text.bytes)
      #expect(try disk.text(file) == text)
      #expect(replaced.size == text.utf8.count)
      #expect(try disk.list(folder) == ["todo.plist"])
    }
  }

  /// The bits with which a program runs as another user are left out: the kernel drops them at every write.
  @Test(arguments: [0o600, 0o640, 0o644, 0o666, 0o777, 0o1644, 0o2664] as [UInt32])
  func replaceKeepsMode(mode: UInt32) throws {
    try withScratchFolder { folder in
      let file = "\(folder)/todo"
      try disk.put("old", at: file)
      try #require(chmod(file, mode_t(mode)) == 0)
      _ = try disk.replace(file, with: "new".bytes)
      #expect(try disk.status(file)?.mode == mode)
    }
  }

  @Test func newFileHasDefaultMode() throws {
    try withScratchFolder { folder in
      let usual = "\(folder)/usual"
      try #require(FileManager.default.createFile(atPath: usual, contents: nil))
      let descriptor = open("\(folder)/plain", O_CREAT | O_WRONLY, 0o666)
      close(descriptor)
      _ = try disk.replace("\(folder)/ours", with: "new".bytes)
      #expect(try disk.status("\(folder)/ours")?.mode == disk.status("\(folder)/plain")?.mode)
    }
  }

  @Test(.enabled(if: isRoot, "only root may give a file away"))
  func replaceKeepsOwnerAndGroup() throws {
    try withScratchFolder { folder in
      let file = "\(folder)/todo"
      try disk.put("old", at: file)
      try #require(chown(file, 1_234, 5_678) == 0)
      // The set-group-id bit goes when the owner changes after the mode.
      try #require(chmod(file, 0o2640) == 0)
      _ = try disk.replace(file, with: "new".bytes)
      let status = try #require(try disk.status(file))
      #expect(status.owner == 1_234)
      #expect(status.group == 5_678)
      #expect(status.mode == 0o2640)
    }
  }

  /// The new file is ours, for only root may give a file away.
  @Test(.enabled(if: noOtherUser == nil, noOtherUser ?? ""))
  func fileOfAnotherUserInWritableFolderIsReplaced() throws {
    try withScratchFolder { folder in
      let file = "\(folder)/todo"
      try #require(chmod(folder, 0o777) == 0)
      try disk.put("old", at: file)
      try #require(chmod(file, 0o644) == 0)
      try asNobody { _ = try disk.replace(file, with: "new".bytes) }
      let status = try #require(try disk.status(file))
      #expect(try disk.text(file) == "new")
      #expect(status.owner == nobody)
      #expect(status.mode == 0o644)
    }
  }

  /// Whoever opens a draft while it is public can read it for as long as it stays open.
  @Test func draftIsPrivateUntilItHasTheModeOfItsModel() throws {
    try withScratchFolder { folder in
      // There is no such model, so the draft stays as it was at first.
      #expect(kind { _ = try disk.create("\(folder)/draft", as: .like("\(folder)/missing")) } == .notFound)
      let mode = try disk.status("\(folder)/draft")?.mode
      #expect(mode == 0o600)
    }
  }

  @Test func replaceKeepsLinkAndReplacesItsTarget() throws {
    try withScratchFolder { folder in
      try disk.createFolder("\(folder)/store")
      try disk.createFolder("\(folder)/shared")
      let target = "\(folder)/shared/todo.plist"
      let links = [
        ("absolute", target), ("relative", "../shared/todo.plist"), ("chain", "relative"),
        ("longchain", "\(folder)/store/chain"),
      ]
      for (name, destination) in links {
        let link = "\(folder)/store/\(name)"
        try #require(symlink(destination, link) == 0)
        try disk.put("old", at: target)
        try #require(chmod(target, 0o640) == 0)

        _ = try disk.replace(link, with: "new by \(name)".bytes)

        #expect(try disk.text(target) == "new by \(name)")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == destination)
        #expect(try disk.status(target)?.mode == 0o640)
        #expect(try disk.drafts(in: "\(folder)/store").isEmpty)
        #expect(try disk.list("\(folder)/shared") == ["todo.plist"])
      }
    }
  }

  @Test func replaceWorksThroughLinkedFolder() throws {
    try withScratchFolder { folder in
      try disk.createFolder("\(folder)/real")
      try #require(symlink("real", "\(folder)/store") == 0)
      _ = try disk.replace("\(folder)/store/todo", with: "new".bytes)
      #expect(try disk.text("\(folder)/real/todo") == "new")
      #expect(try disk.status("\(folder)/store")?.isLink == true)
    }
  }

  /// As `echo text > link` does.
  @Test(arguments: ["missing", "../store/missing", "chain"])
  func replaceCreatesTargetOfDanglingLink(destination: String) throws {
    try withScratchFolder { folder in
      try disk.createFolder("\(folder)/store")
      try #require(symlink("missing", "\(folder)/store/chain") == 0)
      let link = "\(folder)/store/link"
      try #require(symlink(destination, link) == 0)
      #expect(try disk.status(link) == nil)
      _ = try disk.replace(link, with: "new".bytes)
      #expect(try disk.text("\(folder)/store/missing") == "new")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == destination)
      #expect(try disk.text(link) == "new")
    }
  }

  /// A link to a disk that is not there at the moment must not become a file that hides what is on that disk.
  @Test func replaceRefusesLinkIntoMissingFolder() throws {
    try withScratchFolder { folder in
      let link = "\(folder)/link"
      try #require(symlink("\(folder)/unmounted/todo", link) == 0)
      #expect(kind { _ = try disk.replace(link, with: "new".bytes) } == .notFound)
      #expect(try disk.list(folder) == ["link"])
      #expect(
        try FileManager.default.destinationOfSymbolicLink(atPath: link) == "\(folder)/unmounted/todo")
    }
  }

  @Test func linkLoopIsRefused() throws {
    try withScratchFolder { folder in
      try #require(symlink("two", "\(folder)/one") == 0)
      try #require(symlink("one", "\(folder)/two") == 0)
      #expect(kind { _ = try disk.replace("\(folder)/one", with: "new".bytes) } == .linkLoop)
      #expect(kind { _ = try disk.status("\(folder)/one") } == .linkLoop)
      #expect(kind { _ = try disk.read("\(folder)/one") } == .linkLoop)
      #expect(Set(try disk.list(folder)) == ["one", "two"])
    }
  }

  @Test func replaceRefusesFoldersAndPipes() throws {
    try withScratchFolder { folder in
      try disk.createFolder("\(folder)/folder")
      try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
      #expect(kind { _ = try disk.replace("\(folder)/folder", with: []) } == .isFolder)
      #expect(kind { _ = try disk.replace("\(folder)/pipe", with: []) } == .other)
      #expect(kind { _ = try disk.replace("\(folder)/missing/todo", with: []) } == .notFound)
      #expect(try disk.status("\(folder)/pipe")?.kind == .other)
      #expect(Set(try disk.list(folder)) == ["folder", "pipe"])
    }
  }

  /// A table's name has at most 200 bytes, and its draft must fit too.
  @Test func draftNameFitsForLongestTableName() throws {
    try withScratchFolder { folder in
      let name = String(repeating: "ä", count: 100) + ".plist"
      for _ in 0..<50 { _ = try disk.replace("\(folder)/\(name)", with: "new".bytes) }
      #expect(try disk.list(folder) == [name])
    }
  }

  /// Another program may write the file just before its stamp is taken.
  @Test func replaceStampNeverMatchesAnotherProgramsFile() throws {
    let memory = MemoryDisk()
    let disk = FaultyDisk(over: memory) { _, verb in
      if verb == .syncFolder { try? memory.put("theirs", at: "/todo") }
    }
    let stamp = try disk.replace("/todo", with: "ours".bytes)
    let now = try #require(try memory.status("/todo")?.stamp)
    #expect(!now.provesUnchanged(since: stamp))
  }
}
