import FileDB
import FileDBPlist
import FileDBTables
import TestSupport
import Testing

@Suite struct SchemaMergeTests {
  private func table(_ schema: TableSchema?, _ records: [Int64: Fields] = [:]) -> TableState {
    var keys = PlistDictionary()
    keys["schema"] = schema?.plist
    let encoded = records.sorted { $0.key < $1.key }.map {
      EncodedRecord(id: AnyRecordID(counted: $0.key), fields: $0.value)
    }
    return TableState(counter: 0, records: encoded, foreignKeys: keys)
  }

  private let base = TableSchema(fields: [FieldSchema("a", type: .integer), FieldSchema("b")])

  @Test func rulesOfBothSidesAreKept() throws {
    var (ours, theirs) = (base, base)
    ours["a"]?.minimum = 1
    ours["c"] = FieldSchema("c", isRequired: true)
    ours.referencingTables = [TableKey("x")]
    theirs["a"]?.maximum = 9
    theirs["b"] = nil
    theirs["d"] = FieldSchema("d", title: "D")
    theirs.referencingTables = [TableKey("w")]
    theirs.unique = [["a", "d"]]
    let merge = try RecordsMerge(base: table(base), ours: table(ours), theirs: table(theirs))
    let merged = try #require(merge.merged.schema.schema)
    #expect(merge.conflicts.isEmpty)
    #expect(merged.fields.map(\.name) == ["a", "c", "d"])
    #expect(merged["a"] == FieldSchema("a", type: .integer, minimum: 1, maximum: 9))
    #expect(merged.unique == [["a", "d"]])
    #expect(merged.referencingTables == [TableKey("w"), TableKey("x")])
  }

  @Test func oneRuleInTwoWaysIsAConflict() throws {
    var (ours, theirs) = (base, base)
    ours["a"]?.minimum = 1
    theirs["a"]?.minimum = 2
    let merge = try RecordsMerge(base: table(base), ours: table(ours), theirs: table(theirs))
    #expect(merge.merged.schema.schema == ours)
    guard case .field(let name, let former, let mine, let other)? = merge.conflicts.first?.kind else {
      Issue.record("\(merge.conflicts)")
      return
    }
    #expect((name, former, mine, other) == ("schema.a.minimum", nil, 1, 2))
  }

  @Test func oneSideThatDeclaresIsTaken() throws {
    let merge = try RecordsMerge(base: table(nil), ours: table(nil), theirs: table(base))
    #expect(merge.merged.schema.schema == base)
    #expect(
      try RecordsMerge(base: table(base), ours: table(base), theirs: table(nil)).merged.schemaValue == nil)
  }

  @Test func recordsThatBreakARuleTogetherAreAConflict() throws {
    let schema = TableSchema(fields: [FieldSchema("code", isUnique: true)])
    let ours = table(schema, [1: ["code": "a"], 2: ["code": "b"]])
    let theirs = table(schema, [1: ["code": "a"], 3: ["code": "b"]])
    let merge = try RecordsMerge(base: table(schema, [1: ["code": "a"]]), ours: ours, theirs: theirs)
    #expect(merge.merged.records.count == 3)
    guard let conflict = merge.conflicts.first, case .rule("code", let message) = conflict.kind else {
      Issue.record("\(merge.conflicts)")
      return
    }
    #expect(message.contains("record") && message.contains("'b'"))
  }

  @Test func wrongRecordOfAnEditorIsNoConflict() throws {
    let schema = TableSchema(fields: [FieldSchema("n", type: .integer)])
    let wrong = table(schema, [1: ["n": "text"]])
    let changed = table(schema, [1: ["n": "text"], 2: ["n": 2]])
    #expect(try RecordsMerge(base: wrong, ours: changed, theirs: wrong).conflicts.isEmpty)
  }
}
