import FileDBPlist
import FileDBTables

/// The marks of records that are added without a type to a table whose records are marked with a version.
extension TransactionState {
  /// The fields of new records. Those that come without a type are marked as the table's records are that they look
  /// like.
  func marking<Value: Codable & Sendable>(
    _ fields: [Fields], of type: Value.Type, in table: String
  ) throws(StoreError) -> [Fields] {
    // A type without versions may be an old program's, so its values are left to be read as what they are.
    guard Value.self == Fields.self || Value.self == PlistValue.self else { return fields }
    guard !fields.isEmpty, let marked = try markedRecords(of: table) else { return fields }
    return fields.map { marked.look(like: $0) ? $0.keepingMark(of: marked.first) : $0 }
  }

  /// Some records of the newest version in the table, as it was before the transaction: people write what they see
  /// there. `nil` if none is marked.
  /// - Complexity: a search for one record: of a table that is half migrated, it may be an older version.
  func markedRecords(of table: String) throws(StoreError) -> MarkedRecords? {
    let key = TableKey(table)
    if let known = markedRecords[key] { return known }
    _ = try self.table(table)
    guard let state = touched[key]?.table.first, !state.records.isEmpty else { return nil }
    let last = state.records.count - 1
    let newest = state.records.index(of: AnyRecordID(counted: state.counter)) ?? last
    let marked = MarkedRecords([0, last / 4, last / 2, last * 3 / 4, last, newest].map { state.records[$0] })
    markedRecords[key] = .some(marked)
    return marked
  }
}

/// Records of one version, and what others must have to look like them.
struct MarkedRecords {
  let first: Fields
  private var all: Set<FieldName>
  private var common: Set<FieldName>

  /// Takes those with the newest mark; `nil` if none has one.
  init?(_ records: [EncodedRecord]) {
    let marks = records.map { $0.field(ValueMigrations.versionKey)?.integer ?? 0 }
    guard let newest = marks.max(), newest > 0 else { return nil }
    let marked = zip(records, marks).filter { $0.1 == newest }.map { $0.0.fields }
    first = marked[0]
    (all, common) = (first.names, first.names)
    for fields in marked.dropFirst() {
      all.formUnion(fields.names)
      common.formIntersection(fields.names)
    }
  }

  /// Whether a record has all fields that each of them has, and none that none of them has. One that has not may be of
  /// an earlier version.
  func look(like fields: Fields) -> Bool {
    let names = fields.names
    return names.isSubset(of: all) && names.isSuperset(of: common)
  }
}

extension Fields {
  /// These fields of a record that had `old` before. One that was marked stays so: who writes it anew without a type
  /// means its fields.
  func keepingMark(of old: Fields) -> Fields {
    let key = ValueMigrations.versionKey
    guard self[key] == nil, let mark = old[key] else { return self }
    var fields = self
    fields[key] = mark
    return fields
  }

  /// The names of the record's own fields.
  fileprivate var names: Set<FieldName> {
    Set(dictionary.keys.lazy.map(FieldName.init)).subtracting([FieldName(ValueMigrations.versionKey)])
  }
}
