import FileDB
import Foundation
import TestSupport
import Testing

/// `filedb undo` and `filedb redo`.
@Suite struct UndoTests {
  @Test func undoAndRedoGoCommandByCommand() throws {
    try withTemporaryFolder { folder in
      func run(_ words: String...) throws -> ToolResult { try filedb(words, in: folder) }
      func titles() throws -> [String] {
        try run("show", "todo", "--format", "ndjson").output.split(separator: "\n").map(String.init)
      }
      _ = try run("create", "todo")
      _ = try run("add", "todo", "title=Milk")
      _ = try run("add", "todo", "title=Bread", "--top")
      let both = [#"{"id": 2, "title": "Bread"}"#, #"{"id": 1, "title": "Milk"}"#]
      #expect(try titles() == both)
      _ = try run("move", "todo", "2", "--bottom")
      _ = try run("delete", "todo", "1")
      #expect(try run("undo") == ToolResult(output: "", error: "undone in 'todo'\n", status: 0))
      #expect(try titles() == both.reversed())
      let rehearsal = try run("undo", "--dry-run")
      #expect(rehearsal.error == "would be undone in 'todo': nothing was written\n")
      _ = try run("undo")
      #expect(try titles() == both)
      #expect(try run("redo") == ToolResult(output: "", error: "redone in 'todo'\n", status: 0))
      #expect(try titles() == both.reversed())
      for _ in 0..<4 { #expect(try run("undo").status == 0) }
      #expect(try run("undo") == ToolResult(output: "", error: "there is nothing to undo\n", status: 1))
      #expect(
        try run("tables", "--format", "json").output.isEmpty || RecordStore(at: folder).tableNames.isEmpty)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test func undoTakesBackWholeScript() throws {
    try withTemporaryFolder { folder in
      let script = folder.appendingPathComponent("script")
      try Data("create todo\nadd todo title=Milk\ncreate tags\n".utf8).write(to: script)
      #expect(try filedb("batch", script.path, in: folder).status == 0)
      #expect(try filedb("undo", in: folder).error == "undone in 'tags', 'todo'\n")
      #expect(try RecordStore(at: folder).tableNames.isEmpty)
    }
  }

  @Test func undoKeepsLaterChangesOfOtherPrograms() throws {
    try withTemporaryFolder { folder in
      _ = try filedb("create", "todo", in: folder)
      _ = try filedb("add", "todo", "title=Milk", in: folder)
      let store = try RecordStore(at: folder)
      try store.table("todo").set(["title": "Cream"], of: 1)
      try store.close()
      let result = try filedb("undo", in: folder)
      #expect(result.status == 65)
      #expect(result.error == "filedb: table 'todo': record 1: this cannot be undone: it was changed since\n")
      #expect(try filedb("get", "todo", "1", "title", in: folder).output == "Cream\n")
    }
  }
}
