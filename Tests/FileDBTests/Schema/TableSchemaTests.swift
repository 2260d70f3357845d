import FileDB
import FileDBPlist
import Foundation
import TestSupport
import Testing

@Suite struct TableSchemaTests {
  private static let whole = TableSchema(
    version: 3,
    fields: [
      FieldSchema(
        "title", type: .string, title: "Title", isRequired: true, isUnique: true, pattern: "[A-Z].*",
        defaultValue: "New"),
      FieldSchema("kcal", type: .float, minimum: 0.0, maximum: 900.5),
      FieldSchema("kind", allowedValues: ["a", 1, true]),
      FieldSchema("folder", type: .integer, references: ReferenceRule("folders", onDelete: .clear)),
    ], unique: [["kind", "kcal"]])

  @Test func schemaReadsAsItWasWritten() throws {
    let plist = try #require(Self.whole.plist.dict)
    #expect(try TableSchema(plist) == Self.whole)
    let bytes = try PlistWriter.document(Self.whole.plist)
    #expect(try PlistParser.parse(bytes, limits: PlistLimits()) == Self.whole.plist)
  }

  @Test func fileKeepsTheSchemaThroughWritesAndCheckpoints() throws {
    try withStore(.disk) { store in
      let folders = try store.table("folders")
      try folders.create()
      let notes = try store.table("notes")
      try notes.declare(Self.whole)
      try notes.add(["title": "A", "kcal": 1.5])
      #expect(try store.reopened().table("notes").snapshot().schema == Self.whole)
      try store.checkpoint()
      #expect(try store.reopened().table("notes").snapshot().schema == Self.whole)
      try notes.add(["title": "B"])
      try store.checkpoint()
      #expect(try store.reopened().table("notes").snapshot().schema == Self.whole)
      try notes.declare(nil)
      #expect(try notes.snapshot().schema == nil)
      try store.checkpoint()
      let text = try String(contentsOf: notes.url, encoding: .utf8)
      #expect(!text.contains("<key>schema</key>"))
    }
  }

  @Test func undoLogTakesBackASchemaAndRestoresThatOfADroppedTable() throws {
    try withStore(.disk) { store in
      let notes = try store.table("notes")
      let schema = TableSchema(fields: [FieldSchema("n", type: .integer)])
      try store.undoLog.write { tx in try tx["notes"].add(["n": 1]) }
      try store.undoLog.write { tx in try tx["notes"].declare(schema) }
      try store.undoLog.write { tx in try tx["notes"].drop() }
      try store.undoLog.undo()
      #expect(try notes.snapshot().schema == schema)
      #expect(try notes.count == 1)
      try store.undoLog.undo()
      #expect(try notes.snapshot().schema == nil)
      try store.undoLog.redo()
      #expect(try notes.snapshot().schema == schema)
      try store.checkInvariants()
    }
  }

