import FileDB
import Foundation
import TestSupport
import Testing

/// `filedb conflicts merge`
@Suite struct ConflictsMergeTests {
  private static let copy = "todo.sync-conflict-20261101-120000-ABCDEFG.plist"

  /// A table that two machines have changed, with the other machine's version beside it.
  private func withCopy(named name: String = copy, _ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try filedb("import", "-", "todo", in: folder, input: "title,done,note\nmilk,no,a\nrent,no,b\n")
      let file = folder.appendingPathComponent("todo.plist")
      let base = try Data(contentsOf: file)
      try filedb("add", "todo", "title=bread", "done=no", in: folder)
      try filedb("set", "todo", "1", "note=theirs", in: folder)
      let theirs = try Data(contentsOf: file)
      try base.write(to: file)
      let former = folder.appendingPathComponent("former")
      try FileManager.default.createDirectory(at: former, withIntermediateDirectories: false)
      try base.write(to: former.appendingPathComponent("todo.plist"))
      try filedb("add", "todo", "title=Ann", "done=no", in: folder)
      try filedb("set", "todo", "1", "note=ours", in: folder)
      try theirs.write(to: folder.appendingPathComponent(name))
      try body(folder)
    }
  }

  private func titles(_ folder: URL, _ table: String = "todo") throws -> [String] {
    try filedb("export", table, "--format", "csv", "--fields", "title,note", in: folder).output
      .split(separator: "\n").dropFirst().map { String($0.drop { $0 != "," }.dropFirst()) }
  }

  @Test func copyIsMergedAndItsConflictIsSettled() throws {
    try withCopy { folder in
      let tables = try filedb("tables", in: folder)
      #expect(tables.error.hasSuffix("'filedb conflicts merge' merges the copy into its table\n"))
      let trial = try filedb("conflicts", "merge", "--dry-run", in: folder)
      #expect(trial.status == 1 && trial.error.contains("nothing was written"))
      #expect(try titles(folder) == ["milk,ours", "rent,b", "Ann,"])

      let merged = try filedb("conflicts", "merge", in: folder)
      #expect(merged.status == 1 && merged.output == "todo: 1 record added (4) from '\(Self.copy)'\n")
      #expect(merged.error.contains("todo: their record 3 is record 4 now\n"))
      #expect(
        merged.error.contains(
          "CONFLICT todo: record 1: both sides changed 'note'; ours is kept\n  ours:   \"ours\"\n  theirs: \"theirs\"\n"
        ))
      #expect(try titles(folder) == ["milk,ours", "rent,b", "Ann,", "bread,"])
      #expect(try filedb("tables", in: folder).error == "")
      let backups = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/.filedb/backups")
      #expect(backups.count == 1 && backups[0].hasPrefix(Self.copy))

      #expect(try filedb("conflicts", "list", in: folder).status == 1)
      #expect(try filedb("conflicts", "take", "theirs", in: folder).status == 0)
      #expect(try titles(folder) == ["milk,theirs", "rent,b", "Ann,", "bread,"])
      #expect(try filedb("conflicts", "list", in: folder).status == 0)
      try filedb("undo", "2", in: folder)
      #expect(try titles(folder) == ["milk,ours", "rent,b", "Ann,"])
    }
  }

  @Test func commonVersionSettlesWhatOneSideChanged() throws {
    try withCopy { folder in
      try filedb("delete", "todo", "2", in: folder)
      let merged = try filedb(
        "conflicts", "merge", "todo", "--base", folder.path + "/former/todo.plist", in: folder)
      #expect(merged.status == 1 && merged.error.contains("  base:   \"a\"\n"))
      #expect(try titles(folder) == ["milk,ours", "Ann,", "bread,"])
    }
  }

  @Test func copyWithAnOrdinaryNameIsGivenWithItsTable() throws {
    try withCopy(named: "todo 2.plist") { folder in
      let nothing = try filedb("conflicts", "merge", in: folder)
      #expect(nothing.status == 0 && nothing.error == "there are no copies to merge\n")
      let merged = try filedb(
        "conflicts", "merge", "todo", "--copy", folder.path + "/todo 2.plist", in: folder)
      #expect(merged.status == 1 && merged.output == "todo: 1 record added (4) from 'todo 2.plist'\n")
      #expect(try filedb("tables", "--format", "csv", in: folder).output.split(separator: "\n").count == 2)
    }
  }

  @Test func tableThatMayBeACopyIsNamed() throws {
    try withTemporaryFolder { folder in
      try filedb("import", "-", "todo", in: folder, input: "title\nmilk\nrent\n")
      for name in ["todo 2", "todo (1)", "todo 2b", "other 2"] {
        try FileManager.default.copyItem(
          at: folder.appendingPathComponent("todo.plist"), to: folder.appendingPathComponent("\(name).plist"))
      }
      try filedb("set", "todo", "1", "title=bread", in: folder)
      let notes = try filedb("check", in: folder).error.split(separator: "\n")
      #expect(notes.count == 2)
      #expect(notes[0].hasPrefix("'todo (1)' may be a copy of 'todo': 1 of its 2 records are the same."))
      #expect(notes[1].contains("--copy '\(folder.path)/todo 2.plist'"))
    }
  }

  @Test func watchTellsOfCopies() async throws {
    let (folder, scratch) = (try makeTemporaryFolder(), try makeTemporaryFolder())
    defer { for made in [folder, scratch] { try? FileManager.default.removeItem(at: made) } }
    try filedb("import", "-", "todo", in: folder, input: "title\nmilk\n")
    let tool = try RunningTool(["watch", "todo"], in: folder, scratch: scratch)
    try await tool.waitForError("^C ends")
    try FileManager.default.copyItem(
      at: folder.appendingPathComponent("todo.plist"), to: folder.appendingPathComponent(Self.copy))
    try await tool.waitForError("'\(Self.copy)' is Syncthing's copy of a conflict")
    tool.terminate()
    #expect(try await tool.status() == 0)
  }

  @Test func severalValuesAreNotTakenOneAfterTheOther() throws {
    try withCopy { folder in
      let copy = folder.appendingPathComponent(Self.copy)
      let text = try String(contentsOf: copy, encoding: .utf8)
      try text.replacing(">theirs<", with: ">others<").write(
        to: folder.appendingPathComponent(Self.copy.replacing("ABCDEFG", with: "HIJKLMN")), atomically: true,
        encoding: .utf8)
      try filedb("conflicts", "merge", in: folder)
      #expect(
        try filedb("conflicts", "list", "--format", "ndjson", in: folder).output.split(separator: "\n").count
          == 2)
      let refused = try filedb("conflicts", "take", "theirs", in: folder)
      #expect(
        refused.status != 0
          && refused.error.contains("several copies have different values for 'note' of record 1"))
      #expect(try titles(folder).first == "milk,ours")
      #expect(try filedb("conflicts", "take", "ours", in: folder).status == 0)
      #expect(try filedb("conflicts", "list", in: folder).status == 0)
    }
  }

  @Test func mistakesAreNamed() throws {
    try withCopy { folder in
      let cases: [(words: [String], status: Int32, error: String)] = [
        (["--copy", "x.plist"], 64, "Name one table with --copy and --base."),
        (["todo", "missing"], 1, "there is no such table"),
        (["todo", "--copy", "x.plist"], 66, "x.plist"),
        (["todo", "--copy", folder.path + "/todo.plist"], 65, "the file is no copy"),
      ]
      for (words, status, error) in cases {
        let result = try filedb(["conflicts", "merge"] + words, in: folder)
        #expect(result.status == status && result.error.contains(error), "\(words): \(result)")
      }
      try Data("<plist><dict>".utf8).write(to: folder.appendingPathComponent(Self.copy))
      let half = try filedb("conflicts", "merge", in: folder)
      #expect(half.status == 65 && half.error.contains(Self.copy))
      #expect(try titles(folder) == ["milk,ours", "rent,b", "Ann,"])
    }
  }
}
