import Synchronization

/// The indexes of a store's tables.
final class RowIndexes: Sendable {
  private let indexes = Mutex<[IndexName: any Sendable]>([:])

  func add<Row, Value>(_ property: RowProperty<Row, Value>, of table: TableKey) {
    let name = IndexName(property, of: table)
    let index = FieldIndex(property)
    indexes.withLock { if $0[name] == nil { $0[name] = index } }
  }

  func index<Row, Value>(
    by property: RowProperty<Row, Value>, of table: TableKey
  ) -> FieldIndex<Row, Value>? {
    let name = IndexName(property, of: table)
    return indexes.withLock { $0[name] } as? FieldIndex<Row, Value>
  }
}

/// A property of a row, optional or not.
struct RowProperty<Row: Codable & Sendable, Value: Hashable & Sendable>: Sendable {
  let path: AnyKeyPath & Sendable
  let value: @Sendable (Row) -> Value?

  init(_ path: KeyPath<Row, Value> & Sendable) {
    self.path = path
    value = { $0[keyPath: path] }
  }

  init(_ path: KeyPath<Row, Value?> & Sendable) {
    self.path = path
    value = { $0[keyPath: path] }
  }
}

private struct IndexName: Hashable, Sendable {
  let table: TableKey
  let path: AnyKeyPath & Sendable
  /// A path to an optional may be taken as one to its value, or as it is.
  let type: ObjectIdentifier

  init<Row, Value>(_ property: RowProperty<Row, Value>, of table: TableKey) {
    self.table = table
    path = property.path
    type = ObjectIdentifier(RowProperty<Row, Value>.self)
  }

  static func == (left: IndexName, right: IndexName) -> Bool {
    left.table == right.table && left.path as AnyKeyPath == right.path && left.type == right.type
  }

  func hash(into hasher: inout Hasher) {
    table.hash(into: &hasher)
    (path as AnyKeyPath).hash(into: &hasher)
  }
}

extension RecordTable {
  /// This table, whose rows are from now on found by the value at `path` without looking at each of them.
  ///
  /// ```swift
  /// let foods = try store.table(.foods).indexed(by: \.group).indexed(by: \.kcal)
  /// let dairy = try foods.snapshot.rows(where: \.group, equals: "Dairy")
  /// ```
  ///
  /// The store keeps the index, for whoever asks for this table, in memory until the store is gone: an id for each row,
  /// each value once, and the rows as the last question found them. The first question decodes all rows, each later one
  /// those that have changed since the one before. Answers are the same with an index and without.
  @discardableResult
  public func indexed<Value: Hashable & Sendable>(by path: KeyPath<Row, Value> & Sendable) -> RecordTable {
    source.indexes.add(RowProperty(path), of: TableKey(name.text))
    return self
  }

  /// This table, with an index of an optional value: a row that has none is found as well, by `nil`.
  @discardableResult
  public func indexed<Value: Hashable & Sendable>(by path: KeyPath<Row, Value?> & Sendable) -> RecordTable {
    source.indexes.add(RowProperty(path), of: TableKey(name.text))
    return self
  }
}

extension RecordTable {
  /// The rows of ``snapshot`` whose value at `path` equals `value`; see
  /// ``TableSnapshot/rows(where:equals:)-(KeyPath<Row,Value>,_)``.
  public func records<Value: Hashable & Sendable>(
    where path: KeyPath<Row, Value> & Sendable, equals value: Value
  ) throws -> [StoredRow<Row>] {
    try snapshot.rows(where: path, equals: value)
  }

  /// The same for a value that may be `nil`.
  public func records<Value: Hashable & Sendable>(
    where path: KeyPath<Row, Value?> & Sendable, equals value: Value?
  ) throws -> [StoredRow<Row>] {
    try snapshot.rows(where: path, equals: value)
  }

