import FileDB
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct InstallTests {
  /// Makes two shipped versions, the second with one more record and a changed one.
  private func withVersions(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      for name in ["one", "two"] {
        let store = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
        try filedb("create", "foods", in: store)
        try filedb("add", "foods", "title=Milk", in: store)
        try filedb("add", "foods", "title=Bread", in: store)
      }
      let two = folder.appendingPathComponent("two")
      try filedb("set", "foods", "1", "title=Fresh milk", in: two)
      try filedb("add", "foods", "title=Quince", in: two)
      try body(folder)
    }
  }

  /// Every file below a folder, with its bytes and times.
  private func files(in folder: URL) throws -> [String: String] {
    let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    var files: [String: String] = [:]
    while let file = found?.nextObject() as? URL {
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      let bytes = (try? Data(contentsOf: file))?.base64EncodedString() ?? "folder"
      files[file.path] = "\(attributes[.modificationDate] ?? "") \(bytes)"
    }
    return files
  }

  @Test func versionIsInstalledThenUpgraded() throws {
    try withVersions { folder in
      let trial = try filedb("ship", "install", "one", "user", "--version", "1", "--dry-run", in: folder)
      #expect(trial.output == "version 1; changed: foods\n")
      #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("user").path))
      let first = try filedb("ship", "install", "one", "user", "--version", "1", in: folder)
      #expect(first == ToolResult(output: "version 1; changed: foods\n", error: "", status: 0))
      let user = folder.appendingPathComponent("user")
      try filedb("set", "foods", "1", "title=Oat milk", in: user)
      let older = try filedb("ship", "install", "one", "user", "--version", "0.9", "--dry-run", in: folder)
      #expect(older.status == 65)
      #expect(older.error.hasSuffix("version 1 is installed, and 0.9 is older\n"))
      let tried = try filedb("ship", "install", "two", "user", "--version", "2", "--dry-run", in: folder)
      #expect(tried.output == "version 2, was 1; changed: foods\n")
      #expect(tried.error.hasPrefix("dry run: nothing was written\nCONFLICT foods: record 1: "))
      #expect(try RecordStore(at: user).table("foods").count == 2)
      let second = try filedb("ship", "install", "two", "user", "--version", "2", in: folder)
      #expect("dry run: nothing was written\n" + second.error == tried.error)
      #expect(second.status == 0)
      let titles = try RecordStore(at: user).table("foods").lastSnapshot.map { $0.fields["title"] }
      #expect(titles == ["Oat milk", "Bread", "Quince"])
      let again = try filedb("ship", "install", "two", "user", "--version", "2", in: folder)
      #expect(again.output == "version 2 is installed already\n")
      try filedb("ship", "install", "two", "user", "--version", "3", "--policy", "replace", in: folder)
      let replaced = try RecordStore(at: user).table("foods").lastSnapshot.map { $0.fields["title"] }
      #expect(replaced == ["Fresh milk", "Bread", "Quince"])
      try RecordStore(at: user).checkInvariants()
    }
  }

  @Test func wrongInstallArgumentsAreRefused() throws {
    try withVersions { folder in
      for (words, status) in [
        ("one user --version v1", 64), ("one user --version 1 --policy no", 64),
        ("none user --version 1", 66),
      ] {
        let result = try filedb(
          ["ship", "install"] + words.split(separator: " ").map(String.init), in: folder)
        #expect(result.status == status, "\(words)")
      }
    }
  }

  @Test(.enabled(if: hasSetpriv || geteuid() != 0, "needs the program 'setpriv'"))
  func installNeverWritesToShippedFolder() throws {
    try withVersions { folder in
      let (one, user) = (folder.appendingPathComponent("one"), folder.appendingPathComponent("user"))
      // As wgFileDb left it, and as a bundle has it.
      try FileManager.default.moveItem(
        at: one.appendingPathComponent("foods.plist"), to: one.appendingPathComponent("foods"))
      try FileManager.default.removeItem(at: one.appendingPathComponent(".filedb"))
      try FileManager.default.createDirectory(at: user, withIntermediateDirectories: true)
      #expect(try shell("chmod 444 one/*; chmod 555 one; chmod 777 user .", in: folder).status == 0)
      let before = try files(in: one)
      for policy in ["copy", "replace", "merge"] {
        let version = ["copy": "1", "replace": "2", "merge": "3"][policy] ?? ""
        let result = try filedbWithoutRights(
          "ship", "install", "one", "user", "--version", version, "--policy", policy, in: folder)
        #expect(result.status == 0, "\(result.error)")
      }
      #expect(try files(in: one) == before)
      #expect(try RecordStore(at: user).table("foods").count == 2)
      #expect(try shell("chmod 755 one", in: folder).status == 0)
    }
  }

  /// Runs commands all at once, and gives back what they print.
  private func atOnce(_ commands: [String], in folder: URL) throws -> [String] {
    let outputs = Mutex<[String]>([])
    // Not `concurrentPerform`, which starts no more than there are cores.
    let ends = commands.map { command in
      startThread("filedb ship \(command)") {
        let result = try? filedb(["ship"] + command.split(separator: " ").map(String.init), in: folder)
        outputs.withLock { $0.append(result?.output ?? "nothing") }
      }
    }
    for end in ends { try end.wait() }
    return outputs.withLock { $0.sorted() }
  }

  @Test func simultaneousInstallsInstallOnce() throws {
    try withVersions { folder in
      let install = Array(repeating: "install two user --version 2", count: 6)
      let first = try atOnce(install, in: folder)
      #expect(first == already(2, count: 5) + ["version 2; changed: foods\n"])
      try FileManager.default.removeItem(at: folder.appendingPathComponent("user"))
      try filedb("ship", "install", "one", "user", "--version", "1", in: folder)
      try filedb("add", "foods", "title=Mine", in: folder.appendingPathComponent("user"))
      let second = try atOnce(install, in: folder)
      #expect(second == already(2, count: 5) + ["version 2, was 1; changed: foods\n"])
      let user = try RecordStore(at: folder.appendingPathComponent("user"))
      let titles = try user.table("foods").lastSnapshot.map { $0.fields["title"] }
      #expect(titles == ["Fresh milk", "Bread", "Mine", "Quince"])
      try user.checkInvariants()
    }
  }

  private func already(_ version: Int, count: Int) -> [String] {
    Array(repeating: "version \(version) is installed already\n", count: count)
  }

  /// Two versions of an app may be started at the same time.
  @Test func simultaneousInstallsKeepLaterVersion() throws {
    try withVersions { folder in
      for round in 1...4 {
        let user = "user\(round)"
        _ = try atOnce(
          ["install one \(user) --version 1", "install two \(user) --version 2"].shuffled(), in: folder)
        let store = try RecordStore(at: folder.appendingPathComponent(user))
        let titles = try store.table("foods").lastSnapshot.map { $0.fields["title"] }
        #expect(titles == ["Fresh milk", "Bread", "Quince"])
        let again = try filedb("ship", "install", "two", user, "--version", "2", in: folder)
        #expect(again.output == "version 2 is installed already\n")
        try store.checkInvariants()
      }
    }
  }

  @Test func damagedTableIsKeptWhenReplaced() throws {
    try withVersions { folder in
      try filedb("ship", "install", "one", "user", "--version", "1", in: folder)
      let file = folder.appendingPathComponent("user/foods.plist")
      try Data("rubbish".utf8).write(to: file)
      #expect(try filedb("ship", "install", "two", "user", "--version", "2", in: folder).status == 65)
      let result = try filedb(
        "ship", "install", "two", "user", "--version", "2", "--policy", "replace", in: folder)
      #expect(result.output == "version 2, was 1; changed: foods\n")
      let path = try #require(result.error.firstMatch(of: /foods: was damaged, and is kept as (.*)\n/)).1
      #expect(try String(contentsOfFile: String(path), encoding: .utf8) == "rubbish")
    }
  }

  @Test func upgradeReportsThatDeletedRecordStaysDeleted() throws {
    try withVersions { folder in
      try filedb("ship", "install", "one", "user", "--version", "1", in: folder)
      try filedb("delete", "foods", "1", in: folder.appendingPathComponent("user"))
      let result = try filedb("ship", "install", "two", "user", "--version", "2", in: folder)
      #expect(
        result.error == """
          CONFLICT foods: record 1: ours deleted it, theirs changed it; it stays deleted
            base:   {"title": "Milk"}
            theirs: {"title": "Fresh milk"}
          foods: 1 conflict; ours is what the user has, theirs what is shipped

          """)
    }
  }
}
