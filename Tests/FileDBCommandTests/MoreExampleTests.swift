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
      try type("redo", expecting: "redone: delete 1\n4 Buttermilk\n--\n")
      try type("redo", expecting: "nothing to redo\n")
      try type("delete 9", expecting: "error: table 'notes': record 9: there is no such record\n")
      try type("dance", expecting: "add TEXT | child ID TEXT")

      try filedb("add", "notes", "title=Rent", in: folder)
      try outliner.waits(for: "4 Buttermilk\nnot a note: ")
      try outliner.waits(for: "record 6: field 'text'")
      outliner.type("quit\n")
      #expect(try outliner.status() == 0)
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
      #expect(try outliner.status() == 0)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test func contactsOfEachVersionAreReadAsNewest() throws {
    try withTemporaryFolder { folder in
      func contacts(_ words: String...) throws -> String {
        let program = program("Contacts").path
        let result = try run(program, ["Book"] + words, in: folder, input: "", environment: [:])
        return result.output + result.error
      }
      for version in ["1", "2", "3"] { #expect(try contacts("sample", version) == "\(version)\n") }
      try filedb("--store", "Book", "add", "contacts", "name=Grace Hopper", "nick=Amazing", in: folder)
      let ada = "1 Ada Lovelace, friends; 555-1815 (home); born 1815-12-10\n"
      let alan =
        "3 Alan Turing, work; 555-1912 (work); 12 Hill Road, London; born 1912-06-23, reminder 7 days before\n"
      let emilie = "2 Émilie du Châtelet, family; 555-1706 (home)\n"
      #expect(try contacts() == ada + alan + emilie + "4 Grace Hopper, friends\n")
      #expect(try contacts("find", "LONDON") == alan)
      #expect(try contacts("find", "emilie") == emilie)
      #expect(try contacts("find", "555-1") == ada + alan + emilie)

      let table = try RecordStore(at: folder.appendingPathComponent("Book")).table("contacts")
      try table.set(["phones": [["kind": "work", "number": "555-1912", "label": "desk"]]], of: 3)
      try table.store.close()
      for id in ["1", "3", "4"] { #expect(try contacts("call", id, "555-2") == "") }
      #expect(try contacts("find", "Grace") == "4 Grace Hopper, friends; 555-2 (mobile)\n")
      #expect(try contacts("migrate") == "1 of 4 contacts were of an earlier version\n")
      #expect(try contacts("call", "9", "555-2") == "table 'contacts': record 9: there is no such record\n")
      try filedb("--store", "Book", "set", "contacts", "2", "phones=none", in: folder)
      #expect(try contacts("find", "emilie").contains("record 2: field 'phones': <string> is not"))

      let store = try RecordStore(at: folder.appendingPathComponent("Book"))
      try store.checkInvariants()
      let stored = try store.table("contacts").snapshot()
      #expect(stored.allSatisfy { $0["wgFileDbVersion"] == 5 })
      #expect(try stored.record(with: 4)["nick"] == "Amazing")
      let desk: PlistValue = ["kind": "work", "label": "desk", "number": "555-1912"]
      #expect(try stored.record(with: 3)["phones"] == [desk, ["kind": "mobile", "number": "555-2"]])
    }
  }

  @Test func cancelledTasksAndSecondProcessDoEachJobOnce() throws {
    try withTemporaryFolder { folder in
      let result = try run(program("JobServer").path, ["Jobs"], in: folder, input: "", environment: [:])
      let lines =
        /(\d+) tasks did a job, (\d+) were cancelled: (\d+) results\n1000 jobs, each done once, by 2 processes\n/
      let counts = try #require(result.output.wholeMatch(of: lines), "\(result)").output
      let (done, cancelled) = (try #require(Int(counts.1)), try #require(Int(counts.2)))
      // How many are cancelled in time is up to the threads.
      #expect(done >= 10 && done + cancelled == 300 && counts.3 == counts.1)
      #expect(result.error == "" && result.status == 0)
      let store = try RecordStore(at: folder.appendingPathComponent("Jobs"))
      try store.checkInvariants()
      #expect(try store.table("jobs").count == 0)
      #expect(try store.table("results").count == 1_000)
    }
  }
}
