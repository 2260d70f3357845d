import FileDB
import Foundation
import TestSupport
import Testing

/// Larger programs under `Examples`, run as their users do.
@Suite struct MoreExampleTests {
  @Test func outlineFollowsEditsFilterAndOtherPrograms() throws {
    try withTemporaryFolder { folder in
      let outliner = try LiveProgram("Outliner", [folder.path], in: folder)
      defer { outliner.kill() }
      func type(_ line: String, expecting output: String) throws {
        outliner.type(line + "\n")
        try outliner.waits(for: output)
      }
      try outliner.waits(for: "--\n")
      try type("add Milk", expecting: "1 Milk\n--\n")
      try type("child 1 Oat milk", expecting: "1 Milk\n  2 Oat milk\n--\n")
      try type("add Bread", expecting: "1 Milk\n  2 Oat milk\n3 Bread\n--\n")
      try filedb("add", "notes", "text=Butter", in: folder)
      try outliner.waits(for: "3 Bread\n4 Butter\n--\n")

      // A note appears in the filtered list as soon as it matches. One that does not match changes nothing there.
      try type("filter MILK", expecting: "1 Milk\n  2 Oat milk\n--\n")
      try filedb("set", "notes", "4", "text=Buttermilk", in: folder)
      try outliner.waits(for: "1 Milk\n  2 Oat milk\n4 Buttermilk\n--\n")
      outliner.type("child 1 Cream\n")
      try type("undo", expecting: "undone: add Cream\n")
      try type("all", expecting: "1 Milk\n  2 Oat milk\n3 Bread\n4 Buttermilk\n--\n")

      try type("move 3 1", expecting: "1 Milk\n  2 Oat milk\n  3 Bread\n4 Buttermilk\n--\n")
      try type("move 1 2", expecting: "error: a note cannot be below itself\n")
      try type("move 4 top", expecting: "4 Buttermilk\n1 Milk\n  2 Oat milk\n  3 Bread\n--\n")
      try type("delete 1", expecting: "4 Buttermilk\n--\n")
      try type("undo", expecting: "undone: delete 1\n4 Buttermilk\n1 Milk\n  2 Oat milk\n  3 Bread\n--\n")
      try type("redo", expecting: "done again: delete 1\n4 Buttermilk\n--\n")
      try type("redo", expecting: "nothing to redo\n")
      try type("delete 9", expecting: "error: table 'notes': record 9: there is no such record\n")
      try type("dance", expecting: "add TEXT | child ID TEXT")

      try filedb("add", "notes", "title=Rent", in: folder)
      try outliner.waits(for: "4 Buttermilk\nno note: ")
      try outliner.waits(for: "record 6: field 'text'")
      outliner.type("quit\n")
      #expect(outliner.status() == 0)
      let store = try RecordStore(at: folder)
      try store.checkInvariants()
      #expect(try store.table("notes").snapshot().ids == [4, 6])
    }
  }

  @Test func outlineShowsNotesBelowOneAnotherInACircle() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "notes", in: folder)
      for (text, parent) in [("Hen", 2), ("Egg", 1), ("Fox", 9)] {
        try filedb("add", "notes", "text=\(text)", "parent:integer=\(parent)", in: folder)
      }
      let outliner = try LiveProgram("Outliner", [folder.path], in: folder)
      defer { outliner.kill() }
      try outliner.waits(for: "3 Fox\n1 Hen\n  2 Egg\n--\n")
      outliner.type("delete 2\n")
      try outliner.waits(for: "3 Fox\n--\n")
      outliner.type("quit\n")
      #expect(outliner.status() == 0)
      try RecordStore(at: folder).checkInvariants()
    }
  }
}
