import FileDB
import Foundation
import TestSupport
import Testing

/// Undo restores what was there, even if that broke the rules. But it breaks no other rule.
@Suite struct SchemaUndoTests {
  private let schema = TableSchema(fields: [
    FieldSchema("n", type: .integer), FieldSchema("r", isRequired: true, defaultValue: "d"),
    FieldSchema("u", isUnique: true), FieldSchema("to", references: ReferenceRule("t")),
  ])

  /// A store whose table has records that somebody saved against the rules.
  private func withWrongRecords(_ body: (RecordStore, RecordTable<Fields>) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let first = try RecordStore(at: folder)
      try first.table("t").declare(schema)
      try first.table("t").add(contentsOf: [
        ["n": 1, "r": "x", "u": 1], ["n": 2, "r": "x", "u": 2], ["n": 3, "r": "x", "u": 3],
      ])
      try first.close()
      let text = try String(contentsOf: first.table("t").url, encoding: .utf8)
      try text.replacing("\t\t\t<key>r</key>\n\t\t\t<string>x</string>\n", with: "", maxReplacements: 2)
        .replacing(
          "<key>n</key>\n\t\t\t<integer>2</integer>", with: "<key>n</key>\n\t\t\t<string>two</string>"
        )
        .write(to: first.table("t").url, atomically: true, encoding: .utf8)
      let store = try RecordStore(at: folder)
      try body(store, store.table("t"))
      try store.checkpoint()
    }
  }

  @Test func wrongRecordComesBackAsItWas() throws {
    try withWrongRecords { store, table in
      let before = try table.snapshot().map(\.fields)
      #expect(before[1] == ["n": "two", "u": 2])
      let change = try store.undoableWrite { tx in
        try tx["t"].set(["n": 2, "r": "y"], of: 2)
        try tx["t"].delete(1)
      }
      let redo = try store.undo(change.step)
      #expect(try table.snapshot().map(\.fields) == before)
      let undo = try store.undo(redo)
      #expect(try table.snapshot().count == 2)
      try store.undo(undo)
      #expect(try table.snapshot().map(\.fields) == before)
      // Only restored records may break the rules.
      #expect(
        storeError {
          try store.write { tx in
            try tx["t"].set(["n": 5], of: 2)
            try tx["t"].set(["n": "five"], of: 2)
          }
        }?.code == .wrongType)
    }
  }

  @Test func undoLogPutsItBackInAnotherProgram() throws {
    try withWrongRecords { store, table in
      let before = try table.snapshot().map(\.fields)
      try store.undoLog.write { tx in try tx["t"].set(["n": 2, "r": "y"], of: 2) }
      try store.undoLog.write { tx in try tx["t"].truncate() }
      let other = try store.reopened()
      try other.undoLog.undo()
      try other.undoLog.undo()
      #expect(try table.snapshot().map(\.fields) == before)
    }
  }

  /// Somebody saved the same unique value twice, and references to nothing. Each write undoes these.
  @Test func duplicatesAndLooseReferencesComeBackAsTheyWere() throws {
    let writes: [(inout StoreTransaction) throws -> Void] = [
      { tx in try tx["t"].set(["u": 9, "to": 1], of: 2) }, { tx in try tx["t"].delete(2) },
      { tx in try tx["t"].delete([1, 2, 3]) }, { tx in try tx["t"].truncate() },
      { tx in
        try tx["t"].set(["to": 3], of: 1)
        try tx["t"].set(["u": 7], of: 1)
      }, { tx in try tx["t"].drop() },
    ]
    for number in writes.indices {
      try withWrongRecords { store, table in
        try store.checkpoint()
        try String(contentsOf: table.url, encoding: .utf8)
          .replacing(
            "<key>u</key>\n\t\t\t<integer>2</integer>",
            with: "<key>u</key>\n\t\t\t<integer>1</integer>\n\t\t\t<key>to</key>\n\t\t\t<integer>77</integer>"
          )
          .write(to: table.url, atomically: true, encoding: .utf8)
        let store = try RecordStore(at: store.url)
        let before = try store.table("t").snapshot().map(\.fields)
        #expect(before[1]["u"] == 1 && before[1]["to"] == 77)
        try store.undoLog.write(writes[number])
        try store.undoLog.undo()
        #expect(try store.table("t").snapshot().map(\.fields) == before, "write \(number)")
        try store.undoLog.redo()
        try store.undoLog.undo()
        #expect(try store.table("t").snapshot().map(\.fields) == before, "write \(number) again")
        // No other write may do this.
        #expect(storeError { try store.table("t").set(["u": 1], of: 3) }?.code == .notUnique)
      }
    }
  }

  @Test func ruleThatIsNewHoldsForAnUndoToo() throws {
    try withWrongRecords { store, table in
      let change = try store.undoableWrite { tx in try tx["t"].set(["n": 2, "r": "y"], of: 2) }
      try table.set(["r": "z"], of: 1)
      var stricter = schema
      stricter["n"]?.maximum = 9
      try table.declare(stricter)
      #expect(storeError { try store.undo(change.step) }?.code == .wrongType)
      #expect(try table.record(with: 2).fields["n"] == 2)
    }
  }

  @Test func valueThatIsTakenByNowDoesNotComeBack() throws {
    try withWrongRecords { store, table in
      let deletion = try store.undoableWrite { tx in try tx["t"].delete(2) }
      try table.add(["u": 2])
      #expect(storeError { try store.undo(deletion.step) }?.code == .notUnique)
      let change = try store.undoableWrite { tx in try tx["t"].set(["to": 1], of: 3) }
      let back = try store.undo(change.step)
      try table.delete(1)
      #expect(storeError { try store.undo(back) }?.code == .missingReference)
    }
  }
}
