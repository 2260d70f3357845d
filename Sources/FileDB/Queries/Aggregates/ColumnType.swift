import FileDBEssentials
import FileDBPlist

/// A type whose values can be added and compared in the form of property list values.
protocol ColumnType {
  /// Whether each of `count` records has a value of this type in the field, so that nothing need be decoded.
  static func fits(_ summary: FieldSummary, count: Int) -> Bool
}

extension ColumnType where Self: FixedWidthInteger {
  static func fits(_ summary: FieldSummary, count: Int) -> Bool {
    func isInRange(_ bound: PlistValue?) -> Bool {
      bound?.wholeNumber.map { Self(exactly: $0) != nil } ?? (count == 0)
    }
    return summary.integerCount == count && summary.count == count && isInRange(summary.minimum)
      && isInRange(summary.maximum)
  }
}

extension Double: ColumnType {
  static func fits(_ summary: FieldSummary, count: Int) -> Bool {
    func isExact(_ bound: PlistValue?) -> Bool {
      switch bound {
      case .integer(let number)?: number.magnitude <= 1 << 53
      case .real(let number)?: number.magnitude <= 0x1p53
      default: false
      }
    }
    guard summary.numberCount == count, summary.count == count else { return false }
    // Integers count as reals, too, if a real can hold them exactly.
    return summary.integerCount == 0 || isExact(summary.minimum) && isExact(summary.maximum)
  }
}

extension Date: ColumnType {
  static func fits(_ summary: FieldSummary, count: Int) -> Bool {
    summary.dateCount == count && summary.count == count
  }
}

extension Optional: ColumnType where Wrapped: ColumnType {
  static func fits(_ summary: FieldSummary, count: Int) -> Bool {
    Wrapped.fits(summary, count: summary.count)
  }
}
