import FileDBPlist
import FileDBTables

/// Adds the mark of a version to records that are added without a type to a table with marked records.
extension TransactionState {
  /// The fields of new records. Records that come without a type get the mark of the table's records that they
  /// resemble.
  func marking<Value: Codable & Sendable>(
    _ fields: [Fields], of type: Value.Type, in table: String
  ) throws(StoreError) -> [Fields] {
    // A type without versions may belong to an old program. Its values stay unmarked.
    guard Value.self == Fields.self || Value.self == PlistValue.self else { return fields }
    guard !fields.isEmpty, let marked = try markedRecords(of: table) else { return fields }
    return fields.map { marked.look(like: $0) ? $0.keepingMark(of: marked.first) : $0 }
  }

  /// Some records of the newest version in the table, from before the transaction: people write what they see there.
  /// `nil` if no record is marked.
  /// - Complexity: a search for one record. If the table is partly migrated, the result may be an older version.
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

/// Records of one version, and what other records must have to resemble them.
struct MarkedRecords {
  let first: Fields
  private var all: Set<FieldName>
  private var common: Set<FieldName>

  /// Takes the records with the newest mark; `nil` if none is marked.
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

  /// Whether a record has all fields that all of these records have, and no field that none of them has. Otherwise it
  /// may be of an earlier version.
  func look(like fields: Fields) -> Bool {
    let names = fields.names
    return names.isSubset(of: all) && names.isSuperset(of: common)
  }
}

extension Fields {
  /// The new fields of a record that had the fields `old`. If the record was marked, it stays marked: somebody who
  /// rewrites it without a type means only its fields.
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
