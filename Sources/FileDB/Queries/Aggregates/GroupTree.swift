import FileDBPlist

/// Numbers the combinations of values in the order in which they occur.
///
/// Numbers with the same value are the same, whatever their types. `-0` is 0, and all `nan` are one value. Strings are
/// compared by their bytes.
struct GroupTree: Sendable {
  /// A step from some values to the same values and one more.
  private struct Step: Hashable {
    let level: Int
    let from: Int
    let value: PlistValue?
  }

  private let depth: Int
  private var ends: [Step: Int] = [:]
  /// How many beginnings of combinations have a number. They are numbered from 1.
  private var innerCount = 0
  /// The values of the first record of each group.
  private(set) var keys: [[PlistValue?]] = []

  /// - Parameter depth: how many values a combination has.
  init(depth: Int) { self.depth = depth }

  /// The number of the group with these values. The group may be new.
  mutating func number(of values: (Int) -> PlistValue?) -> Int {
    var place = 0
    for level in 0..<depth {
      let step = Step(level: level, from: place, value: values(level).map(Self.normalized))
      if let end = ends[step] {
        place = end
        continue
      }
      if level == depth - 1 {
        place = keys.count
        keys.append((0..<depth).map(values))
      } else {
        innerCount += 1
        place = innerCount
      }
      ends[step] = place
    }
    if depth == 0, keys.isEmpty { keys = [[]] }
    return place
  }

  /// The same number in a single form.
  static func normalized(_ value: PlistValue) -> PlistValue {
    guard case .real(let number) = value else { return value }
    if let integer = Int64(exactly: number) { return .integer(integer) }
    return UInt64(exactly: number).map(PlistValue.init) ?? value
  }
}
