import FileDB
import Foundation
import TestSupport
import Testing

/// Schemas of tables that come from elsewhere: attached, installed, or saved by an editor in the meantime.
@Suite struct SharedSchemaTests {
  private let schema = TableSchema(fields: [
    FieldSchema("code", type: .string, isUnique: true), FieldSchema("kcal", minimum: 0, defaultValue: 1),
  ])

  @Test func tableOverAnAttachedOneKeepsItsSchema() throws {
    try withTemporaryFolder { folder in
      let (shipped, user) = (folder.appendingPathComponent("shipped"), folder.appendingPathComponent("user"))
      let source = try RecordStore(at: shipped)
      try source.table("foods").declare(schema)
      try source.table("foods").add(contentsOf: [["code": "a"], ["code": "b"]])
      try source.close()
      let store = try RecordStore(at: user, attaching: shipped, as: "main")
      let foods = try store.table("foods")
      #expect(try foods.snapshot().schema == schema)
      #expect(storeError { try foods.set(["kcal": -1], of: 1) }?.code == .valueNotAllowed)
      #expect(storeError { try foods.add(["code": "a"]) }?.code == .notUnique)
      #expect(storeError { try foods.declare(nil) }?.code == .readOnly)
      let id = try foods.add(["code": "c"])
      #expect(try foods.record(with: id).fields["kcal"] == 1)
      // The user's own table may refer to it.
      try store.table("meals").declare(
        TableSchema(fields: [
          FieldSchema("food", references: ReferenceRule("foods", field: "code", onDelete: .cascade))
        ]))
      try store.table("meals").add(contentsOf: [["food": "a"], ["food": "c"]])
      try foods.delete(1)
      #expect(try store.table("meals").snapshot().map(\.fields) == [["food": "c"]])
      try store.checkInvariants()
    }
  }

  @Test func installationTakesTheSchemaAlong() throws {
    try withTemporaryFolder { folder in
      let (shipped, user) = (folder.appendingPathComponent("shipped"), folder.appendingPathComponent("user"))
      let source = try RecordStore(at: shipped)
      try source.table("foods").add(["code": "a"])
      try source.close()
      try ShippedStore.install(from: shipped, to: user, version: 1, policy: .merge)
      let next = try RecordStore(at: shipped)
      try next.table("foods").declare(schema)
      try next.table("foods").add(["code": "b"])
      try next.close()
      try ShippedStore.install(from: shipped, to: user, version: 2, policy: .merge)
      let foods = try RecordStore(at: user).table("foods")
      #expect(try foods.snapshot().schema == schema)
      #expect(try foods.count == 2)
      #expect(storeError { try foods.add(["code": "b"]) }?.code == .notUnique)
      try foods.store.checkInvariants()
    }
  }

  @Test func waitingSchemaIsCarriedOutOnASavedFile() throws {
    try withTemporaryFolder { folder in
      let options = StoreOptions(checkpoints: .manual)
      let store = try RecordStore(at: folder, options: options)
      let table = try store.table("t")
      try table.add(["code": "a"])
      try store.checkpoint()
      try table.declare(schema)
      let text = try String(contentsOf: table.url, encoding: .utf8)
      try text.replacing("<string>a</string>", with: "<string>b</string>")
        .write(to: table.url, atomically: true, encoding: .utf8)
      let fresh = try RecordStore(at: folder, options: options).table("t").snapshot()
      #expect(try fresh.schema == schema)
      #expect(fresh.map { $0.fields["code"] } == ["b"])
      try store.checkpoint()
      try RecordStore(at: folder).checkInvariants()
    }
  }
}
