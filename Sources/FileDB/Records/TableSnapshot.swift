/// The rows of a table as they were at one moment, in order. Reading it takes no lock and no disk, and what is
/// committed later does not change it.
public struct TableSnapshot<Row: Codable & Sendable>: Sendable {
  /// The table's name.
  public let table: String
  let state: TableState

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
    let parts = Parts(of: count, leastLength: 2_048)
    return try [Row](unsafeUninitializedCapacity: count) { rows, decoded in
      // Safe: each thread writes the rows of its own part, and this one waits for all.
      nonisolated(unsafe) let rows = rows
      let ends = concurrentMap(parts.count) { part in
        decode(parts[part], into: UnsafeMutableBufferPointer(rebasing: rows[parts[part]]))
      }
      if let failure = ends.lazy.compactMap(\.failure).first {
        for (part, end) in ends.enumerated() { rows[parts[part]].prefix(end.count).deinitialize() }
        throw failure
      }
      decoded = count
    }
  }

  /// Decodes these rows in order, up to the first that does not fit.
  private func decode(
    _ rows: Range<Int>, into values: UnsafeMutableBufferPointer<Row>
  ) -> (count: Int, failure: (any Error)?) {
    var reader = RowReader<Row>()
    var records = state.records.makeIterator(from: rows.lowerBound)
    for offset in 0..<rows.count {
      guard let stored = records.next() else { preconditionFailure("a row is missing") }
      do {
        let row = try StoreError.naming(stored, in: table) { try reader.row(stored) }
        values.initializeElement(at: offset, to: row)
      } catch {
        return (offset, error)
      }
    }
    return (rows.count, nil)
  }
}

extension TableSnapshot: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { state.records.count }

  /// - Complexity: O(√*n*) at worst.
  public subscript(row: Int) -> StoredRow<Row> { StoredRow(stored: state.records[row], table: table) }

  public struct Iterator: IteratorProtocol {
    fileprivate var records: OrderedRecords.Iterator
    fileprivate let table: String

    public mutating func next() -> StoredRow<Row>? {
      records.next().map { StoredRow(stored: $0, table: table) }
    }
  }

  public func makeIterator() -> Iterator { Iterator(records: state.records.makeIterator(), table: table) }
}

/// A row of a snapshot: its id, its fields, and, when asked for, its value.
public struct StoredRow<Row: Codable & Sendable>: Sendable, Identifiable {
  let stored: StoredRecord
  let table: String

  public var id: RecordID { stored.id }
  /// The fields as they are stored, those that `Row` does not know included; decoded anew at each call.
  public var record: Record { stored.record }

  /// The row, decoded anew at each call.
  /// - Throws: ``StoreError/invalidRow`` with table, record and field where the fields do not fit the type.
  public var value: Row {
    get throws {
      var reader = RowReader<Row>()
      return try StoreError.naming(stored, in: table) { try reader.row(stored) }
    }
  }
}

extension StoreError {
  /// Runs `decode`, and says of which record it was where that fails.
  static func naming<Row>(_ stored: StoredRecord, in table: String, _ decode: () throws -> Row) throws -> Row
  {
    do {
      return try decode()
    } catch let error as DecodingError {
      throw StoreError(error, table: table, record: stored.id)
    }
  }

  /// This error with the table's name, where it has none yet.
  func adding(table: String) -> StoreError {
    var error = self
    if error.table == nil { error.table = table }
    return error
  }
}
