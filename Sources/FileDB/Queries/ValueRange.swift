/// The bounds of a range of the standard library.
struct ValueRange<Field: Comparable & Sendable>: Sendable {
  enum Bound: Sendable {
    case including(Field)
    case excluding(Field)
  }

  private let lower: Field?
  private let upper: Bound?

  /// `nil` for a range that is not of the standard library.
  init?(_ range: some RangeExpression<Field>) {
    let (lower, upper): (Field?, Bound?)
    switch range {
    case let range as ClosedRange<Field>: (lower, upper) = (range.lowerBound, .including(range.upperBound))
    case let range as Range<Field>: (lower, upper) = (range.lowerBound, .excluding(range.upperBound))
    case let range as PartialRangeFrom<Field>: (lower, upper) = (range.lowerBound, nil)
    case let range as PartialRangeThrough<Field>: (lower, upper) = (nil, .including(range.upperBound))
    case let range as PartialRangeUpTo<Field>: (lower, upper) = (nil, .excluding(range.upperBound))
    default: return nil
    }
    self.lower = lower.map(asStored)
    self.upper = upper.map { bound in
      switch bound {
      case .including(let field): .including(asStored(field))
      case .excluding(let field): .excluding(asStored(field))
      }
    }
  }

  func contains(_ value: Field) -> Bool { !isAbove(value) && !isBelow(value) }

  /// Whether the range begins above `value`.
  func isAbove(_ value: Field) -> Bool { lower.map { value < $0 } ?? false }

  /// Whether the range ends below `value`.
  func isBelow(_ value: Field) -> Bool {
    switch upper {
    case nil: false
    case .including(let bound)?: bound < value
    case .excluding(let bound)?: bound <= value
    }
  }
}
