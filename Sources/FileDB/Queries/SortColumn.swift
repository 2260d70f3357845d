import FileDBPlist

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What all records have in one field, each with a number that mostly tells two of them apart at a glance.
package struct SortColumn: Sendable {
  private let key: SortKey
  private let values: [PlistValue?]
  private let glances: [Glance]

  package init(_ key: SortKey, _ values: [PlistValue?]) {
    self.key = key
    self.values = values
    glances = values.map { Glance($0, text: key.text) }
  }

  /// -1, 0 or 1: as ``SortKey/compare(_:_:)`` has it for the records at these indices.
  package func compare(_ left: Int, _ right: Int) -> Int {
    let (first, second) = (glances[left], glances[right])
    if first.rank == second.rank, first.prefix == second.prefix {
      return first.isAll && second.isAll ? 0 : key.compare(values[left], values[right])
    }
    let isLess = first.rank == second.rank ? first.prefix < second.prefix : first.rank < second.rank
    // What is missing comes last in either order.
    let isMissing = first.rank == Glance.missing || second.rank == Glance.missing
    return isLess == (key.order == .forward || isMissing) ? -1 : 1
  }
}

/// A property-list value cut down to what fits into a number: of two of one type that differ in it, the one with the
/// lower number comes first.
private struct Glance {
  static let missing: UInt8 = .max

  let rank: UInt8
  private(set) var prefix: UInt64 = 0
  /// Whether values that agree in it are equal.
  private(set) var isAll = false

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
    case .string(let string) where text == .bytes:
      for byte in string.utf8.prefix(8) { prefix = prefix << 8 | UInt64(byte) }
      prefix <<= UInt64(8 * (8 - min(8, string.utf8.count)))
    default: break
    }
  }

  /// Doubles have the order of their bits, but for the sign and for nan, which comes last.
  private static func ordered(_ number: Double) -> UInt64 {
    if number.isNaN { return .max }
    let bits = (number + 0).bitPattern  // One zero.
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }
}
