/// A range of the standard library by its bounds, where it has some.
struct ValueRange<Value: Comparable & Sendable>: Sendable {
  enum Bound: Sendable {
    case including(Value)
    case excluding(Value)
  }

  private let lower: Value?
  private let upper: Bound?

  /// `nil` for a range that is none of the standard library's.
  init?(_ range: some RangeExpression<Value>) {
    switch range {
    case let range as ClosedRange<Value>: (lower, upper) = (range.lowerBound, .including(range.upperBound))
    case let range as Range<Value>: (lower, upper) = (range.lowerBound, .excluding(range.upperBound))
    case let range as PartialRangeFrom<Value>: (lower, upper) = (range.lowerBound, nil)
    case let range as PartialRangeThrough<Value>: (lower, upper) = (nil, .including(range.upperBound))
    case let range as PartialRangeUpTo<Value>: (lower, upper) = (nil, .excluding(range.upperBound))
    default: return nil
    }
  }

  /// Whether the range begins above `value`.
  func isAbove(_ value: Value) -> Bool { lower.map { value < $0 } ?? false }

  /// Whether the range ends below `value`.
  func isBelow(_ value: Value) -> Bool {
    switch upper {
    case nil: false
    case .including(let bound)?: bound < value
    case .excluding(let bound)?: bound <= value
    }
  }
}
