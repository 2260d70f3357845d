import FileDBEssentials
import FileDBPlist
import FileDBTables

/// The values of one field in some records. Each has a number that usually shows the order of two values at a glance.
package struct SortColumn: Sendable {
  private let key: SortKey
  private let glances: [Glance]
  /// May be empty if the glances are enough.
  private var values: [PlistValue?] = []
  private let tellsAll: Bool

  package init(_ key: SortKey, _ values: [PlistValue?]) {
    (self.key, self.values) = (key, values)
    glances = values.map { Glance($0, text: key.text) }
    tellsAll = glances.allSatisfy(\.isAll)
  }

  /// The values of a chunk.
  init(_ key: SortKey, _ records: [EncodedRecord], _ field: ChunkValues) {
    self.key = key
    glances = records.indices.map { Glance(field, $0, of: records[$0], text: key.text) }
    tellsAll = glances.allSatisfy(\.isAll)
    if !tellsAll { values = records.indices.map { field.value($0, of: records[$0]) } }
  }

  /// The values of several chunks, one after another.
  init(_ key: SortKey, joining parts: [SortColumn]) {
    self.key = key
    glances = parts.flatMap(\.glances)
    tellsAll = parts.allSatisfy(\.tellsAll)
    if !tellsAll { values = parts.flatMap(\.allValues) }
  }

  /// One value for each record.
  private var allValues: [PlistValue?] {
    values.isEmpty ? [PlistValue?](repeating: nil, count: glances.count) : values
  }

  /// -1, 0 or 1, as by ``SortKey/compare(_:_:)`` for the records at these indices.
  package func compare(_ left: Int, _ right: Int) -> Int {
    let (first, second) = (glances[left], glances[right])
    if first.rank == second.rank, first.prefix == second.prefix {
      return first.isAll && second.isAll ? 0 : key.compare(values[left], values[right])
    }
    let isLess = first.rank == second.rank ? first.prefix < second.prefix : first.rank < second.rank
    // Missing values come last in both directions.
    let isMissing = first.rank == Glance.missing || second.rank == Glance.missing
    return isLess == (key.order == .forward || isMissing) ? -1 : 1
  }
}

extension [SortColumn] {
  /// The indices of `count` records, sorted by these columns. The first column counts most.
  /// - Complexity: O(*n*) for numbers, dates and bools, otherwise O(*n* log *n*).
  func sortedIndices(count: Int) -> [Int] {
    // With fewer records, preparing this takes longer than comparing.
    if count >= 1_024, let sorted = sortedByDigits(count: count) { return sorted }
    // The standard library's sort is stable, but does not promise it. The index makes sure.
    return (0..<count).sorted { left, right in
      for column in self {
        let order = column.compare(left, right)
        if order != 0 { return order < 0 }
      }
      return left < right
    }
  }

  /// Sorts by one column after another, the last one first. Each sort keeps the order of equal values.
  private func sortedByDigits(count: Int) -> [Int]? {
    guard count <= UInt32.max, allSatisfy(\.hasOneRank) else { return nil }
    var order = (0..<UInt32(count)).map { DigitSort.Item(index: $0) }
    for column in reversed() { column.sort(&order) }
    return order.map { Int($0.index) }
  }
}

extension SortColumn {
  /// Whether the numbers alone give the order, apart from missing values.
  fileprivate var hasOneRank: Bool {
    guard tellsAll, let rank = glances.first(where: { $0.rank != Glance.missing })?.rank else {
      return tellsAll
    }
    return glances.allSatisfy { $0.rank == rank || $0.rank == Glance.missing }
  }

  fileprivate func sort(_ order: inout [DigitSort.Item]) {
    var missing: [DigitSort.Item] = []
    var present: [DigitSort.Item] = []
    present.reserveCapacity(order.count)
    for item in order {
      let glance = glances[Int(item.index)]
      if glance.rank == Glance.missing {
        missing.append(item)
      } else {
        present.append(
          DigitSort.Item(index: item.index, number: key.order == .forward ? glance.prefix : ~glance.prefix))
      }
    }
    DigitSort.sort(&present)
    order = present + missing
  }
}

/// Sorts by a number, eleven bits at a time, the lowest bits first.
private enum DigitSort {
  struct Item {
    let index: UInt32
    var number: UInt64 = 0
  }

  private static let bits = 11
  private static let digitCount = 6

  static func sort(_ items: inout [Item]) {
    guard items.count > 1 else { return }
    var counts = [Int](repeating: 0, count: digitCount << bits)
    for item in items {
      for digit in 0..<digitCount { counts[place(digit, item.number)] += 1 }
    }
    var other = items
    for digit in 0..<digitCount {
      // If all have the same digit, nothing moves.
      if counts[place(digit, items[0].number)] == items.count { continue }
      var start = 0
      for place in digit << bits..<(digit + 1) << bits {
        start += counts[place]
        counts[place] = start - counts[place]
      }
      for item in items {
        let place = place(digit, item.number)
        other[counts[place]] = item
        counts[place] += 1
      }
      swap(&items, &other)
    }
  }

  private static func place(_ digit: Int, _ number: UInt64) -> Int {
    digit << bits | Int(truncatingIfNeeded: number >> UInt64(bits * digit)) & (1 << bits - 1)
  }
}

/// A property list value, shortened to a number. If the numbers of two values of the same type differ, the value with
/// the lower number comes first.
private struct Glance {
  static let missing: UInt8 = .max

  let rank: UInt8
  private(set) var prefix: UInt64 = 0
  /// Whether values with the same number are equal.
  private(set) var isAll = false

  init(_ field: ChunkValues, _ index: Int, of record: EncodedRecord, text: TextOrder) {
    if text == .bytes, case .column(let column, _) = field, column.kind(index) == .text {
      self.init(text: record.withBytes(column.text(index)) { Self.prefix(of: $0) })
    } else {
      self.init(field.value(index, of: record), text: text)
    }
  }

  private init(text prefix: UInt64) { (rank, self.prefix) = (UInt8(ValueOrder.rank(.string(""))), prefix) }

  init(_ value: PlistValue?, text: TextOrder) {
    guard let value else {
      (rank, isAll) = (Self.missing, true)
      return
    }
    rank = UInt8(ValueOrder.rank(value))
    switch value {
    case .bool(let value): (prefix, isAll) = (value ? 1 : 0, true)
    case .integer(let number): (prefix, isAll) = (Self.ordered(Double(number)), number.magnitude < 1 << 53)
    case .unsigned(let number): prefix = Self.ordered(Double(number))
    case .real(let number): (prefix, isAll) = (Self.ordered(number), number.magnitude < 0x1p53)
    case .date(let date): (prefix, isAll) = (Self.ordered(date.timeIntervalSinceReferenceDate), true)
    case .string(let string) where text == .bytes: prefix = Self.prefix(of: string.utf8)
    default: break
    }
  }

  private static func prefix(of text: some Collection<UInt8>) -> UInt64 {
    var prefix: UInt64 = 0
    for byte in text.prefix(8) { prefix = prefix << 8 | UInt64(byte) }
    return prefix << UInt64(8 * (8 - min(8, text.count)))
  }

  /// The bits of doubles have the same order as the doubles, except for the sign and for nan, which comes last.
  private static func ordered(_ number: Double) -> UInt64 {
    if number.isNaN { return .max }
    let bits = (number + 0).bitPattern  // Turns -0 into 0.
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }
}
