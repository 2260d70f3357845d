import FileDB
import FileDBPlist
import FileDBTables
import TestSupport
import Testing

/// Random transactions on tables with rules of every kind, beside a model that is so plain that it is right: it carries
/// out what deletions do, and then looks at every record of every table.
@Suite struct SchemaModelTests {
  typealias Records = [String: [Int64: PlistDictionary]]

  static let schemas: [(table: String, schema: TableSchema)] = [
    (
      "groups",
      TableSchema(fields: [
        FieldSchema("code", type: .string, isRequired: true, isUnique: true, pattern: "[abc]{1,2}"),
        FieldSchema("rank", type: .integer, minimum: 0, maximum: 3),
        FieldSchema("parent", type: .integer, references: ReferenceRule("groups", onDelete: .clear)),
      ])
    ),
    (
      "boxes",
      TableSchema(fields: [
        FieldSchema("label", allowedValues: ["new", "old"], defaultValue: "new"), FieldSchema("item"),
      ])
    ),
    (
      "items",
      TableSchema(
        fields: [
          FieldSchema("group", references: ReferenceRule("groups", field: "code")),
          FieldSchema("box", references: ReferenceRule("boxes", onDelete: .cascade)),
          FieldSchema("name", type: .string),
        ], unique: [["name", "group"]])
    ),
    (
      "boxes",
      TableSchema(fields: [
        FieldSchema("label", allowedValues: ["new", "old"], defaultValue: "new"),
        FieldSchema("item", references: ReferenceRule("items", onDelete: .cascade)),
      ])
    ),
  ]

  @Test func randomTransactionsDoWhatAPlainModelDoes() throws { try run(StoreOptions(checkpoints: .manual)) }

  /// By lookups that are kept beside the files, as commands do: each of them reads what the one before it left.
  @Test func storesThatReadInPiecesDoWhatAPlainModelDoes() throws {
    var options = StoreOptions(checkpoints: .manual)
    (options.reading, options.leastUnread) = (.pieces { fatalError("\($0)") }, 1)
    options.shape = OrderedRecords.Shape(chunk: 4, section: 3)  // So that few records have many borders.
    try run(options)
  }

  private func run(_ options: StoreOptions) throws {
    try withStore(options: options) { first in
      var store = first
      var random = SeededRandom.fromEnvironment("schema model")
      for (table, schema) in Self.schemas { try store.table(table).declare(schema) }
      let rules = Dictionary(Self.schemas.map { ($0.table, $0.schema) }) { $1 }
      var (model, refused, done) = (SchemaModel(rules: rules), 0, 0)
      for number in 0..<1_500 {
        var next = model
        var log: [String] = []
        let write = { (tx: inout StoreTransaction) in
          for _ in 0...Int.random(in: 0..<4, using: &random) {
            log.append(try next.step(&tx, &random))
          }
        }
        let error: StoreError?
        do {
          // Now and then as a step of undo, which settles first.
          if number.isMultiple(of: 5) { _ = try store.undoableWrite(write) } else { try store.write(write) }
          error = nil
        } catch let failure as StoreError {
          error = failure
        }
        let isAllowed = next.settle(since: model)
        #expect((error == nil) == isAllowed, "\(number): \(log) \(String(describing: error))")
        guard (error == nil) == isAllowed else { return }
        if error == nil { model = next }
        (refused, done) = error == nil ? (refused, done + 1) : (refused + 1, done)
        for table in rules.keys {
          let records = try store.table(table).snapshot().map { ($0.id.rawValue, $0.fields.dictionary) }
          #expect(
            Dictionary(uniqueKeysWithValues: records) == model.records[table], "\(number): \(table) \(log)")
        }
        if number.isMultiple(of: 20) {
          if number.isMultiple(of: 100) { try store.checkpoint() }
          store = try RecordStore(at: first.url, disk: first.disk, options: options)
        }
      }
      // Both happen often.
      #expect(refused > 150 && done > 150, "\(refused) \(done)")
    }
  }
}

struct SchemaModel {
  let rules: [String: TableSchema]
  var records: SchemaModelTests.Records
  private var counters: [String: Int64] = [:]

  init(rules: [String: TableSchema]) {
    self.rules = rules
    records = rules.mapValues { _ in [:] }
  }

  // MARK: - What a transaction does

