import FileDB
import Foundation
import TestSupport
import Testing

/// Files that editors and sync services make in a store's folder.
@Suite struct StrayFileCommandTests {
  private func withCopies(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try filedb("import", "-", "todo", in: folder, input: "title\nTea\n")
      for name in ["todo.plist~", "todo.sync-conflict-20261101-120000-ABCDEFG.plist"] {
        try FileManager.default.copyItem(
          at: folder.appendingPathComponent("todo.plist"), to: folder.appendingPathComponent(name))
      }
      try body(folder)
    }
  }

  private static let notes = """
    'todo.plist~' is no table, but an editor's backup
    'todo.sync-conflict-20261101-120000-ABCDEFG.plist' is no table, but Syncthing's copy of a conflict
    'filedb conflicts merge' merges the copy into its table

    """

  @Test func copiesAreToldFromTables() throws {
    try withCopies { folder in
      let tables = try filedb("tables", "--format", "csv", in: folder)
      #expect(tables.output.split(separator: "\n").dropFirst().map { $0.prefix(5) } == ["todo,"])
      #expect(tables.error == Self.notes)
      let check = try filedb("check", in: folder)
      #expect(check.output == "todo: sound\n" && check.error == Self.notes && check.status == 0)
      #expect(try filedb("check", "todo", in: folder).error == "")
    }
  }

  @Test func copyIsOpenedByItsPathOnly() throws {
    try withCopies { folder in
      for command in ["show", "info"] {
        let refused = try filedb(command, "todo.plist~", in: folder)
        #expect(refused.status != 0 && refused.error.contains("editor's backup; './todo.plist~' is its path"))
        #expect(try filedb(command, "./todo.plist~", in: folder).output.contains("title"))
      }
      let conflict = "todo.sync-conflict-20261101-120000-ABCDEFG.plist"
      for command in [
        ["show"], ["set", "1", "title=x"], ["add", "title=x"], ["import"], ["check"], ["repair"],
      ] {
        for name in [String(conflict.dropLast(6)), "todo.plist~"] {
          let words =
            command[0] == "import" ? ["import", "-", name] : [command[0], name] + command.dropFirst()
          let result = try filedb(words, in: folder, input: "title\nx\n")
          #expect(result.status != 0 && result.error.contains("is no table, but"), "\(words): \(result)")
        }
      }
      #expect(try filedb("show", conflict, in: folder).output.contains("Tea"))
      #expect(try filedb("diff", "todo", conflict, in: folder).output == "")
      #expect(try filedb("drop", "./\(conflict)", "--yes", in: folder).status == 0)
      #expect(try filedb("undo", in: folder).status == 0)
      #expect(try filedb("show", conflict, in: folder).output.contains("Tea"))
      #expect(try filedb("drop", "./\(conflict)", "--yes", in: folder).status == 0)
      #expect(try filedb("copy", "backup", in: folder).status == 0)
      #expect(try filedb("create", "todo (conflicted copy 2026-11-01)", in: folder).status != 0)
    }
  }

  /// Adds "Coffee" in a commit that only a copy of the journal has.
  private func withJournalCopy(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try filedb("import", "-", "todo", in: folder, input: "title\nTea\n")
      let journal = folder.appendingPathComponent(".filedb/journal")
      let before = try Data(contentsOf: journal)
      let store = try RecordStore(at: folder, options: StoreOptions(checkpoints: .manual))
      try store.table("todo").add(["title": "Coffee"])
      try Data(contentsOf: journal).write(
        to: folder.appendingPathComponent(".filedb/journal (Ann's conflicted copy 2026-11-01)"))
      try before.write(to: journal, options: .atomic)
      try body(folder)
    }
  }

  @Test func copyOfTheJournalIsToldAndMerged() throws {
    try withJournalCopy { folder in
      let notes = """
        '.filedb/journal (Ann's conflicted copy 2026-11-01)' is a sync service's copy of a conflict: a journal with \
        commits to 'todo' that the store may not have
        'filedb conflicts merge' merges the copy into its table

        """
      for command in ["tables", "check"] { #expect(try filedb(command, in: folder).error == notes) }
      let merged = try filedb("conflicts", "merge", in: folder)
      #expect(
        merged.output == "todo: 1 record added (2) from 'journal (Ann's conflicted copy 2026-11-01)'\n"
          && merged.error == "todo: the copy is in the backups now\n" && merged.status == 0)
      #expect(try filedb("show", "todo", in: folder).output == "id  title\n 1  Tea\n 2  Coffee\n")
      #expect(try filedb("tables", in: folder).error == "")
      #expect(try filedb("undo", in: folder).status == 0)
      #expect(try filedb("count", "todo", in: folder).output == "1\n")
    }
  }

  @Test func copyOfTheJournalThatIsNotCompleteIsTold() throws {
    try withJournalCopy { folder in
      let copy = folder.appendingPathComponent(".filedb/journal (Ann's conflicted copy 2026-11-01)")
      try Data(contentsOf: copy).prefix(300).write(to: copy)
      #expect(try filedb("check", in: folder).error.contains("a journal that cannot be read: "))
      let merged = try filedb("conflicts", "merge", in: folder)
      #expect(merged.status == 65 && merged.error.contains("journal (Ann's conflicted copy 2026-11-01): "))
    }
  }
}
