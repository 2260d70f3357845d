import FileDBPlist

/// The single order for property list values of all types.
package enum ValueOrder {
  /// -1, 0 or 1. Text is compared by its UTF-8 bytes, and `nan` comes after all other numbers.
  package static func compare(_ left: PlistValue, _ right: PlistValue) -> Int {
    switch (left, right) {
    case (.bool(let a), .bool(let b)): a == b ? 0 : (b ? -1 : 1)
    case (.integer(let a), .integer(let b)): sign(a, b)
    case (.unsigned(let a), .unsigned(let b)): sign(a, b)
    case (.real(let a), .real(let b)): compare(a, b)
    case (.integer(let a), .unsigned(let b)): a < 0 ? -1 : sign(UInt64(a), b)
    case (.unsigned(let a), .integer(let b)): b < 0 ? 1 : sign(a, UInt64(b))
    case (.integer(let a), .real(let b)): compare(a, b)
    case (.real(let a), .integer(let b)): -compare(b, a)
    case (.unsigned(let a), .real(let b)): compare(a, b)
    case (.real(let a), .unsigned(let b)): -compare(b, a)
    case (.date(let a), .date(let b)): sign(a, b)
    case (.string(let a), .string(let b)): compareUTF8(a, b).signum()
    case (.data(let a), .data(let b)): a.elementsEqual(b) ? 0 : (a.lexicographicallyPrecedes(b) ? -1 : 1)
    default: sign(rank(left), rank(right))
    }
  }

  /// The same for two values that are comparable: both numbers, dates, texts, bools or data. Otherwise `nil`.
  package static func compareAlike(_ left: PlistValue, _ right: PlistValue) -> Int? {
    let rank = rank(left)
    return rank == self.rank(right) && rank < self.rank(.array([])) ? compare(left, right) : nil
  }

  package static func rank(_ value: PlistValue) -> Int {
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

  /// Compares exactly. Converting the integer to a double would round it.
  private static func compare(_ a: some BinaryInteger, _ b: Double) -> Int {
    if b.isNaN || b == .infinity { return -1 }
    if b == -.infinity { return 1 }
    // Swift compares an integer and a floating-point number exactly only through a wider type.
    let whole = b.rounded(.down)
    guard let floor = Int128(exactly: whole) else { return b > 0 ? -1 : 1 }
    let result = sign(Int128(a), floor)
    return result == 0 && whole < b ? -1 : result
  }
}
