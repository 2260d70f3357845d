import FileDB
import FileDBEssentials
import FileDBTables

/// A table of a shared store that no machine holds: it is in the database only, and each call asks the database.
///
///     let events = try store.paged(.events)
///     try await events.add(Event(kind: "login"))
///     let page = try await events.records(in: 5_000_000..<5_000_020)
///
/// It is for tables that are too large for each machine's disk and memory. No folder has a file of it, and
/// `RecordStore.table(_:)` shows it as empty. See <doc:Cluster>.
///
/// Each method runs on a thread of the store and throws ``StoreError/Code/unreachable`` without a connection.
public struct PagedTable<Value: Codable & Sendable>: Sendable {
  /// The store that the table belongs to.
  public let store: RecordStore
  /// The table's name.
  public let name: TableName<Value>
  let rows: PagedRows

  /// How many records the table has; 0 if it does not exist.
  public func count() async throws -> Int { try await asking { try rows.table()?.count ?? 0 } }

  /// The highest id ever given; 0 if there was none.
  public func counter() async throws -> Int64 { try await asking { try rows.table()?.counter ?? 0 } }

  /// The record with this id.
  /// - Throws: ``StoreError/Code/recordNotFound``.
  /// - Complexity: O(1), as far as anybody can measure.
  public func record(with id: RecordID<Value>) async throws -> StoredRecord<Value> {
    try await asking { try stored([rows.record(with: id.plain)])[0] }
  }

  /// The record at this index.
  /// - Throws: ``StoreError/Code/indexOutOfRange``.
  /// - Complexity: as ``records(in:)``.
  public func record(at index: Int) async throws -> StoredRecord<Value> {
    try await asking {
      guard let record = try stored(rows.page(index..<index + 1)).first else {
        throw rows.missing(index: index)
      }
      return record
    }
  }

  /// The index of a record.
  /// - Throws: ``StoreError/Code/recordNotFound``.
  public func index(of id: RecordID<Value>) async throws -> Int {
    try await asking { try rows.index(of: id.plain) }
  }

  /// A page: the records at these indices, as of one moment. Indices behind the last record are left out.
  /// - Complexity: O(*k*) for a page of *k* records, at any index; one request.
  public func records(in indices: Range<Int>) async throws -> [StoredRecord<Value>] {
    try await asking { try stored(rows.page(indices)) }
  }

  /// The records below another one, at most `limit`: the next page for who has shown a page that ended with it,
  /// whatever others added or deleted meanwhile.
  /// - Throws: ``StoreError/Code/recordNotFound`` if it was deleted.
  /// - Complexity: as ``records(in:)``.
  public func records(after id: RecordID<Value>, limit: Int) async throws -> [StoredRecord<Value>] {
    try await asking { try stored(rows.page(.below, of: id.plain, limit: limit)) }
  }

  /// The records above another one, at most `limit`, in the table's order.
  /// - Throws: ``StoreError/Code/recordNotFound`` if it was deleted.
  /// - Complexity: as ``records(in:)``.
  public func records(before id: RecordID<Value>, limit: Int) async throws -> [StoredRecord<Value>] {
    try await asking { try stored(rows.page(.above, of: id.plain, limit: limit)) }
  }

  /// Runs `body` on the thread that asks the database.
  func asking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await rows.asking(body)
  }

  /// Records as readers get them.
  func stored(_ records: [EncodedRecord]) throws -> [StoredRecord<Value>] {
    try PagedEdit(of: name, TableState(counter: 0, records: records, schema: nil), in: store).records()
  }
}

extension RecordStore {
  /// A table that no machine holds, of a store that is shared through PostgreSQL. It need not exist yet: its first
  /// record makes it. From then on it stays paged, also once it was dropped.
  ///
  /// Of a table that every machine holds, this shows the records as the database has them, and refuses to write.
  /// - Throws: ``StoreError/Code/notAFolder`` for a store that is not shared through PostgreSQL;
  ///   ``StoreError/Code/invalidTableName``.
  // Else a literal name and a dictionary of one type would make a table of dictionaries.
  @_disfavoredOverload
  public func paged<Value>(_ name: TableName<Value>) throws -> PagedTable<Value> {
    guard let log = sharedLog as? PostgresLog else {
      throw StoreError(
        .notAFolder, "only a store that is shared through PostgreSQL has paged tables",
        file: url.absoluteString)
    }
    try TableNameRule.validate(name.text)
    return PagedTable(
      store: self, name: name,
      rows: PagedRows(log, TableKey(name.text), patience: options.lockTimeout))
  }

  /// The same, without a Swift type for its records: you read them field by field.
  public func paged(_ name: String) throws -> PagedTable<Fields> { try paged(.records(name)) }
}