  /// The rows of ``snapshot`` whose value at `path` is in `range`; see
  /// ``TableSnapshot/rows(where:in:)-(KeyPath<Row,Value>,_)``.
  public func records<Value: Comparable & Hashable & Sendable>(
    where path: KeyPath<Row, Value> & Sendable, in range: some RangeExpression<Value>
  ) throws -> [StoredRow<Row>] {
    try snapshot.rows(where: path, in: range)
  }

  /// The same for a value that may be `nil`, which is in no range.
  public func records<Value: Comparable & Hashable & Sendable>(
    where path: KeyPath<Row, Value?> & Sendable, in range: some RangeExpression<Value>
  ) throws -> [StoredRow<Row>] {
    try snapshot.rows(where: path, in: range)
  }
}

extension TableSnapshot {
  /// The rows whose value at `path` equals `value`, in row order.
  ///
  /// - Throws: ``StoreError/invalidRow`` where a row of the table does not fit the type.
  /// - Complexity: O(*n*) without an index. With one (`RecordTable.indexed(by:)`), that of looking up
  ///   each row that is found and decoding each that has changed since the last question.
  public func rows<Value: Hashable & Sendable>(
    where path: KeyPath<Row, Value> & Sendable, equals value: Value
  ) throws -> [StoredRow<Row>] {
    try rows(where: RowProperty(path), equals: value)
  }

  /// The rows whose value at `path` equals `value`, or have none where that is `nil`, in row order.
  ///
  /// - Throws: ``StoreError/invalidRow`` where a row of the table does not fit the type.
  /// - Complexity: as for a value that is no optional.
  public func rows<Value: Hashable & Sendable>(
    where path: KeyPath<Row, Value?> & Sendable, equals value: Value?
  ) throws -> [StoredRow<Row>] {
    try rows(where: RowProperty(path), equals: value)
  }

  /// The rows whose value at `path` is in `range`, in row order.
  ///
  ///     let light = try foods.snapshot.rows(where: \.kcal, in: ..<100)
  ///
  /// - Throws: ``StoreError/invalidRow`` where a row of the table does not fit the type.
  /// - Complexity: as for the rows with one value; with an index, each value that is new since the last question also moves
  ///   those above it in an array.
  public func rows<Value: Comparable & Hashable & Sendable>(
    where path: KeyPath<Row, Value> & Sendable, in range: some RangeExpression<Value>
  ) throws -> [StoredRow<Row>] {
    try rows(where: RowProperty(path), in: range)
  }

  /// The rows whose value at `path` is in `range`, in row order; `nil` is in none.
  ///
  /// - Throws: ``StoreError/invalidRow`` where a row of the table does not fit the type.
  /// - Complexity: as for a value that is no optional.
  public func rows<Value: Comparable & Hashable & Sendable>(
    where path: KeyPath<Row, Value?> & Sendable, in range: some RangeExpression<Value>
  ) throws -> [StoredRow<Row>] {
    try rows(where: RowProperty(path), in: range)
  }

  private func rows<Value: Hashable & Sendable>(
    where property: RowProperty<Row, Value>, equals value: Value?
  ) throws -> [StoredRow<Row>] {
    guard let index = source.indexes.index(by: property, of: TableKey(table)) else {
      return try rows.filter { property.value($0) == value }
    }
    return try inRowOrder(index.ids(equal: value, in: self))
  }

  private func rows<Value: Comparable & Hashable & Sendable>(
    where property: RowProperty<Row, Value>, in range: some RangeExpression<Value>
  ) throws -> [StoredRow<Row>] {
    guard let bounds = ValueRange(range), let index = source.indexes.index(by: property, of: TableKey(table))
    else { return try rows.filter { row in property.value(row).map(range.contains) ?? false } }
    return try inRowOrder(index.ids(in: bounds, in: self))
  }

  private func inRowOrder(_ ids: [RecordID]) -> [StoredRow<Row>] {
    ids.compactMap(row(of:)).sorted().map { self[$0] }
  }
}
