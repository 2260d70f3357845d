/// Finds the name that is most similar to a mistyped one.
package struct NearestName {
  private let wanted: [Character]
  /// A name is similar if it takes fewer changes than this.
  private var limit: Int
  /// The most similar name so far, the first if there are several; `nil` if none is similar.
  package private(set) var name: String?

  package init(to wanted: String) {
    self.wanted = Array(wanted.lowercased())
    // One change in a short name, or one in three characters of a long one. A single letter is not similar to anything.
    limit = self.wanted.count < 2 ? 1 : max(2, self.wanted.count / 3 + 1)
  }

  package init(to wanted: String, among names: some Sequence<String>) {
    self.init(to: wanted)
    for name in names { consider(name) }
  }

  /// Whether no other name can be much more similar.
  package var isNear: Bool { name != nil && limit <= 1 }

  package mutating func consider(_ other: String) {
    let characters = Array(other.lowercased())
    let distance = distance(to: characters)
    guard distance < limit else { return }
    (limit, name) = (distance, other)
  }

  private func distance(to other: [Character]) -> Int {
    if other == wanted { return 0 }
    // A name is similar if one of the two is the beginning of the other, however much is missing.
    if min(wanted.count, other.count) > 2, other.starts(with: wanted) || wanted.starts(with: other) {
      return 1
    }
    return abs(other.count - wanted.count) < limit ? Self.distance(wanted, other) : limit
  }

  /// The number of characters to insert, delete, replace or swap with the next one in order to turn one text into the
  /// other.
  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for (i, character) in left.enumerated() {
      var current = [i + 1]
      for (j, other) in right.enumerated() {
        var distance = min(last[j + 1] + 1, current[j] + 1, last[j] + (character == other ? 0 : 1))
        if i > 0, j > 0, character == right[j - 1], left[i - 1] == other {
          distance = min(distance, beforeLast[j - 1] + 1)
        }
        current.append(distance)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}
