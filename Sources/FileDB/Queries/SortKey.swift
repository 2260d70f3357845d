import FileDBPlist
import Foundation

/// A field to sort records by.
///
///     try food.sort(by: [.ascending("group"), .descending("kcal"), .ascending("name", text: .localized)])
///
/// Values of different types are ordered by type: `bool` (false first), numbers (integers and reals by their value,
/// `nan` last among them), dates, strings, data (by bytes, the shorter first where one begins the other), arrays and
/// dicts (each as large as any other). A record without the field comes last, in descending order too. Records that are
/// equal in every key stay as they were.
public struct SortKey: Hashable, Sendable {
  /// How strings are compared.
  public enum TextOrder: Hashable, Sendable {
    /// By their UTF-8 bytes: capitals before small letters, `item 10` before `item 2`, the same everywhere.
    case bytes
    /// As a person of the current locale expects: letters before their case, numbers by value, as the Finder does.
    case localized
  }

  public let field: String
  public let order: SortOrder
  public let text: TextOrder

  public static func ascending(_ field: String, text: TextOrder = .bytes) -> SortKey {
    SortKey(field: field, order: .forward, text: text)
  }

  public static func descending(_ field: String, text: TextOrder = .bytes) -> SortKey {
    SortKey(field: field, order: .reverse, text: text)
  }
}

extension SortKey {
  /// -1, 0 or 1: whether a record with the value `left` comes before one with `right`.
  package func compare(_ left: PlistValue?, _ right: PlistValue?) -> Int {
    switch (left, right) {
    case (nil, nil): return 0
    case (nil, _): return 1
    case (_, nil): return -1
    case (let left?, let right?):
      let result = ValueOrder.compare(left, right, text: text)
      return order == .forward ? result : -result
    }
  }
}

/// The one order over values of every type.
enum ValueOrder {
  static func compare(_ left: PlistValue, _ right: PlistValue, text: SortKey.TextOrder) -> Int {
    switch (left, right) {
    case (.bool(let a), .bool(let b)): a == b ? 0 : (b ? -1 : 1)
    case (.integer(let a), .integer(let b)): sign(a, b)
    case (.unsigned(let a), .unsigned(let b)): sign(a, b)
    case (.real(let a), .real(let b)): compare(a, b)
    case (.integer, .unsigned): -1
    case (.unsigned, .integer): 1
    case (.integer(let a), .real(let b)): compare(a, b)
    case (.real(let a), .integer(let b)): -compare(b, a)
    case (.unsigned(let a), .real(let b)): compare(a, b)
    case (.real(let a), .unsigned(let b)): -compare(b, a)
    case (.date(let a), .date(let b)): sign(a, b)
    case (.string(let a), .string(let b)): compare(a, b, text)
    case (.data(let a), .data(let b)): a.elementsEqual(b) ? 0 : (a.lexicographicallyPrecedes(b) ? -1 : 1)
    default: sign(rank(left), rank(right))
    }
  }

  static func rank(_ value: PlistValue) -> Int {
    switch value {
    case .bool: 0
    case .integer, .unsigned, .real: 1
    case .date: 2
    case .string: 3
    case .data: 4
    case .array: 5
    case .dict: 6
    }
  }

  private static func sign<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : (a == b ? 0 : 1) }

  private static func compare(_ a: Double, _ b: Double) -> Int {
    if a.isNaN || b.isNaN { return sign(a.isNaN ? 1 : 0, b.isNaN ? 1 : 0) }
    return sign(a, b)
  }

  /// Exact, where turning the integer into a double would round it.
  private static func compare(_ a: some BinaryInteger, _ b: Double) -> Int {
    if b.isNaN || b == .infinity { return -1 }
    if b == -.infinity { return 1 }
    // Swift compares an integer and a floating-point number exactly only by way of a wider type.
    let whole = b.rounded(.down)
    guard let floor = Int128(exactly: whole) else { return b > 0 ? -1 : 1 }
    let result = sign(Int128(a), floor)
    return result == 0 && whole < b ? -1 : result
  }

  private static func compare(_ a: String, _ b: String, _ text: SortKey.TextOrder) -> Int {
    switch text {
    case .bytes: compareUTF8(a, b).signum()
    case .localized: a.localizedStandardCompare(b).rawValue
    }
  }
}

