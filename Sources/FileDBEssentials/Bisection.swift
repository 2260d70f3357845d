extension RandomAccessCollection {
  /// The first index whose element belongs to the second part; ``endIndex`` if there is none. All elements before it
  /// must belong to the first part.
  /// - Complexity: O(log *n*).
  @inlinable package func partitioningIndex(where isInSecondPart: (Element) throws -> Bool) rethrows -> Index
  {
    var (low, rest) = (startIndex, count)
    while rest > 0 {
      let half = rest / 2
      let middle = index(low, offsetBy: half)
      if try isInSecondPart(self[middle]) {
        rest = half
      } else {
        low = index(after: middle)
        rest -= half + 1
      }
    }
    return low
  }
}
