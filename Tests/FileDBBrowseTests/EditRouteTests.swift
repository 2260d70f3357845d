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
        #expect(answer.text == #"{"ids":["\#(order.count)"]}"#)
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
      #expect(answer.text == #"{"record":{"id":"1","fields":[["title","Oat"]]}}"#)
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
      #expect(try browsed.post(table + "/duplicate", #"{"ids":["1","3"]}"#).text == #"{"ids":["4","5"]}"#)
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
      #expect(try browsed.members("/api/store")["undo"] as? String == "change of 1 record in todo (title)")
      #expect(try browsed.post("/api/undo", "").text == #"{"undone":"change of 1 record in todo (title)"}"#)
      #expect(try browsed.post("/api/undo", "").text == #"{"undone":"deletion of 1 record from todo"}"#)
      #expect(try ids(browsed) == ["1", "2", "3"])
      #expect(try browsed.members("/api/store")["undo"] is NSNull)
      #expect(try browsed.members("/api/store")["redo"] as? String == "deletion of 1 record from todo")
      let nothing = try browsed.post("/api/undo", "")
      #expect(nothing.status == 409 && nothing.text.contains("nothingLeft"))
      #expect(try browsed.post("/api/redo", "").status == 200)
      #expect(try ids(browsed) == ["2", "3"])
      // What somebody else changed since is not taken back.
      try browsed.store.table("todo").add(["title": "x"])
      try browsed.post(table + "/set", #"{"id":"4","fields":[["title","y"]],"expected":[]}"#)
      try browsed.store.table("todo").update(4) { $0["title"] = "z" }
      let conflict = try browsed.post("/api/undo", "")
      #expect(conflict.status == 409 && conflict.text.contains(#""code":"undoConflict""#))
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
      let rows = #"Eggs\t12\r\n\"two\nlines\"\t0.5\r\nempty\t"#
      let body = #"{"text":"\#(rows)","columns":["title","litres"],"at":{"after":"1"}}"#
      #expect(try browsed.post(table + "/paste", body).text == #"{"ids":["4","5","6"]}"#)
      #expect(try ids(browsed) == ["1", "4", "5", "6", "2", "3"])
      let pasted = try browsed.store.table("todo").snapshot()
      #expect(pasted[1].fields == ["title": "Eggs", "litres": 12.0])
      #expect(pasted[2].fields == ["title": "two\nlines", "litres": 0.5])
      #expect(pasted[3].fields == ["title": "empty"])
      #expect(try browsed.members("/api/store")["undo"] as? String == "addition of 3 records to todo")
      let wrong = #"{"text":"a\t1\nb\tmany","columns":["title","litres"],"at":{"end":true}}"#
      let answer = try browsed.post(table + "/paste", wrong)
      #expect(answer.status == 422 && answer.text.contains(#""field":"litres","line":2"#), "\(answer.text)")
      #expect(try ids(browsed).count == 6)
      // A new table has no types, and takes those that all rows have.
      #expect(try browsed.post("/api/tables", #"{"name":"new"}"#).status == 200)
      let first = #"{"text":"1\t2026-01-02T00:00:00Z\tx","columns":["n","day","t"],"at":{"end":true}}"#
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
      #expect(try browsed.post("/api/undo", "").text == #"{"undone":"creation of new"}"#)
      #expect(try browsed.store.tableNames == ["todo"])
    }
  }
}
