import FileDB
import FileDBEssentials
import FileDBTables

/// A table that exists only in the database of a shared store. No machine has a copy, and each call asks the database.
///
///     let events = try store.paged(.events)
///     try await events.add(Event(kind: "login"))
///     let page = try await events.records(in: 5_000_000..<5_000_020)
///
/// Use it for tables that are too large for the disk and memory of every machine. No folder has a file for it, and
/// `RecordStore.table(_:)` shows it as empty. See <doc:Cluster>.
///
/// Each method runs on a thread of the store. Without a connection, it throws ``StoreError/Code/unreachable``.
public struct PagedTable<Value: Codable & Sendable>: Sendable {
  /// The store that the table belongs to.
  public let store: RecordStore
  /// The table's name.
  public let name: TableName<Value>
  let rows: PagedRows

  /// The number of records; 0 if the table does not exist.
  public func count() async throws -> Int { try await asking { try rows.table()?.count ?? 0 } }

  /// The highest id ever used; 0 if there was none.
  public func counter() async throws -> Int64 { try await asking { try rows.table()?.counter ?? 0 } }

  /// The record with this id.
  /// - Throws: ``StoreError/Code/recordNotFound``.
  /// - Complexity: nearly independent of the table's size; one request.
  public func record(with id: RecordID<Value>) async throws -> StoredRecord<Value> {
    try await asking { try stored([rows.record(with: id.plain)])[0] }
  }

  /// The record at this index.
  /// - Throws: ``StoreError/Code/indexOutOfRange``.
  /// - Complexity: as ``records(in:)``.
  public func record(at index: Int) async throws -> StoredRecord<Value> {
    try await asking {
      guard index < .max, let record = try stored(rows.page(index..<index + 1)).first else {
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

  /// A page: the records at these indices, all read at the same moment. Indices after the last record are ignored.
  /// - Complexity: O(*k*) for a page of *k* records, at any index; one request.
  public func records(in indices: Range<Int>) async throws -> [StoredRecord<Value>] {
    try await asking { try stored(rows.page(indices)) }
  }

  /// At most `limit` records below another one.
  ///
  /// Use it for the next page, with the last record of the page before. So you miss no record and see none twice, even
  /// if others add or delete records in the meantime.
  /// - Throws: ``StoreError/Code/recordNotFound`` if it was deleted.
  /// - Complexity: as ``records(in:)``.
  public func records(after id: RecordID<Value>, limit: Int) async throws -> [StoredRecord<Value>] {
    try await asking { try stored(rows.page(.below, of: id.plain, limit: limit)) }
  }

  /// At most `limit` records above another one, in the table's order.
  /// - Throws: ``StoreError/Code/recordNotFound`` if it was deleted.
  /// - Complexity: as ``records(in:)``.
  public func records(before id: RecordID<Value>, limit: Int) async throws -> [StoredRecord<Value>] {
    try await asking { try stored(rows.page(.above, of: id.plain, limit: limit)) }
  }

  /// Runs `body` on the thread that asks the database.
  func asking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await rows.asking(body)
  }

  /// The records, decoded.
  func stored(_ records: [EncodedRecord]) throws -> [StoredRecord<Value>] {
    try PagedEdit(of: name, TableState(counter: 0, records: records, schema: nil), in: store).records()
  }
}

extension RecordStore {
  /// A paged table of a store that is shared through PostgreSQL. It does not have to exist yet: the first record
  /// creates it. From then on it is paged forever, even after it was dropped.
  ///
  /// If the table exists and is not paged, you can read the database's records with this, but writing throws an error.
  /// - Throws: ``StoreError/Code/notAFolder`` for a store that is not shared through PostgreSQL;
  ///   ``StoreError/Code/invalidTableName``.
  // Without this attribute, a literal name and a dictionary of one type would make a table of dictionaries.
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
