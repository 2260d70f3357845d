import FileDBPlist
import FileDBTables

/// A summary of one field in many records: how many records have it, the sum and the average of its numbers, and its
/// least and greatest value.
///
///     let year = try media.snapshot().summary(of: "year")
///     print(year.count - year.numberCount, "records have something else than a number there")
///
/// Only integers and reals are numbers. Strings of digits, bools and dates are not. The sum and the average leave out
/// whatever is not a number.
public struct FieldSummary: Sendable {
  /// The number of records that have the field.
  public private(set) var count = 0
  /// The number of records that have a number in the field.
  public var numberCount: Int { integerCount + realCount }
  /// The least value; `nil` if there is no value. Values of different types have the order of ``SortKey``. Arrays,
  /// dictionaries and `nan` do not count.
  public private(set) var minimum: PlistValue?
  /// The greatest value; `nil` if there is no value. Otherwise as ``minimum``.
  public private(set) var maximum: PlistValue?

  private(set) var integerCount = 0
  private(set) var realCount = 0
  private(set) var dateCount = 0
  private var integers: Int128 = 0
  private var reals = ExactSum()

  /// The summary of no records.
  package init() {}

  /// The sum of the numbers: 0 if there are no numbers, an integer if all numbers are integers, and otherwise a real.
  ///
  /// The sum is exact: integers never wrap around, and the sum of reals is rounded once, so it does not depend on their
  /// order. If one of the numbers is `nan`, the sum is `nan`. If the reals exceed the largest real while they are added
  /// up, the sum is infinite.
  /// - Throws: ``StoreError/Code/unrepresentableValue`` if the numbers are integers and their sum is not between -2⁶³
  ///   and 2⁶⁴-1.
  /// - Complexity: O(1).
  public func sum() throws(StoreError) -> PlistValue {
    if realCount > 0 { return .real(realSum) }
    guard let sum = PlistValue(whole: integers) else {
      throw StoreError(.unrepresentableValue, "the sum \(integers) is too large for an integer")
    }
    return sum
  }

  /// The average of the numbers; `nil` if there are no numbers. The sum of integers cannot overflow.
  /// - Complexity: O(1).
  public var average: Double? {
    numberCount == 0 ? nil : realSum / Double(numberCount)
  }

  private var realSum: Double {
    var sum = reals
    sum.add(integers)
    return sum.value
  }
}

extension FieldSummary {
  package mutating func add(_ value: PlistValue?) {
    guard let value else { return }
    switch value {
    case .integer(let number): add(number)
    case .unsigned(let number):
      count += 1
      integerCount += 1
      integers += Int128(number)
      extend(to: value)
    case .real(let number): add(number)
    case .bool, .date, .string, .data:
      count += 1
      if value.date != nil { dateCount += 1 }
      extend(to: value)
    case .array, .dict: count += 1
    }
  }

  private mutating func add(_ number: Int64) {
    count += 1
    integerCount += 1
    integers += Int128(number)
    if case .integer(let least)? = minimum, case .integer(let greatest)? = maximum {
      if number < least { minimum = .integer(number) }
      if number > greatest { maximum = .integer(number) }
    } else {
      extend(to: .integer(number))
    }
  }

  private mutating func add(_ number: Double) {
    count += 1
    realCount += 1
    reals.add(number)
    if number.isNaN { return }
    if case .real(let least)? = minimum, case .real(let greatest)? = maximum {
      if number < least { minimum = .real(number) }
      if number > greatest { maximum = .real(number) }
    } else {
      extend(to: .real(number))
    }
  }

  /// Adds a string. Makes a `String` only if it becomes the least or the greatest.
  private mutating func add(text: UnsafeBufferPointer<UInt8>) {
    count += 1
    func order(_ bound: PlistValue?) -> Int? {
      guard case .string(let bound)? = bound else { return nil }
      return bound.utf8.withContiguousStorageIfAvailable { text.order($0) }
    }
    if let low = order(minimum), let high = order(maximum), low >= 0, high <= 0 { return }
    extend(to: .string(String(decoding: text, as: UTF8.self)))
  }

  private mutating func extend(to value: PlistValue) {
    if minimum.map({ ValueOrder.compare(value, $0) < 0 }) ?? true { minimum = value }
    if maximum.map({ ValueOrder.compare(value, $0) > 0 }) ?? true { maximum = value }
  }

  /// Adds the value of a record in a chunk.
  mutating func add(_ values: ChunkValues, _ index: Int, of record: EncodedRecord) {
    guard case .column(let column, _) = values else { return add(values.value(index, of: record)) }
    switch column.kind(index) {
    case .missing: break
    case .integer: add(column.integer(index))
    case .real: add(column.real(index))
    case .text: record.withBytes(column.text(index)) { add(text: $0) }
    case .false, .true, .date, .other: add(values.value(index, of: record))
    }
  }

  /// Adds the values of other records.
  mutating func add(_ other: FieldSummary) {
    count += other.count
    integerCount += other.integerCount
    realCount += other.realCount
    dateCount += other.dateCount
    integers += other.integers
    if other.realCount > 0 { reals.add(other.reals) }
    if let least = other.minimum { extend(to: least) }
    if let greatest = other.maximum { extend(to: greatest) }
  }
}
