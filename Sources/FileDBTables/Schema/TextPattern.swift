/// A regular expression that is matched in predictable time, whatever the text and the expression are: it follows all
/// paths through the expression at once. See <doc:Schemas> for the syntax.
package struct TextPattern: Sendable {
  /// A step of the path through the expression.
  enum Step: Sendable {
    case scalar(ScalarSet)
    /// Continues with the next step, and with the step at this distance.
    case fork(Int)
    /// Continues with the step at this distance.
    case jump(Int)
    case start
    case end
    case match
  }

  private let steps: [Step]

  /// - Throws: ``PatternFault``.
  package init(_ text: String) throws(PatternFault) {
    var parser = PatternParser(text)
    steps = try parser.parse() + [.match]
  }

  /// Whether the expression matches all of `text`.
  /// - Complexity: O(*n* · *p*), in the lengths of the text and the expression.
  package func matches(_ text: String) -> Bool {
    var current = StepSet(count: steps.count)
    var next = StepSet(count: steps.count)
    var scalars = text.unicodeScalars.makeIterator()
    var scalar = scalars.next()
    add(0, to: &current, atStart: true, atEnd: scalar == nil)
    while let present = scalar {
      scalar = scalars.next()
      next.removeAll()
      for place in current.members {
        if case .scalar(let set) = steps[place], set.contains(present) {
          add(place + 1, to: &next, atStart: false, atEnd: scalar == nil)
        }
      }
      if next.members.isEmpty { return false }
      swap(&current, &next)
    }
    return current.contains(steps.count - 1)
  }

  /// Adds a place, and the places that can be reached from it without reading a scalar.
  private func add(_ first: Int, to set: inout StepSet, atStart: Bool, atEnd: Bool) {
    var waiting = [first]
    while let place = waiting.popLast() {
      guard set.insert(place) else { continue }
      switch steps[place] {
      case .fork(let distance): waiting += [place + distance, place + 1]
      case .jump(let distance): waiting.append(place + distance)
      case .start: if atStart { waiting.append(place + 1) }
      case .end: if atEnd { waiting.append(place + 1) }
      case .scalar, .match: break
      }
    }
  }
}

/// Why a string is not a regular expression.
package struct PatternFault: Error {
  package let message: String
  /// Counted from 1.
  package let column: Int
}

/// A set of places in an expression.
private struct StepSet {
  private(set) var members: [Int] = []
  private var isMember: [Bool]

  init(count: Int) { isMember = [Bool](repeating: false, count: count) }

  func contains(_ place: Int) -> Bool { isMember[place] }

  mutating func insert(_ place: Int) -> Bool {
    if isMember[place] { return false }
    isMember[place] = true
    members.append(place)
    return true
  }

  mutating func removeAll() {
    for place in members { isMember[place] = false }
    members.removeAll(keepingCapacity: true)
  }
}

/// A set of Unicode scalars.
struct ScalarSet: Sendable {
  enum Part: Sendable {
    case range(ClosedRange<Unicode.Scalar>)
    case digit, word, space
    /// The scalars that are not in this part.
    indirect case other(than: Part)
  }

  var parts: [Part]
  var isInverted = false

  /// What `.` matches: everything but line ends.
  static let anything = ScalarSet(parts: [.range("\n"..."\n"), .range("\r"..."\r")], isInverted: true)

  func contains(_ scalar: Unicode.Scalar) -> Bool { parts.contains { $0.contains(scalar) } != isInverted }
}

extension ScalarSet.Part {
  fileprivate func contains(_ scalar: Unicode.Scalar) -> Bool {
    switch self {
    case .range(let range): range.contains(scalar)
    case .digit: ("0"..."9").contains(scalar)
    case .word: scalar == "_" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    case .space: scalar.properties.isWhitespace
    case .other(let part): !part.contains(scalar)
    }
  }
}
