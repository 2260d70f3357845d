import FileDBPlist
import FileDBTables

/// Adds a version to records that are added without a type, if the table's records have versions.
extension TransactionState {
  /// The fields of new records. Records that come without a type get the version of the table's records that they
  /// resemble.
  func addingVersions<Value: Codable & Sendable>(
    to fields: [Fields], of type: Value.Type, in table: String
  ) throws(StoreError) -> [Fields] {
    // A type without versions may belong to an old program. Its values stay without a version.
    guard Value.self == Fields.self || Value.self == PlistValue.self else { return fields }
    guard !fields.isEmpty, let known = try versionedRecords(of: table) else { return fields }
    return fields.map { known.look(like: $0) ? $0.keepingVersion(of: known.first) : $0 }
  }

  /// Some records of the newest version in the table, from before the transaction: people write what they see there.
  /// `nil` if no record has a version.
  /// - Complexity: a search for one record. If the table is partly migrated, the result may be an older version.
  func versionedRecords(of table: String) throws(StoreError) -> VersionedRecords? {
    let key = TableKey(table)
    if let known = versionedRecords[key] { return known }
    _ = try self.table(table)
    guard let state = touched[key]?.table.first, !state.records.isEmpty else { return nil }
    let last = state.records.count - 1
    let newest = state.records.index(of: AnyRecordID(counted: state.counter)) ?? last
    let found = VersionedRecords(
      [0, last / 4, last / 2, last * 3 / 4, last, newest].map { state.records[$0] })
    versionedRecords[key] = .some(found)
    return found
  }
}

/// Records of one version, and what other records must have to resemble them.
struct VersionedRecords {
  let first: Fields
  private var all: Set<FieldName>
  private var common: Set<FieldName>

  /// Takes the records with the newest version; `nil` if none has one.
  init?(_ records: [EncodedRecord]) {
    let versions = records.map { $0.field(ValueMigrations.versionKey)?.integer ?? 0 }
    guard let newest = versions.max(), newest > 0 else { return nil }
    let newestRecords = zip(records, versions).filter { $0.1 == newest }.map { $0.0.fields }
    first = newestRecords[0]
    (all, common) = (first.names, first.names)
    for fields in newestRecords.dropFirst() {
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
  /// The new fields of a record that had the fields `old`. If the record had a version, it keeps it: somebody who
  /// rewrites it without a type means only its fields.
  func keepingVersion(of old: Fields) -> Fields {
    let key = ValueMigrations.versionKey
    guard self[key] == nil, let version = old[key] else { return self }
    var fields = self
    fields[key] = version
    return fields
  }

  /// The names of the record's own fields.
  fileprivate var names: Set<FieldName> {
    Set(dictionary.keys.lazy.map(FieldName.init)).subtracting([FieldName(ValueMigrations.versionKey)])
  }
}
