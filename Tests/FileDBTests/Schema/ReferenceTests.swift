import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct ReferenceTests {
  private func withTables(
    _ rule: ReferenceRule.DeleteRule,
    body: (RecordStore, RecordTable<Fields>, RecordTable<Fields>) throws -> Void
  ) throws {
    try withStore { store in
      let (folders, notes) = (try store.table("folders"), try store.table("notes"))
      try folders.add(contentsOf: [["name": "a"], ["name": "b"]])
      try notes.declare(
        TableSchema(fields: [
          FieldSchema("folder", type: .integer, references: ReferenceRule("folders", onDelete: rule))
        ]))
      try notes.add(contentsOf: [["folder": 1], ["folder": 2], ["folder": 1], [:]])
      try body(store, folders, notes)
    }
  }

  @Test func referenceMustNameARecord() throws {
    try withTables(.restrict) { store, folders, notes in
      let error = storeError { try notes.add(["folder": 7]) }
      #expect(error?.code == .missingReference && error?.message.contains("folders.id has no 7") == true)
      #expect(storeError { try notes.set(["folder": -1], of: 1) }?.code == .missingReference)
      // Both in one transaction, in whatever order.
      try store.write { tx in
        try tx["notes"].add(["folder": 3])
        try tx["folders"].add(["name": "c"])
      }
    }
  }

  @Test func restrictKeepsWhatIsNamed() throws {
    try withTables(.restrict) { store, folders, notes in
      let error = storeError { try folders.delete(1) }
      #expect(error?.code == .stillReferenced && error?.record == 1 && error?.table == "folders")
      #expect(error?.message.contains("record 1 of 'notes'") == true)
      for remove in [{ try folders.truncate() }, { try folders.drop() }, { try folders.deleteAll() }] {
        #expect(storeError(remove)?.code == .stillReferenced)
      }
      #expect(try folders.count == 2)
      try store.write { tx in
        try tx["folders"].delete(1)
        try tx["notes"].delete([1, 3])
      }
      #expect(try (folders.count, notes.count) == (1, 2))
    }
  }

  @Test func cascadeDeletesAndUndoBringsBack() throws {
    try withTables(.cascade) { store, folders, notes in
      let deletion = try store.undoableWrite { tx in try tx["folders"].delete(1) }
      #expect(try notes.snapshot().ids == [2, 4])
      try store.undo(deletion.step)
      #expect(try notes.snapshot().ids == [1, 2, 3, 4])
      try folders.truncate()
      #expect(try notes.snapshot().ids == [4])
    }
  }

  @Test func clearTakesTheFieldAway() throws {
    try withTables(.clear) { store, folders, notes in
      try folders.drop()
      #expect(try notes.snapshot().map(\.fields) == [[:], [:], [:], [:]])
    }
  }

  @Test func cascadesGoOnThroughTablesAndTrees() throws {
    try withStore { store in
      let nodes = try store.table("nodes")
      try nodes.declare(
        TableSchema(fields: [FieldSchema("parent", references: ReferenceRule("nodes", onDelete: .cascade))]))
      try store.table("leaves").declare(
        TableSchema(fields: [FieldSchema("node", references: ReferenceRule("nodes", onDelete: .clear))]))
      try nodes.add(contentsOf: [[:], ["parent": 1], ["parent": 2], ["parent": 3], [:]])
      try store.table("leaves").add(contentsOf: [["node": 4], ["node": 5]])
      try nodes.delete(1)
      #expect(try nodes.snapshot().ids == [5])
      #expect(try store.table("leaves").snapshot().map(\.fields) == [[:], ["node": 5]])
    }
  }

  @Test func uniqueFieldIsATargetAndKeepsItsValueWhileItIsNamed() throws {
    try withStore { store in
      let (groups, foods) = (try store.table("groups"), try store.table("foods"))
      let rule = ReferenceRule("groups", field: "code", onDelete: .cascade)
      let schema = TableSchema(fields: [FieldSchema("group", references: rule)])
      #expect(storeError { try foods.declare(schema) }?.code == .invalidSchema)
      try groups.declare(TableSchema(fields: [FieldSchema("code", type: .string, isUnique: true)]))
      try foods.declare(schema)
      try groups.add(contentsOf: [["code": "0100"], ["code": "0200"]])
      try foods.add(contentsOf: [["group": "0100"], ["group": "0200"]])
      #expect(storeError { try foods.add(["group": "100"]) }?.code == .missingReference)
      let error = storeError { try groups.set(["code": "0101"], of: 1) }
      #expect(error?.code == .stillReferenced && error?.message.contains("'0100'") == true)
      // The value moves to another record.
      try store.write { tx in
        try tx["groups"].set(["code": "0101"], of: 1)
        try tx["groups"].add(["code": "0100"])
      }
      try groups.delete(3)
      #expect(try foods.snapshot().ids == [2])
    }
  }

  @Test func targetKnowsWhoRefersToItAcrossProcessesAndForgets() throws {
    try withTemporaryFolder { folder in
      try RecordStore(at: folder).write { tx in
        try tx["folders"].add(["name": "a"])
        try tx["notes"].declare(
          TableSchema(fields: [FieldSchema("folder", references: ReferenceRule("folders"))]))
        try tx["notes"].add(["folder": 1])
      }
      let store = try RecordStore(at: folder)
      // Nobody has opened `notes` here.
      #expect(storeError { try store.table("folders").delete(1) }?.code == .stillReferenced)
      #expect(try store.table("folders").snapshot().schema != nil)
      try store.table("notes").declare(nil)
      #expect(try store.table("folders").snapshot().schema == nil)
      try store.table("folders").delete(1)
      try store.checkInvariants()
    }
  }

  @Test func schemaWrittenByHandIsNoticedByTheNextWrite() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let (folders, notes) = (try store.table("folders"), try store.table("notes"))
      try folders.add(contentsOf: [["name": "a"], ["name": "b"]])
      try store.checkpoint()
      let former = try Data(contentsOf: folders.url)
      try notes.declare(
        TableSchema(fields: [FieldSchema("folder", references: ReferenceRule("folders", onDelete: .cascade))])
      )
      try store.checkpoint()
      // As if an editor had written the schema of `notes` alone.
      try former.write(to: folders.url, options: .atomic)
      #expect(try folders.snapshot().schema == nil)
      try notes.add(["folder": 2])
      #expect(try folders.snapshot().schema?.referencingTables == [TableKey("notes")])
      try store.close()
      try RecordStore(at: folder).table("folders").delete(2)
      #expect(try RecordStore(at: folder).table("notes").count == 0)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  /// Each record refers to the one before, and each wave of deletions finds one more.
  @Test func longChainIsDeletedInOneGo() throws {
    try withStore { store in
      let nodes = try store.table("nodes")
      try nodes.declare(
        TableSchema(fields: [FieldSchema("parent", references: ReferenceRule("nodes", onDelete: .cascade))]))
      let count: Int64 = 3_000
      try nodes.add(contentsOf: [[:]] + (1..<count).map { ["parent": .integer($0)] })
      try nodes.delete(2)
      #expect(try nodes.snapshot().ids == [1])
    }
  }

  /// No record refers to the deleted one, so it does not matter who refers to those.
  @Test func tablesFurtherOnAreNotRead() throws {
    try withTemporaryFolder { folder in
      let schema = { (field: String, table: String) in
        TableSchema(fields: [FieldSchema(field, references: ReferenceRule(table, onDelete: .clear))])
      }
      do {
        let store = try RecordStore(at: folder)
        try store.table("folders").add(contentsOf: [["name": "a"], ["name": "b"]])
        try store.table("notes").declare(schema("folder", "folders"))
        try store.table("notes").add(["folder": 1])
        try store.table("comments").declare(schema("note", "notes"))
        try store.table("comments").add(["note": 1])
        try store.close()
      }
      try Data("damaged".utf8).write(to: folder.appendingPathComponent("comments.plist"))
      let store = try RecordStore(at: folder)
      try store.table("folders").delete(2)
      #expect(try store.table("folders").snapshot().ids == [1])
      #expect(storeError { _ = try store.table("comments") }?.code == .notATable)
    }
  }
}
