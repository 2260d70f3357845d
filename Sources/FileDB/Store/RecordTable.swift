import FileDBEssentials

/// A table of a store.
///
/// Each method that changes the table is a transaction of its own. Inside a `RecordStore.write(_:)` on the same thread,
/// it is part of that transaction instead, even if you got the table elsewhere. Besides the errors that its
/// documentation names, such a method throws those of `RecordStore.write(_:)`.
/// - Complexity: changing one record costs nearly the same in a table of any size; see <doc:Performance>. The first
///   search for an id after the table was read is O(*n*).
public struct RecordTable<Value: Codable & Sendable>: Sendable {
  /// The store that the table belongs to.
  public let store: RecordStore
  /// The table's name.
  public let name: TableName<Value>
  let source: TableSource

  init(store: RecordStore, name: TableName<Value>) {
    self.store = store
    self.name = name
    source = TableSource(table: name.text, in: store.source)
  }

  /// The newest records. They include every commit that returned before, in this process or another, and what other
  /// programs saved to the table's file. Inside a `RecordStore.write(_:)` on this thread, they include its changes so
  /// far.
  ///
  /// It waits for no writer.
  /// - Throws: as `RecordStore.table(_:)`.
  /// - Complexity: O(1) if nothing has changed: it looks at the end of the journal and at the file's time and size.
  ///   Otherwise as `RecordStore.refresh()`, for this table.
  public func snapshot() throws -> TableSnapshot<Value> {
    let key = TableKey(name.text)
    let transaction = store.writers.currentTransaction
    let state = if let transaction { try transaction.table(name.text) } else { try store.current(key) }
    return TableSnapshot(source: source, state: state)
  }

  /// The records as this process last committed or read them. Inside a `RecordStore.write(_:)` on this thread,
  /// they include its changes so far.
  ///
  /// It never looks at the disk and never fails, so you can use it to draw a list. What other processes have written
  /// since is missing; see ``snapshot()``.
  /// - Complexity: O(1).
  public var lastSnapshot: TableSnapshot<Value> {
    // `RecordStore.table` has read the table, and tables are never removed from memory.
    let key = TableKey(name.text)
    let state = store.writers.currentTransaction?.touched[key]?.table.now ?? store.seen[key]
    return TableSnapshot(source: source, state: state)
  }

  /// Whether the table exists. Its first record creates it.
  /// - Throws: as ``snapshot()``.
  public var exists: Bool { get throws { try snapshot().exists } }

  /// The number of records.
  /// - Throws: as ``snapshot()``.
  public var count: Int { get throws { try snapshot().count } }

  /// The highest id that the table has ever given.
  /// - Throws: as ``snapshot()``.
  public var counter: Int64 { get throws { try snapshot().counter } }

  /// The number of commits that are in the journal but not yet in the table's file. A checkpoint writes them into the
  /// file.
  /// - Throws: as ``snapshot()``.
  public var commitsBehind: Int {
    get throws {
      _ = try snapshot()
      return store.files?.commitCount(missingIn: TableKey(name.text)) ?? 0
    }
  }

  /// The table's file.
  /// - Throws: as ``RecordStore/url(of:)``.
  public var url: URL { get throws { try store.url(of: name.text) } }

  /// Whether there is a record with this id; see ``TableSnapshot/contains(_:)``.
  /// - Throws: as ``snapshot()``.
  public func contains(_ id: RecordID<Value>) throws -> Bool { try snapshot().contains(id) }

  /// The record with this id; see ``TableSnapshot/record(with:)``.
  /// - Throws: ``StoreError/Code/recordNotFound``, and as ``snapshot()``.
  public func record(with id: RecordID<Value>) throws -> StoredRecord<Value> {
    try snapshot().record(with: id)
  }

  /// The value of the record with this id; see ``TableSnapshot/value(of:)``.
  /// - Throws: ``StoreError/Code/recordNotFound``, as ``StoredRecord/value``, and as ``snapshot()``.
  public func value(of id: RecordID<Value>) throws -> Value { try snapshot().value(of: id) }

  /// The values of all records; see ``TableSnapshot/values()``.
  /// - Throws: as ``snapshot()``.
  public func values() throws -> DecodedValues<Value> { try snapshot().values() }
}
