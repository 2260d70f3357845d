import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct SchemaWriteTests {
  private func withTable(_ fields: FieldSchema..., body: (RecordTable<Fields>) throws -> Void) throws {
    try withStore { store in
      let table = try store.table("t")
      try table.declare(TableSchema(fields: fields))
      try body(table)
    }
  }

  private func expect(
    _ code: StoreError.Code, record: AnyRecordID? = nil, field: String? = nil, _ words: String...,
    body: () throws -> Void
  ) {
    guard let error = storeError(body) else {
      Issue.record("no error")
      return
    }
    #expect(error.code == code, "\(error)")
    #expect(error.table != nil)
    if let record { #expect(error.record == record, "\(error)") }
    if let field { #expect(error.field == field, "\(error)") }
    for word in words { #expect(error.message.contains(word), "\(error)") }
  }

  @Test func eachRuleNamesRecordFieldAndValue() throws {
    try withTable(
      FieldSchema("n", type: .integer, minimum: 0, maximum: 9),
      FieldSchema("s", type: .string, pattern: "[a-z]+"),
      FieldSchema("k", allowedValues: ["x", "y"]), FieldSchema("r", isRequired: true),
      FieldSchema("u", isUnique: true)
    ) { table in
      try table.add(["r": 1, "n": 5, "s": "ab", "k": "x", "u": "one"])
      expect(.wrongType, record: 2, field: "n", "'5'", "whole number") { try table.add(["r": 1, "n": "5"]) }
      expect(.wrongType, field: "n") { try table.add(["r": 1, "n": 5.0]) }
      expect(.valueNotAllowed, field: "n", "10", "maximum") { try table.add(["r": 1, "n": 10]) }
      expect(.valueNotAllowed, field: "n", "-1", "minimum") { try table.add(["r": 1, "n": -1]) }
      expect(.valueNotAllowed, field: "s", "'A'", "[a-z]+") { try table.add(["r": 1, "s": "A"]) }
      expect(.valueNotAllowed, field: "k", "'z'", "'x', 'y'") { try table.add(["r": 1, "k": "z"]) }
      expect(.requiredField, record: 1, field: "r") { try table.unset(["r"], of: 1) }
      expect(.notUnique, field: "u", "record 1", "'one'") { try table.add(["r": 1, "u": "one"]) }
      #expect(try table.count == 1)
      // Ids were not used up by what failed.
      #expect(try table.add(["r": 2, "u": "two"]) == 2)
    }
  }

  @Test func bodyMayPassThroughWrongStates() throws {
    try withTable(FieldSchema("u", isRequired: true, isUnique: true)) { table in
      try table.add(contentsOf: [["u": 1], ["u": 2]])
      try table.store.write { tx in
        try tx["t"].set(["u": 2], of: 1)
        try tx["t"].set(["u": 1], of: 2)
        let id = try tx["t"].add([:])
        try tx["t"].set(["u": 3], of: id)
      }
      #expect(try table.snapshot().map { $0.fields["u"]?.integer } == [2, 1, 3])
      let error = storeError {
        try table.store.dryRun { tx in _ = try tx["t"].add(["u": 3]) }
      }
      #expect(error?.code == .notUnique)
    }
  }

  @Test func fieldsThatAWriteLeavesAlonePass() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let table = try store.table("t")
      try table.declare(
        TableSchema(fields: [
          FieldSchema("n", type: .integer, isUnique: true), FieldSchema("r", isRequired: true),
        ]))
      try table.add(contentsOf: [["n": 1, "r": 1], ["n": 2, "r": 1]])
      try store.checkpoint()
      let text = try String(contentsOf: table.url, encoding: .utf8)
      // An editor saves what the rules forbid. FileDB reads it.
      try text.replacing("<integer>2</integer>", with: "<string>1</string>")
        .replacing("\t\t\t<key>r</key>\n\t\t\t<integer>1</integer>\n", with: "", maxReplacements: 1)
        .write(to: table.url, atomically: true, encoding: .utf8)
      #expect(try table.snapshot().map(\.fields) == [["n": 1], ["n": "1", "r": 1]])
      try table.set(["done": true], of: 2)
      try table.set(["done": true], of: 1)
      try table.move(2, to: .top)
      try table.sort(by: [.ascending("n")])
      #expect(storeError { try table.set(["n": "2"], of: 2) }?.code == .wrongType)
      #expect(storeError { try table.set(["n": 1], of: 2) }?.code == .notUnique)
      try table.set(["n": 3], of: 2)
      try table.delete(1)
      try store.checkInvariants()
    }
  }

  @Test func defaultsFillWhatANewRecordLacks() throws {
    try withTable(
      FieldSchema("done", type: .bool, isRequired: true, defaultValue: false),
      FieldSchema("n", defaultValue: 7)
    ) { table in
      try table.add(["n": 1])
      try table.store.write { tx in
        try tx["t"].add(contentsOf: [[:], ["done": true]])
        #expect(try tx["t"].record(with: 2).fields == ["done": false, "n": 7])
      }
      #expect(
        try table.snapshot().map(\.fields)
          == [["done": false, "n": 1], ["done": false, "n": 7], ["done": true, "n": 7]])
      // A change is not an addition.
      try table.unset(["n"], of: 1)
      #expect(try table.record(with: 1).fields == ["done": false])
    }
  }

  @Test func typedValuesKeepTheRules() throws {
    struct Note: Codable, Sendable {
      var title: String
      var stars: Int?
    }
    try withStore { store in
      let notes = try store.table(TableName<Note>("notes"))
      try notes.declare(TableSchema(fields: [FieldSchema("stars", maximum: 5)]))
      let id = try notes.add(Note(title: "a", stars: nil))
      #expect(storeError { try notes.update(id) { $0.stars = 6 } }?.code == .valueNotAllowed)
      try notes.update(id) { $0.stars = 5 }
    }
  }

  @Test func newRuleIsCheckedAgainstTheRecords() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [["n": 1], ["n": "1"], ["n": 1]])
      let integer = TableSchema(fields: [FieldSchema("n", type: .integer)])
      expect(.wrongType, record: 2, field: "n") { try table.declare(integer) }
      try table.set(["n": 2], of: 2)
      try table.declare(integer)
      var unique = integer
      unique["n"]?.isUnique = true
      expect(.notUnique, record: 1, "record 3") { try table.declare(unique) }
      try table.set(["n": 3], of: 3)
      try table.declare(unique)
      var together = integer
      together["m"] = FieldSchema("m")
      together.unique = [["n", "m"]]
      try table.declare(together)
      try table.set(["n": 1, "m": 1], of: 1)
      try table.set(["n": 1], of: 2)
      expect(.notUnique, record: 2, "record 1", "together") { try table.set(["m": 1], of: 2) }
    }
  }

  @Test func installAndUndoKeepTheRules() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.declare(TableSchema(fields: [FieldSchema("u", isUnique: true)]))
      let write = try store.undoableWrite { tx in try tx["t"].add(["u": 1]) }
      let deletion = try store.undoableWrite { tx in try tx["t"].delete(write.result) }
      try table.add(["u": 1])
      #expect(storeError { try store.undo(deletion.step) }?.code == .notUnique)
      #expect(try table.count == 1)
    }
  }

  @Test func asyncWritesThatWaitTogetherFailByThemselves() async throws {
    try await withTemporaryStore { store in
      try await store.table("t").declare(TableSchema(fields: [FieldSchema("n", type: .integer)]))
      let failures = await withTaskGroup(of: Bool.self, returning: Int.self) { group in
        for number in 0..<40 {
          group.addTask {
            let value: PlistValue = number.isMultiple(of: 4) ? "text" : .integer(Int64(number))
            return (try? await store.write { tx in try tx["t"].add(["n": value]) }) == nil
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(failures == 10)
      #expect(try await store.table("t").count == 30)
    }
  }
}