extension TableSnapshot {
  /// The rows in the order of `keys`, as a view: the table stays as it is.
  /// - Complexity: O(*n* log *n*).
  public func sorted(by keys: [SortKey]) -> [StoredRow<Row>] { sortedRows(by: keys).map { self[$0] } }

  /// The rows in the order of a value of each, as a view; a row whose value is `nil` or `nan` comes last, in
  /// reverse order too.
  ///
  ///     for row in try notes.snapshot.sorted(by: \.title) { print(try row.value.title) }
  ///
  /// - Throws: ``StoreError/invalidRow`` where a row does not fit the type.
  /// - Complexity: O(*n* log *n*); each row is decoded once.
  public func sorted<Value: Comparable>(
    by value: (Row) -> Value?, order: SortOrder = .forward
  ) throws -> [StoredRow<Row>] {
    try sortedRows(by: value, order: order).map { self[$0] }
  }

  func sortedRows(by keys: [SortKey]) -> [Int] {
    let columns = columns(of: keys)
    // The standard library's sort is stable in fact but not by promise; the row settles it.
    return indices.sorted { left, right in
      for column in columns {
        let order = column.compare(left, right)
        if order != 0 { return order < 0 }
      }
      return left < right
    }
  }

  private func columns(of keys: [SortKey]) -> [SortColumn] {
    let parts = Parts(of: count, leastLength: 2_048)
    let values = concurrentMap(parts.count) { part in
      var values = [[PlistValue?]](repeating: [], count: keys.count)
      let fields = RecordFields()
      var records = state.records.makeIterator(from: parts[part].lowerBound)
      for _ in parts[part] {
        guard let stored = records.next() else { break }
        fields.read(stored) {
          for (column, key) in keys.enumerated() { values[column].append(fields[key.field]) }
        }
      }
      return values
    }
    return keys.indices.map { column in SortColumn(keys[column], values.flatMap { $0[column] }) }
  }

  func sortedRows<Value: Comparable>(by value: (Row) -> Value?, order: SortOrder) throws -> [Int] {
    // A value that does not equal itself, nan, has no place in any order; it counts as missing.
    var reader = RowReader<Row>()
    let values = try state.records.map { stored in
      let row = try StoreError.naming(stored, of: source) { try reader.row(stored) }
      return value(row).flatMap { $0 == $0 ? $0 : nil }
    }
    return values.indices.sorted { left, right in
      switch (values[left], values[right]) {
      case (nil, nil): return left < right
      case (nil, _): return false
      case (_, nil): return true
      case (let a?, let b?):
        if a < b { return order == .forward }
        if b < a { return order == .reverse }
        return left < right
      }
    }
  }
}

extension StoreTransaction {
  /// Puts the table's records into the order of `keys`, to stay.
  /// - Complexity: O(*n* log *n*).
  public mutating func sort<Row>(_ table: TableName<Row>, by keys: [SortKey]) throws {
    let snapshot = try snapshot(of: table)
    try reorder(snapshot, into: snapshot.sortedRows(by: keys))
  }

  /// Puts the table's records into the order of a value of each row, to stay; see
  /// ``TableSnapshot/sorted(by:order:)``.
  public mutating func sort<Row, Value: Comparable>(
    _ table: TableName<Row>, by value: (Row) -> Value?, order: SortOrder = .forward
  ) throws {
    let snapshot = try snapshot(of: table)
    try reorder(snapshot, into: snapshot.sortedRows(by: value, order: order))
  }

  private mutating func reorder<Row>(_ snapshot: TableSnapshot<Row>, into rows: [Int]) throws {
    guard snapshot.exists else {
      throw StoreError(StoreError.tableNotFound, "there is no such table", table: snapshot.table)
    }
    if rows.elementsEqual(snapshot.indices) { return }
    try state.apply(.reorder(rows.map { snapshot.state.records[$0].id }), to: snapshot.table)
  }
}
