/// The bounds of a range of the standard library.
struct ValueRange<Field: Comparable & Sendable>: Sendable {
  private let lower: Field?
  private let upper: Field?
  private let includesUpper: Bool

  /// `nil` for a range that is not of the standard library.
  init?(_ range: some RangeExpression<Field>) {
    let (lower, upper): (Field?, Field?)
    switch range {
    case let range as ClosedRange<Field>: (lower, upper) = (range.lowerBound, range.upperBound)
    case let range as Range<Field>: (lower, upper) = (range.lowerBound, range.upperBound)
    case let range as PartialRangeFrom<Field>: (lower, upper) = (range.lowerBound, nil)
    case let range as PartialRangeThrough<Field>: (lower, upper) = (nil, range.upperBound)
    case let range as PartialRangeUpTo<Field>: (lower, upper) = (nil, range.upperBound)
    default: return nil
    }
    includesUpper = range is ClosedRange<Field> || range is PartialRangeThrough<Field>
    (self.lower, self.upper) = (lower.map(asStored), upper.map(asStored))
  }

  func contains(_ value: Field) -> Bool { !isAbove(value) && !isBelow(value) }

  /// Whether the range begins above `value`.
  func isAbove(_ value: Field) -> Bool { lower.map { value < $0 } ?? false }

  /// Whether the range ends below `value`.
  func isBelow(_ value: Field) -> Bool {
    guard let upper else { return false }
    return includesUpper ? upper < value : upper <= value
  }
}
