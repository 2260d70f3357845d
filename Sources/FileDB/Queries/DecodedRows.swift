/// The rows of a snapshot for questions in plain Swift: each closure is given decoded rows, one after the other.
///
/// ```swift
/// let open = try notes.snapshot.rows.filter { !$0.isDone }   // [StoredRow<Note>]: the ids are still there
/// let next = try notes.snapshot.rows.first { !$0.isDone }
/// let titles = try notes.snapshot.rows.map(\.title)
/// ```
///
/// What looks at all rows has them decoded by all cores, some thousands at a time; what may end before decodes a row when its
/// turn comes, and none after the last one that is needed. The verbs throw ``StoreError/invalidRow`` for a row that does not
/// fit the type, and what the closure throws; those before were given to it.
public struct DecodedRows<Row: Codable & Sendable>: Sendable {
  let snapshot: TableSnapshot<Row>

  /// The rows that `isIncluded`, in row order.
  /// - Complexity: O(*n*).
  public func filter(_ isIncluded: (Row) throws -> Bool) throws -> [StoredRow<Row>] {
    var rows: [StoredRow<Row>] = []
    try forEach { if try isIncluded($1) { rows.append($0) } }
    return rows
  }

  /// The first row of which `predicate` is true.
  /// - Complexity: O(*n*) up to this row.
  public func first(where predicate: (Row) throws -> Bool) throws -> StoredRow<Row>? {
    try search { try predicate($1) }
  }

  /// Whether `predicate` is true of a row.
  /// - Complexity: O(*n*) up to the first such row.
  public func contains(where predicate: (Row) throws -> Bool) throws -> Bool {
    try first(where: predicate) != nil
  }

  /// How many rows `predicate` is true of.
  /// - Complexity: O(*n*).
  public func count(where predicate: (Row) throws -> Bool) throws -> Int {
    try reduce(into: 0) { if try predicate($1) { $0 += 1 } }
  }

  /// What `transform` makes of each row, in row order. For the rows themselves, ``TableSnapshot/values()`` is faster.
  /// - Complexity: O(*n*).
  public func map<Result>(_ transform: (Row) throws -> Result) throws -> [Result] {
    try reduce(into: []) { $0.append(try transform($1)) }
  }

  /// What `transform` makes of each row, in row order, without `nil`.
  /// - Complexity: O(*n*).
  public func compactMap<Result>(_ transform: (Row) throws -> Result?) throws -> [Result] {
    try reduce(into: []) { results, row in if let result = try transform(row) { results.append(result) } }
  }

  /// What `update` has made of `initial` after the last row.
  /// - Complexity: O(*n*).
  public func reduce<Result>(
    into initial: Result, _ update: (inout Result, Row) throws -> Void
  ) throws -> Result {
    var result = initial
    try forEach { try update(&result, $1) }
    return result
  }

  /// The first of the rows with the least value; rows with `nil` or `nan` do not count.
  /// - Complexity: O(*n*).
  public func min<Value: Comparable>(by value: (Row) throws -> Value?) throws -> StoredRow<Row>? {
    try best(by: value) { $0 < $1 }
  }

  /// The first of the rows with the greatest value; rows with `nil` or `nan` do not count.
  /// - Complexity: O(*n*).
  public func max<Value: Comparable>(by value: (Row) throws -> Value?) throws -> StoredRow<Row>? {
    try best(by: value) { $1 < $0 }
  }

  private func best<Value: Comparable>(
    by value: (Row) throws -> Value?, isBetter: (Value, Value) -> Bool
  ) throws -> StoredRow<Row>? {
    var best: (row: StoredRow<Row>, value: Value)?
    try forEach { stored, row in
      guard let value = try value(row), value == value else { return }
      if let best, !isBetter(value, best.value) { return }
      best = (stored, value)
    }
    return best?.row
  }

  private func forEach(_ body: (StoredRow<Row>, Row) throws -> Void) throws {
    for start in stride(from: 0, to: snapshot.count, by: Self.blockLength) {
      let end = Swift.min(start + Self.blockLength, snapshot.count)
      let (values, failure) = snapshot.decoded(start..<end)
      var rows = snapshot.makeIterator(from: start)
      for value in values { if let row = rows.next() { try body(row, value) } }
      if let failure { throw failure }
    }
  }

  /// Enough for each core to be worth its while, and few enough not to be in anybody's way.
  private static var blockLength: Int { 8_192 }

  /// The row at which `isFound` ends the search.
  private func search(_ isFound: (StoredRow<Row>, Row) throws -> Bool) throws -> StoredRow<Row>? {
    var reader = RowReader<Row>()
    for row in snapshot {
      let value = try StoreError.naming(row.stored, of: row.source) { try reader.row(row.stored) }
      if try isFound(row, value) { return row }
    }
    return nil
  }
}

extension TableSnapshot {
  /// The rows, decoded one after the other, to be filtered, searched or counted.
  public var rows: DecodedRows<Row> { DecodedRows(snapshot: self) }
}
