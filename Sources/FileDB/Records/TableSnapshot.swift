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
  public func values() throws -> [Row] {
    let parts = Parts(of: count, leastLength: 2_048)
    if parts.count == 1 { return try values(of: parts[0]) }
    let decoded = parts.concurrentMap { rows in Result { try self.values(of: rows) } }
    var values: [Row] = []
    values.reserveCapacity(count)
    for part in decoded { values += try part.get() }
    return values
  }

  private func values(of rows: Range<Int>) throws -> [Row] {
    var values: [Row] = []
    values.reserveCapacity(rows.count)
    var reader = RowReader<Row>()
    var records = state.records.makeIterator(from: rows.lowerBound)
    while values.count < rows.count, let stored = records.next() {
      values.append(try StoreError.naming(stored, in: table) { try reader.row(stored) })
    }
    return values
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