  mutating func step(_ tx: inout StoreTransaction, _ random: inout SeededRandom) throws -> String {
    let table = ["groups", "boxes", "items"].randomElement(using: &random) ?? ""
    let ids = records[table, default: [:]].keys.sorted()
    switch (Int.random(in: 0..<20, using: &random), ids.randomElement(using: &random)) {
    case (0, _):
      try tx[table].truncate()
      (records[table], counters[table]) = ([:], 0)
      return "truncate \(table)"
    case (1..<5, let id?):
      try tx[table].delete(RecordID(rawValue: id)!)
      records[table]?[id] = nil
      return "delete \(table) \(id)"
    case (5..<11, let id?):
      let (name, value) = field(of: table, &random)
      if let value {
        try tx[table].set(Fields([name: value]), of: RecordID(rawValue: id)!)
      } else {
        try tx[table].unset([name], of: RecordID(rawValue: id)!)
      }
      records[table]?[id]?[name] = value
      return "set \(table) \(id) \(name)=\(String(describing: value))"
    default:
      var fields = PlistDictionary()
      for _ in 0..<4 {
        let (name, value) = field(of: table, &random)
        fields[name] = value
      }
      if table == "groups", fields["code"] == nil { fields["code"] = code(&random) }
      let id = try tx[table].add(Fields(fields))
      counters[table, default: 0] += 1
      #expect(id.rawValue == counters[table])
      for field in rules[table]?.fields ?? [] where fields[field.name] == nil {
        fields[field.name] = field.defaultValue
      }
      records[table]?[id.rawValue] = fields
      return "add \(table) \(fields)"
    }
  }

  private func field(of table: String, _ random: inout SeededRandom) -> (String, PlistValue?) {
    let name = rules[table]?.fields.randomElement(using: &random)?.name ?? ""
    if Int.random(in: 0..<8, using: &random) == 0 { return (name, nil) }
    func id(_ table: String) -> PlistValue {
      .integer(records[table]?.keys.sorted().randomElement(using: &random) ?? 1)
    }
    switch name {
    case "code", "group": return (name, code(&random))
    case "rank": return (name, [0, 1, 2, 3, 4, "1"].randomElement(using: &random))
    case "parent": return (name, id("groups"))
    case "label": return (name, ["new", "old", "old", "other"].randomElement(using: &random))
    case "item": return (name, id("items"))
    case "box": return (name, id("boxes"))
    default: return (name, ["x", "y", "z"].randomElement(using: &random))
    }
  }

  private func code(_ random: inout SeededRandom) -> PlistValue {
    ["a", "b", "c", "aa", "ab", "ac", "ba", "bb", "bc", "d"].randomElement(using: &random) ?? "a"
  }

  // MARK: - What the rules make of it

  /// - Returns: whether the rules allow it.
  mutating func settle(since before: SchemaModel) -> Bool {
    while follow(since: before) {}
    return rules.allSatisfy { table, schema in isValid(table, schema) }
  }

  private mutating func follow(since before: SchemaModel) -> Bool {
    for (table, schema) in rules {
      for (field, rule) in schema.fields.compactMap({ field in field.references.map { (field.name, $0) } }) {
        let gone = before.records[rule.table, default: [:]].filter { records[rule.table]?[$0.key] == nil }
        let named = gone.compactMap { rule.field == "id" ? PlistValue.integer($0.key) : $0.value[rule.field] }
          .filter { value in !targets(rule).contains(value) }
        for (id, fields) in records[table, default: [:]] {
          guard let value = fields[field], named.contains(value), rule.onDelete != .restrict else { continue }
          if rule.onDelete == .cascade {
            records[table]?[id] = nil
          } else {
            records[table]?[id]?[field] = nil
          }
          return true
        }
      }
    }
    return false
  }

  private func targets(_ rule: ReferenceRule) -> [PlistValue] {
    records[rule.table, default: [:]].compactMap {
      rule.field == "id" ? .integer($0.key) : $0.value[rule.field]
    }
  }

  private func isValid(_ table: String, _ schema: TableSchema) -> Bool {
    let all = records[table, default: [:]]
    for fields in all.values {
      for field in schema.fields {
        guard let value = fields[field.name] else {
          if field.isRequired { return false }
          continue
        }
        if let type = field.type, FieldType(of: value) != type { return false }
        if field.allowedValues?.contains(value) == false { return false }
        if let low = field.minimum?.integer, (value.integer ?? .min) < low { return false }
        if let high = field.maximum?.integer, (value.integer ?? .max) > high { return false }
        // The only pattern is of one or two of these letters.
        if field.pattern != nil, value.string?.allSatisfy({ "abc".contains($0) }) != true { return false }
        if let rule = field.references, !targets(rule).contains(value) { return false }
      }
    }
    let groups = schema.unique + schema.fields.filter(\.isUnique).map { [$0.name] }
    return groups.allSatisfy { names in
      let keys = all.values.map { fields in names.compactMap { fields[$0] } }.filter {
        $0.count == names.count
      }
      return Set(keys).count == keys.count
    }
  }
}