  @Test(arguments: [
    ("<integer>1</integer>", "<integer>1</intger>", true), ("</plist>", "", true),
    ("</dict>\n</plist>\n", "", true),
    ("<key>format</key>", "<key>format</kee>", false),
    ("<key>version</key>", "<key>version</key", false),
  ])
  func repairOfADamagedFileKeepsTheSchemaThatCanBeRead(text: String, damage: String, isKept: Bool) throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let table = try store.table("t")
      let schema = TableSchema(
        version: 3,
        fields: [FieldSchema("n", type: .integer, isUnique: true), FieldSchema("d", defaultValue: [:])])
      try table.declare(schema)
      // A field that looks like a schema is not one.
      let other = TableSchema(fields: [FieldSchema("other")]).plist
      try table.add(contentsOf: [["n": 1], ["n": 2, "schema": other], ["n": 3]])
      try store.close()
      let sound = try String(contentsOf: table.url, encoding: .utf8)
      try #require(sound.contains(text))
      let place = try #require(sound.range(of: text, options: .backwards))
      try sound.replacingCharacters(in: place, with: damage).write(
        to: table.url, atomically: true, encoding: .utf8)
      let fresh = try RecordStore(at: folder)
      #expect(storeError { _ = try fresh.table("t").count }?.code == .damagedTable)
      let notes = try fresh.repair("t").notes
      let repaired = try fresh.table("t").snapshot()
      #expect(try repaired.schema == (isKept ? schema : nil), "\(notes)")
      #expect(
        notes.contains { $0.contains("the schema that begins here cannot be read") } != isKept, "\(notes)")
      #expect(repaired.count >= 2 && repaired.last?.fields["n"] == 3)
      try fresh.checkInvariants()
    }
  }

  private func table(schema: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict>
    <key>autoincrement</key><string>1</string>
    <key>data</key><array><dict><key>wgFileDbSecretId</key><string>1</string><key>n</key><integer>1</integer></dict></array>
    <key>index</key><dict><key>1</key><string>0</string></dict>
    <key>schema</key>
    \(schema)
    </dict></plist>
    """
  }

  @Test func schemaOfAnotherProgramIsKeptAndMeansNothing() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("t.plist")
      for schema in ["<string>mine</string>", "<dict><key>format</key><string>other 7</string></dict>"] {
        try table(schema: schema).write(to: file, atomically: true, encoding: .utf8)
        let store = try RecordStore(at: folder)
        let table = try store.table("t")
        try table.add(["n": "text"])
        try store.checkpoint()
        #expect(try table.snapshot().schema == nil)
        #expect(try String(contentsOf: file, encoding: .utf8).contains("schema"))
        #expect(storeError { try table.declare(TableSchema()) }?.code == .invalidSchema)
        try store.checkInvariants()
      }
    }
  }

  @Test(arguments: [
    ("<key>fields</key><string>x</string>", "'fields' must be an array"),
    ("<key>fields</key><array><dict/></array>", "a field has no name"),
    (
      "<key>fields</key><array>\n<dict><key>name</key><string>n</string>\n<key>requierd</key><true/></dict></array>",
      "'requierd'"
    ),
    (
      "<key>fields</key><array><dict><key>name</key><string>n</string><key>type</key><string>int</string></dict></array>",
      "one of string, integer"
    ),
    ("<key>version</key><integer>-1</integer>", "'version'"),
    (
      "<key>unique</key><array><array><string>a</string><string>b</string></array></array>",
      "'a' is not declared"
    ),
  ])
  func unreadableSchemaIsReadAroundAndRefusesWrites(schema: String, message: String) throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("t.plist")
      let all = "<dict><key>format</key><string>filedb 1</string>\n\(schema)</dict>"
      try table(schema: all).write(to: file, atomically: true, encoding: .utf8)
      let store = try RecordStore(at: folder)
      let table = try store.table("t")
      #expect(try table.snapshot().map(\.fields) == [["n": 1]])
      let error = storeError { try table.add(["n": 2]) }
      #expect(error?.code == .invalidSchema)
      #expect(error?.message.contains(message) == true, "\(String(describing: error))")
      #expect((error?.line ?? 0) >= 7, "\(String(describing: error?.line))")
      #expect(storeError { try table.delete(1) }?.code == .invalidSchema)
      #expect(storeError { _ = try table.snapshot().schema }?.code == .invalidSchema)
      // To continue, replace it by another schema.
      try table.declare(TableSchema(fields: [FieldSchema("n", type: .integer)]))
      try table.add(["n": 2])
      try store.checkInvariants()
    }
  }

  @Test(arguments: [
    FieldSchema(""), FieldSchema("wgFileDbSecretId"),
    FieldSchema("a", type: .string, minimum: 1), FieldSchema("a", minimum: "x"),
    FieldSchema("a", minimum: 2, maximum: 1), FieldSchema("a", minimum: 2, maximum: 1.5),
    FieldSchema("a", type: .integer, allowedValues: ["x"]), FieldSchema("a", allowedValues: []),
    FieldSchema("a", type: .integer, pattern: "1"), FieldSchema("a", pattern: "("),
    FieldSchema("a", type: .integer, defaultValue: "x"), FieldSchema("a", maximum: 3, defaultValue: 4),
    FieldSchema("a", type: .string, references: ReferenceRule("b")),
    FieldSchema("a", references: ReferenceRule("x/y")),
  ])
  func contradictoryRuleIsRefused(field: FieldSchema) throws {
    try withStore { store in
      let table = try store.table("t")
      #expect(storeError { try table.declare(TableSchema(fields: [field])) }?.code == .invalidSchema)
      #expect(try !table.exists)
    }
  }
}
