import FileDB
import Foundation
import TestSupport
import Testing

@testable import FileDBBrowse

/// What pages write.
@Suite struct EditRouteTests {
  private let table = "/api/tables/todo"

  private func ids(_ browsed: BrowsedStore) throws -> [String] { try browsed.list(table + "/records") }

  @Test func recordsAreAddedWhereTheyBelong() async throws {
    try await withBrowsedStore { browsed throws in
      for (place, order) in [
        (#"{"end":true}"#, ["1", "2", "3", "4"]), (#"{"start":true}"#, ["5", "1", "2", "3", "4"]),
        (#"{"before":"2"}"#, ["5", "1", "6", "2", "3", "4"]),
        (#"{"after":"2"}"#, ["5", "1", "6", "2", "7", "3", "4"]),
        (#"{"place":0}"#, ["8", "5", "1", "6", "2", "7", "3", "4"]),
      ] {
        let answer = try browsed.post(
          table + "/add", #"{"records":[{"fields":[["title","x"]]}],"at":\#(place)}"#)
        #expect(answer.ids == ["\(order.count)"] && answer["step"] != nil)
        #expect(try ids(browsed) == order)
      }
      for (body, status) in [
        (#"{"records":[{"fields":[]}],"at":{}}"#, 400),
        (#"{"records":[{"fields":[]}],"at":{"before":"99"}}"#, 404),
        (#"{"records":[{"fields":[["a",null]]}],"at":{"end":true}}"#, 400),
        (#"{"records":[{"fields":[["a","x"],["a","y"]]}],"at":{"end":true}}"#, 400),
        (#"{"records":[{"fields":[["a",{"integer":"1.5"}]]}],"at":{"end":true}}"#, 400),
        (#"{"records":[{"fields":[["a",{"integer":"1","float":"1"}]]}],"at":{"end":true}}"#, 400),
        (#"{"records":[{"fields":[["a",{"text":"cut","length":301}]]}],"at":{"end":true}}"#, 400),
        (#"{"records":[{"fields":[["a","\u0000"]]}],"at":{"end":true}}"#, 422), ("[]", 400), ("", 400),
        ("{", 400),
        (String(repeating: "[", count: 100_000), 400),
      ] {
        #expect(try browsed.post(table + "/add", body).status == status, "\(body.prefix(80))")
      }
      #expect(try browsed.store.table("todo").count == 8)
    }
  }

  @Test func fieldsAreSetUnlessTheyWereChanged() async throws {
    try await withBrowsedStore { browsed throws in
      let todo = try browsed.store.table("todo")
      let change =
        #"{"id":"1","fields":[["title","Oat"],["litres",null]],"expected":[["title","Milk"],["due",null]]}"#
      let answer = try browsed.post(table + "/set", change)
      #expect(answer.text.hasPrefix(#"{"record":{"id":"1","fields":[["title","Oat"]]},"step":""#))
      #expect(try todo.record(with: 1).fields == ["title": "Oat"])
      // By now it is another record.
      let late = try browsed.post(table + "/set", change)
      #expect(late.status == 409 && late.text.contains(#""code":"changed""#))
      #expect(late.text.hasSuffix(#""current":{"id":"1","fields":[["title","Oat"]]}}"#), "\(late.text)")
      try todo.delete(1)
      let gone = try browsed.post(table + "/set", change)
      #expect(gone.status == 409 && gone.text.hasSuffix(#""current":null}"#))
      // A field that nobody looked at may have changed.
      try todo.update(2) { $0["note"] = "new" }
      let other = try browsed.post(
        table + "/set", #"{"id":"2","fields":[["title","Rye"]],"expected":[["title","Bread"]]}"#)
      #expect(other.status == 200)
      #expect(try todo.record(with: 2).fields == ["title": "Rye", "note": "new"])
    }
  }

  @Test func recordsAreDeletedCopiedAndMoved() async throws {
    try await withBrowsedStore { browsed throws in
      #expect(try browsed.post(table + "/duplicate", #"{"ids":["1","3"]}"#).ids == ["4", "5"])
      #expect(try ids(browsed) == ["1", "4", "2", "3", "5"])
      #expect(try browsed.post(table + "/move", #"{"ids":["5","1"],"to":{"place":2}}"#).status == 200)
      #expect(try ids(browsed) == ["4", "2", "5", "1", "3"])
      #expect(try browsed.post(table + "/move", #"{"ids":["3"],"to":{"before":"4"}}"#).status == 200)
      #expect(try ids(browsed) == ["3", "4", "2", "5", "1"])
      #expect(try browsed.post(table + "/delete", #"{"ids":["4","5"]}"#).status == 200)
      #expect(try ids(browsed) == ["3", "2", "1"])
      #expect(try browsed.post(table + "/sort", #"{"by":"title"}"#).status == 200)
      #expect(try ids(browsed) == ["3", "2", "1"])
      #expect(try browsed.post(table + "/sort", #"{"by":"litres,-title"}"#).status == 200)
      #expect(try ids(browsed) == ["1", "2", "3"])
      for (path, body, status) in [
        ("/delete", #"{"ids":["1","99"]}"#, 404), ("/duplicate", #"{"ids":["99"]}"#, 404),
        ("/move", #"{"ids":["1"],"to":{"place":9}}"#, 404), ("/delete", #"{"ids":["01"]}"#, 400),
        ("/sort", #"{"by":""}"#, 400),
      ] {
        #expect(try browsed.post(table + path, body).status == status, "\(path)")
      }
      #expect(try ids(browsed) == ["1", "2", "3"])
    }
  }

  @Test func undoCoversPagesAndCommands() async throws {
    try await withBrowsedStore { browsed throws in
      try browsed.post(table + "/delete", #"{"ids":["1"]}"#)
      // As a command does it.
      let command = try RecordStore(at: browsed.store.url)
      try command.undoLog.write { tx in try tx["todo"].update(2) { $0["title"] = "Rye" } }
      try command.close()
      let (change, deletion) = ("change of 1 record in todo (title)", "deletion of 1 record from todo")
      #expect(try browsed.steps("undo") == [change, deletion])
      #expect(try browsed.takeBack("undo")["name"] == change)
      #expect(try browsed.takeBack("undo")["name"] == deletion)
      #expect(try ids(browsed) == ["1", "2", "3"])
      #expect(try browsed.steps("undo") == [] && browsed.steps("redo") == [deletion, change])
      let nothing = try browsed.takeBack("undo")
      #expect(nothing.status == 409 && nothing.text.contains("undoStepLost"))
      #expect(try browsed.takeBack("redo").status == 200)
      #expect(try ids(browsed) == ["2", "3"])
      // What somebody else changed since is not taken back.
      try browsed.store.table("todo").add(["title": "x"])
      try browsed.post(table + "/set", #"{"id":"4","fields":[["title","y"]],"expected":[]}"#)
      try browsed.store.table("todo").update(4) { $0["title"] = "z" }
      let conflict = try browsed.takeBack("undo")
      #expect(conflict.status == 409 && conflict.text.contains(#""code":"undoConflict""#))
    }
  }

  /// Another program may have written since a page did.
  @Test func stepIsTakenBackWhateverCameAfterIt() async throws {
    try await withBrowsedStore { browsed throws in
      let deletion = try #require(try browsed.post(table + "/delete", #"{"ids":["1"]}"#)["step"])
      try browsed.store.undoLog.write(named: "theirs") { tx in try tx["other"].add(["a": 1]) }
      let undone = try browsed.post("/api/undo", #"{"step":"\#(deletion)"}"#)
      #expect(undone["name"] == "deletion of 1 record from todo")
      #expect(try ids(browsed) == ["1", "2", "3"] && browsed.steps("undo") == ["theirs"])
      // The step is gone, and what it has become can be redone.
      #expect(try browsed.post("/api/undo", #"{"step":"\#(deletion)"}"#).status == 409)
      let redo = try #require(undone["step"])
      #expect(try browsed.post("/api/redo", #"{"step":"\#(redo)"}"#).status == 200)
      #expect(try ids(browsed) == ["2", "3"] && browsed.store.table("other").count == 1)
    }
  }

  @Test func moveIsNamedByTheRecordsThatWereMoved() async throws {
    try await withBrowsedStore { browsed throws in
      for (ids, place, name) in [
        (#""1","2""#, #"{"end":true}"#, "move of 2 records in todo"),
        (#""1""#, #"{"start":true}"#, "move of 1 record in todo"),
      ] {
        #expect(try browsed.post(table + "/move", #"{"ids":[\#(ids)],"to":\#(place)}"#).status == 200)
        #expect(try browsed.steps("undo").first == name)
      }
    }
  }

  @Test func columnsAreDeclaredRenamedAndDropped() async throws {
    try await withBrowsedStore { browsed throws in
      let rules = #""title":null,"required":false,"unique":true,"values":null,"minimum":null,"maximum":null"#
      let declared = try browsed.post(table + "/column", #"{"name":"title","type":"string",\#(rules)}"#)
      #expect(declared.status == 200 && declared["step"] != nil, "\(declared.text)")
      let todo = try browsed.store.table("todo")
      #expect(try todo.snapshot().schema?["title"]?.isUnique == true)
      // A value that cannot be converted stays, and so do the rules.
      let wrong = try browsed.post(table + "/column", #"{"name":"title","type":"integer",\#(rules)}"#)
      #expect(wrong.status == 422 && wrong.text.contains(#""code":"wrongType""#), "\(wrong.text)")
      #expect(try browsed.post(table + "/column", #"{"name":"title","type":"none",\#(rules)}"#).status == 400)
      let integers = try browsed.post(table + "/column", #"{"name":"litres","type":"integer",\#(rules)}"#)
      #expect(integers.status == 200, "\(integers.text)")
      #expect(try todo.record(with: 1).fields["litres"] == 2)
      #expect(try browsed.post(table + "/rename-column", #"{"name":"title","to":"what"}"#).status == 200)
      #expect(try todo.record(with: 2).fields == ["what": "Bread"])
      #expect(try browsed.post(table + "/drop-column", #"{"name":"what"}"#).status == 200)
      #expect(try todo.record(with: 2).fields == [:])
      for _ in 0..<4 { #expect(try browsed.takeBack("undo").status == 200) }
      #expect(try todo.record(with: 1).fields == ["title": "Milk", "litres": 2.0])
      #expect(try todo.snapshot().schema == nil)
    }
  }

  @Test func patternDefaultAndReferenceAreDeclared() async throws {
    try await withBrowsedStore { browsed throws in
      let rules = #""title":null,"type":"string","required":false,"unique":false"#
      func declare(_ more: String) throws -> Int {
        try browsed.post(table + "/column", #"{"name":"shop",\#(rules),\#(more)}"#).status
      }
      let reference = #""references":{"table":"todo","field":"title","onDelete":"clear"}"#
      #expect(try declare(#""pattern":"[A-Z].*","standard":"Corner""#) == 200)
      let schema = { try browsed.store.table("todo").snapshot().schema?["shop"] }
      #expect(try schema()?.pattern == "[A-Z].*" && schema()?.defaultValue == "Corner")
      // The title is not unique.
      #expect(try declare(reference) == 422)
      #expect(try declare(reference.replacing("clear", with: "forget")) == 400)
      try browsed.store.table("todo").declare(
        TableSchema(fields: [FieldSchema("title", isUnique: true), FieldSchema("shop")]))
      #expect(try declare(reference) == 200)
      #expect(try schema()?.references == ReferenceRule("todo", field: "title", onDelete: .clear))
      #expect(try schema()?.pattern == nil)
    }
  }

  @Test func rulesAreKept() async throws {
    try await withBrowsedStore { browsed throws in
      try browsed.store.table("todo").declare(
        TableSchema(fields: [FieldSchema("title", type: .string, isRequired: true, isUnique: true)]))
      for (path, body, code) in [
        ("/set", #"{"id":"1","fields":[["title",null]],"expected":[]}"#, "requiredField"),
        ("/set", #"{"id":"1","fields":[["title",true]],"expected":[]}"#, "wrongType"),
        ("/set", #"{"id":"1","fields":[["title","Bread"]],"expected":[]}"#, "notUnique"),
        ("/add", #"{"records":[{"fields":[]}],"at":{"end":true}}"#, "requiredField"),
      ] {
        let answer = try browsed.post(table + path, body)
        #expect(answer.status == 422 && answer.text.contains(#""code":"\#(code)""#), "\(answer.text)")
        #expect(answer.text.contains(#""field":"title""#))
      }
    }
  }

  @Test func rowsOfSpreadsheetsArePasted() async throws {
    try await withBrowsedStore { browsed throws in
      let text = #"Eggs\t12\r\n\"two\nlines\tand a tab\"\t0.5\r\nempty\t\r\n"#
      let rows = #"[["Eggs","12"],["two\nlines\tand a tab","0.5"],["empty",null]]"#
      let read = try browsed.post("/api/parse", #"{"text":"\#(text)"}"#)
      let expected = Data(#"{"rows":\#(rows),"width":2}"#.utf8)
      #expect(
        try JSONSerialization.jsonObject(with: Data(read.body)) as? NSDictionary
          == JSONSerialization.jsonObject(with: expected) as? NSDictionary)
      let body = #"{"rows":\#(rows),"columns":["title","litres"],"at":{"after":"1"}}"#
      #expect(try browsed.post(table + "/paste", body).ids == ["4", "5", "6"])
      #expect(try ids(browsed) == ["1", "4", "5", "6", "2", "3"])
      let pasted = try browsed.store.table("todo").snapshot()
      #expect(pasted[1].fields == ["title": "Eggs", "litres": 12.0])
      #expect(pasted[2].fields == ["title": "two\nlines\tand a tab", "litres": 0.5])
      #expect(pasted[3].fields == ["title": "empty"])
      #expect(try browsed.steps("undo") == ["addition of 3 records to todo"])
      let wrong = #"{"rows":[["a","1"],["b","many"]],"columns":["title","litres"],"at":{"end":true}}"#
      let answer = try browsed.post(table + "/paste", wrong)
      #expect(answer.status == 422 && answer.text.contains(#""field":"litres","line":2"#), "\(answer.text)")
      #expect(try ids(browsed).count == 6)
      // A new table has no types, and takes those that all rows have.
      #expect(try browsed.post("/api/tables", #"{"name":"new"}"#).status == 200)
      let first = #"{"rows":[["1","2026-01-02T00:00:00Z","x"]],"columns":["n","day","t"],"at":{"end":true}}"#
      #expect(try browsed.post("/api/tables/new/paste", first).status == 200)
      let fields = try browsed.store.table("new").record(with: 1).fields
      #expect(fields["n"] == 1 && fields["day"]?.date != nil && fields["t"] == "x")
    }
  }

  @Test func tablesAreCreated() async throws {
    try await withBrowsedStore { browsed throws in
      #expect(try browsed.post("/api/tables", #"{"name":"new"}"#).status == 200)
      #expect(try browsed.get("/api/tables/new").text.contains(#""count":0,"columns":[]"#))
      #expect(try browsed.post("/api/tables", #"{"name":"new"}"#).status == 409)
      #expect(try browsed.post("/api/tables", #"{"name":"../x"}"#).status == 400)
      #expect(try browsed.takeBack("undo")["name"] == "creation of new")
      #expect(try browsed.store.tableNames == ["todo"])
    }
  }
}
