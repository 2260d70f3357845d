/// The rows of a table as they were at one moment, in order. Reading it takes no lock and no disk, and what is
/// committed later does not change it.
public struct TableSnapshot<Row: Codable & Sendable>: Sendable {
  let source: TableSource
  let state: TableState

  /// The table's name.
  public var table: String { source.table }

  /// Whether the table had a file at that moment.
  public var exists: Bool { state.exists }

  /// The highest id ever given in the table.
  public var counter: Int64 { state.counter }

  /// The ids in row order.
  public var ids: [RecordID] { state.records.ids }

  /// The row with this id; `nil` where there is none.
  /// - Complexity: O(√*n*) at worst; O(*n*) for the first look-up after the table was read.
  public subscript(id id: RecordID) -> StoredRow<Row>? {
    state.records.row(of: id).map { self[$0] }
  }

  /// The row number of the record with this id, from 0.
  /// - Complexity: O(√*n*) at worst; O(*n*) for the first look-up after the table was read.
  public func row(of id: RecordID) -> Int? { state.records.row(of: id) }

  /// The row with this id.
  /// - Throws: ``StoreError/recordNotFound``.
  public func row(with id: RecordID) throws -> StoredRow<Row> {
    do {
      return self[try state.row(of: id)]
    } catch {
      throw error.adding(table: table)
    }
  }

  /// All rows, decoded. Of a large table, several threads decode parts at the same time.
  /// - Throws: ``StoreError/invalidRow`` for the first row that does not fit the type.
  /// - Complexity: O(*n*).
  public func values() throws -> [Row] {
    let (values, failure) = decoded(0..<count)
    if let failure { throw failure }
    return values
  }

  /// The values of these rows, up to the first that does not fit the type. Of many, several threads decode parts at the same
  /// time.
  func decoded(_ range: Range<Int>) -> (values: [Row], failure: (any Error)?) {
    let parts = Parts(of: range.count, leastLength: 2_048)
    var failure: (any Error)?
    let values = [Row](unsafeUninitializedCapacity: range.count) { rows, count in
      // Safe: each thread writes the rows of its own part, and this one waits for all.
      nonisolated(unsafe) let rows = rows
      let ends = concurrentMap(parts.count) { part in
        decode(
          from: range.lowerBound + parts[part].lowerBound,
          into: UnsafeMutableBufferPointer(rebasing: rows[parts[part]]))
      }
      let last = ends.firstIndex { $0.failure != nil } ?? ends.count - 1
      for part in parts.indices.dropFirst(last + 1) {
        rows[parts[part]].prefix(ends[part].count).deinitialize()
      }
      failure = ends[last].failure
      count = parts[last].lowerBound + ends[last].count
    }
    return (values, failure)
  }

  /// Decodes as many rows as there is room for, in order, up to the first that does not fit.
  private func decode(
    from row: Int, into values: UnsafeMutableBufferPointer<Row>
  ) -> (count: Int, failure: (any Error)?) {
    var reader = RowReader<Row>()
    var records = state.records.makeIterator(from: row)
    for offset in values.indices {
      guard let stored = records.next() else { preconditionFailure("a row is missing") }
      do {
        let row = try StoreError.naming(stored, of: source) { try reader.row(stored) }
        values.initializeElement(at: offset, to: row)
      } catch {
        return (offset, error)
      }
    }
    return (values.count, nil)
  }
}

extension TableSnapshot: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { state.records.count }

  /// - Complexity: O(√*n*) at worst.
  public subscript(row: Int) -> StoredRow<Row> { StoredRow(stored: state.records[row], source: source) }

  public struct Iterator: IteratorProtocol {
    fileprivate var records: OrderedRecords.Iterator
    fileprivate let source: TableSource

    public mutating func next() -> StoredRow<Row>? {
      records.next().map { StoredRow(stored: $0, source: source) }
    }
  }

  /// Begins at `row` instead of the first one.
  func makeIterator(from row: Int) -> Iterator {
    Iterator(records: state.records.makeIterator(from: row), source: source)
  }

  public func makeIterator() -> Iterator { Iterator(records: state.records.makeIterator(), source: source) }
}

/// A row of a snapshot: its id, its fields, and, when asked for, its value.
public struct StoredRow<Row: Codable & Sendable>: Sendable, Identifiable {
  let stored: StoredRecord
  let source: TableSource

  public var id: RecordID { stored.id }
  /// The fields as they are stored, those that `Row` does not know included; decoded anew at each call.
  public var record: Record { stored.record }

  /// The row, decoded anew at each call.
  /// - Throws: ``StoreError/invalidRow`` where the fields do not fit the type, with table, record and field, and with the
  ///   line of the file where that has the record as it is here; for a ``VersionedRow``, ``StoreError/newerRow`` and
  ///   ``StoreError/migrationFailed``.
  public var value: Row {
    get throws {
      var reader = RowReader<Row>()
      return try StoreError.naming(stored, of: source) { try reader.row(stored) }
    }
  }
  /// The row with its record as of the newest version of `Row`.
  var migrated: StoredRow {
    get throws {
      guard let migrations = RowMigrations(Row.self) else { return self }
      let current = try StoreError.naming(stored, of: source) { try migrations.migrated(stored) }
      return StoredRow(stored: current, source: source)
    }
  }
}
