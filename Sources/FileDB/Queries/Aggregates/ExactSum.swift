/// A sum of reals that is rounded only once, at the end. So it does not depend on the order of the reals, or on how the
/// work is divided.
///
/// It is stored as reals that do not overlap, smallest first (Shewchuk 1997, as in Python's `fsum`).
struct ExactSum: Sendable {
  private var parts: [Double] = []
  /// The sum of the infinities and `nan`s, and of what became larger than any real.
  private var beyond: Double?

  mutating func add(_ number: Double) {
    guard number.isFinite else { return addBeyond(number) }
    var high = number
    var kept = 0
    for index in parts.indices {
      let (large, small) =
        high.magnitude < parts[index].magnitude ? (parts[index], high) : (high, parts[index])
      high = large + small
      guard high.isFinite else {
        parts = []
        return addBeyond(high)
      }
      let low = small - (high - large)
      if low != 0 {
        parts[kept] = low
        kept += 1
      }
    }
    parts.removeSubrange(kept...)
    parts.append(high)
  }

  mutating func add(_ number: Int128) {
    var rest = number
    while rest != 0 {
      let part = Double(rest)
      add(part)
      rest -= Int128(part)
    }
  }

  mutating func add(_ other: ExactSum) {
    for part in other.parts { add(part) }
    if let beyond = other.beyond { addBeyond(beyond) }
  }

  private mutating func addBeyond(_ number: Double) { beyond = (beyond ?? 0) + number }

  /// The real nearest to the sum.
  var value: Double {
    if let beyond { return beyond }
    var rest = parts[...]
    guard var high = rest.popLast() else { return 0 }
    while let next = rest.popLast() {
      let sum = high + next
      let low = next - (sum - high)
      high = sum
      guard low != 0 else { continue }
      // If the sum is halfway between two reals, the rest decides the direction.
      if let last = rest.last, (low < 0) == (last < 0) {
        let doubled = low * 2
        let rounded = high + doubled
        if doubled == rounded - high { high = rounded }
      }
      break
    }
    return high
  }
}
