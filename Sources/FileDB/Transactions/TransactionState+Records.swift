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
