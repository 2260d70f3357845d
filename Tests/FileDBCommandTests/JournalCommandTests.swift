import FileDB
import Foundation
import TestSupport
import Testing

/// What the command line says and does about the journal.
@Suite struct JournalCommandTests {
  /// A store with a record in its file and a commit that waits.
  private func withPendingCommit(_ body: (URL, RecordStore) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder, options: StoreOptions(checkpoints: .manual))
      try store.table("todo").add(["title": "Milk"])
      try store.checkpoint()
      try store.write { tx in
        try tx["todo"].add(["title": "Rent"], at: .top)
        try tx["tags"].create()
      }
      try body(folder, store)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test func initMovesTheJournalOutOfTheFolder() throws {
    try withTemporaryFolder { place in
      let environment = ["XDG_STATE_HOME": place.appendingPathComponent("state").path]
      func run(_ words: String..., in folder: String = "store") throws -> ToolResult {
        try filedb(["--store", folder] + words, in: place, environment: environment)
      }
      #expect(try run("create", "todo").status == 0)
      #expect(try run("add", "todo", "title=Milk").output == "1\n")
      let moved = try run("init", "--own-folder")
      #expect(
        moved.error.contains(
          /^the journal of this store is in .*\/state\/filedb\/stores\/[0-9]+-[0-9]+\/\.filedb\n$/),
        "\(moved)")
      #expect(try run("init", "--own-folder") == moved)
      #expect(try run("add", "todo", "title=Rent").output == "2\n")
      #expect(try run("undo").error == "undone: addition of 1 record to todo\n")
      #expect(try run("undo").error == "undone: addition of 1 record to todo\n")
      #expect(try run("redo").status == 0)
      #expect(try run("check").output == "todo: sound\n")
      #expect(try run("get", "todo", "1", "title").output == "Milk\n")
      let files = try FileManager.default.contentsOfDirectory(atPath: place.path + "/store").sorted()
      #expect(files == [".filedb", "todo.plist"])
      #expect(
        try run("init", in: "plain").error == "the journal of this store is in \(place.path)/plain/.filedb\n")
    }
  }

  @Test func logListsPendingCommitsUntilCheckpoint() throws {
    try withPendingCommit { folder, _ in
      let log = try filedb("info", "--waiting", in: folder)
      #expect(
        log.output.contains(
          /^2  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n    todo: insert 2 at index 0\n    tags: create\n$/))
      #expect(log.status == 0)
      let tables = try filedb("tables", in: folder).output
      #expect(tables.contains(/tags +0 +in the journal/))
      #expect(try filedb("get", "todo", "2", "title", in: folder).output == "Rent\n")
      #expect(try filedb("checkpoint", in: folder).status == 0)
      #expect(
        try filedb("info", "--waiting", in: folder)
          == ToolResult(output: "", error: "no commits are waiting\n", status: 0))
      let text = try String(contentsOf: folder.appendingPathComponent("todo.plist"), encoding: .utf8)
      #expect(text.contains("Rent"))
      #expect(FileManager.default.fileExists(atPath: folder.path + "/tags.plist"))
    }
  }

  @Test func commandCheckpointsPendingCommits() throws {
    try withPendingCommit { folder, store in
      #expect(try filedb("add", "todo", "title=Oats", in: folder).output == "3\n")
      #expect(try store.pendingCommits().isEmpty)
      let text = try String(contentsOf: folder.appendingPathComponent("todo.plist"), encoding: .utf8)
      #expect(text.contains("Oats"))
    }
  }

  @Test func repairWithKeepSettlesConflict() throws {
    try withPendingCommit { folder, store in
      try store.table("todo").set(["title": "Goat milk"], of: 1)
      let file = folder.appendingPathComponent("todo.plist")
      let text = try String(contentsOf: file, encoding: .utf8).replacing("Milk", with: "Oat milk")
      try Data(text.utf8).write(to: file)
      let refused = try filedb("add", "todo", "title=x", in: folder)
      #expect(refused.status == 65)
      #expect(refused.error.contains("todo.plist: table 'todo': record 1: another program changed this file"))
      let check = try filedb("check", in: folder)
      #expect(check.status == 65)
      #expect(check.output.contains("damage: \(file.path): table 'todo'"))
      #expect(try filedb("repair", in: folder).status == 65, "it does not choose")
      #expect(try filedb("repair", "--keep", "nothing", in: folder).status == 64)
      let trial = try filedb("repair", "todo", "--keep", "journal", "--dry-run", in: folder)
      #expect(trial.output.contains("todo: the file was changed while 2 commits were waiting"))
      #expect(try filedb("check", in: folder).status == 65, "a dry run does nothing")
      let repair = try filedb("repair", "--keep", "journal", in: folder)
      #expect(repair.status == 0)
      #expect(
        repair.output.contains("todo: the original is kept as \(folder.path)/.filedb/backups/todo.plist."))
      #expect(
        try filedb("show", "todo", "--format", "csv", in: folder).output == "id,title\n2,Rent\n1,Goat milk\n")
      #expect(try filedb("check", in: folder).status == 0)
    }
  }

  @Test func damagedJournalIsFoundAndRepaired() throws {
    try withPendingCommit { folder, _ in
      let journal = folder.appendingPathComponent(".filedb/journal")
      var bytes = try [UInt8](Data(contentsOf: journal))
      let place = try #require(bytes.firstRange(of: Array("Rent".utf8))?.lowerBound)
      let frame = try #require(bytes[..<place].lastRange(of: Array("commit  ".utf8))?.lowerBound)
      bytes[place] = UInt8(ascii: "T")
      let damaged = Data(bytes)
      try damaged.write(to: journal)
      let check = try filedb("check", in: folder)
      #expect(check.status == 65)
      #expect(check.output.contains("damage: \(journal.path): the journal is damaged (byte \(frame))"))
      #expect(try filedb("get", "todo", "1", in: folder).status == 65)
      let trial = try filedb("repair", "--dry-run", in: folder)
      #expect(trial.output.contains("journal: byte \(frame): byte \(place) was wrong"))
      #expect(try Data(contentsOf: journal) == damaged)
      let repair = try filedb("repair", in: folder)
      #expect(repair.status == 0)
      #expect(
        repair.output.contains("journal: the file as it was is \(folder.path)/.filedb/backups/journal."))
      #expect(try filedb("get", "todo", "2", "title", in: folder).output == "Rent\n")
      #expect(try filedb("check", in: folder).status == 0)
    }
  }
}
