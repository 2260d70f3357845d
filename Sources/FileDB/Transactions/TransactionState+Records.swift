import FileDBPlist
import FileDBTables

/// The parts that the verbs of a table consist of.
extension TransactionState {
  /// Adds records with new ids. Creates the table if it does not exist.
  func insert<Value>(
    _ new: [Fields], into table: String, at position: Position<Value>
  ) throws(StoreError) -> [RecordID<Value>] {
    var counter = try self.table(table).counter
    var identified: [(id: AnyRecordID, fields: Fields)] = []
    identified.reserveCapacity(new.count)
    for fields in new { identified.append((try nextID(after: &counter, table: table), fields)) }
    let records = encoder.encode(identified)
    try insert(records, into: table, at: position)
    return records.map { RecordID($0.id) }
  }

  /// Adds records. Creates the table if it does not exist.
  func insert(_ records: [EncodedRecord], into table: String, at position: Position<some Any>)
    throws(StoreError)
  {
    let index: Int
    do { index = try self.table(table).insertionIndex(for: position) } catch {
      throw error.adding(table: table)
    }
    try createIfMissing(table)
    if !records.isEmpty { try apply(.insert(records, index: index), to: table) }
  }

  func createIfMissing(_ table: String) throws(StoreError) {
    if try !self.table(table).exists { try create(table) }
  }

  /// Creates a table under a name that somebody has chosen. An undo may bring back any name.
  func create(_ table: String) throws(StoreError) {
    if let stray = StrayFile(file: "\(table)\(StoreFolder.suffix)") {
      throw StoreError(
        .invalidTableName, "a file of this name would be taken for \(stray.kind)", table: table)
    }
    try apply(.create, to: table)
  }

  /// If the record does not change, a commit would only cost time.
  /// - Returns: whether it changes.
  @discardableResult
  func replace(
    _ id: AnyRecordID, with fields: Fields, was old: Fields, in table: String
  ) throws(StoreError) -> Bool {
    do {
      let new = try fields.normalized(limits: limits, was: old)
      if new == old { return false }
      try apply(.replace(encoder.encode(new, id: id)), to: table)
      return true
    } catch {
      var error = error.adding(table: table)
      error.record = id
      throw error
    }
  }

  /// The records for these values. A record without an id gets one above every id in `values`, so that no two are the
  /// same.
  func encode<Value>(
    _ values: [IdentifiedValue<Value>], for table: String
  ) throws -> [EncodedRecord] {
    let fields = try addingVersions(
      to: FieldsEncoder.fields(of: values.map(\.value), for: table, limits: limits), of: Value.self, in: table
    )
    let given = zip(values, fields).map { (id: $0.id, fields: $1) }
    var counter = try given.reduce(self.table(table).counter) { max($0, $1.id?.rawValue ?? 0) }
    return encoder.encode(
      try given.map { (try $0.id?.plain ?? nextID(after: &counter, table: table), $0.fields) })
  }

  private func nextID(after counter: inout Int64, table: String) throws(StoreError) -> AnyRecordID {
    guard counter < .max else {
      throw StoreError(.counterExhausted, "the table has given its highest possible id", table: table)
    }
    counter += 1
    return AnyRecordID(counted: counter)
  }
}

extension TableState {
  /// The index that a new record gets at `position`.
  fileprivate func insertionIndex(for position: Position<some Any>) throws(StoreError) -> Int {
    switch position {
    case .top: return 0
    case .bottom: return records.count
    case .index(let index):
      guard (0...records.count).contains(index) else { throw missing(index: index) }
      return index
    case .before(let id): return try index(of: id.plain)
    case .after(let id): return try index(of: id.plain) + 1
    }
  }
}

/// A value to store, together with the id for its record.
package struct IdentifiedValue<Value: Codable & Sendable>: Sendable {
  /// The id for the record; `nil` for a new one.
  package var id: RecordID<Value>?
  /// The value to store.
  package var value: Value

  /// A value, and the id for its record.
  package init(_ value: Value, id: RecordID<Value>? = nil) {
    self.id = id
    self.value = value
  }
}

extension IdentifiedValue: Equatable where Value: Equatable {}
extension IdentifiedValue: Hashable where Value: Hashable {}

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
