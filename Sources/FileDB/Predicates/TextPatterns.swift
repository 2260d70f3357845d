import FileDBPlist

/// The pattern of `LIKE`. `?` stands for one Unicode scalar, and `*` for any text. A backslash takes the next character
/// literally.
struct LikePattern: Sendable {
  private enum Element: Equatable {
    case byte(UInt8)
    case scalar
    case anything
  }

  private let elements: [Element]

  init(_ text: String, folding: TextFolding) {
    var elements: [Element] = []
    var rest = folding.fold(text).utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "*"): elements.append(.anything)
      case UInt8(ascii: "?"): elements.append(.scalar)
      case UInt8(ascii: "\\"): elements.append(.byte(rest.popFirst() ?? byte))
      default: elements.append(.byte(byte))
      }
    }
    self.elements = elements
  }

  /// If something does not fit, this continues after the last `*`. What came before the `*` need not be tried again.
  /// - Complexity: O(*n* · *m*) at worst, in the lengths of the text and the pattern.
  func matches(folded text: UnsafeBufferPointer<UInt8>) -> Bool {
    var (place, next) = (0, 0)
    var retry: (place: Int, next: Int)?
    while place < text.count || next < elements.count {
      if next < elements.count, elements[next] == .anything {
        retry = (place, next)
        next += 1
      } else if next < elements.count, let end = end(of: elements[next], at: place, in: text) {
        (place, next) = (end, next + 1)
      } else if let last = retry, last.place < text.count {
        retry = (last.place + 1, last.next)
        (place, next) = (last.place + 1, last.next + 1)
      } else {
        return false
      }
    }
    return true
  }

  private func end(of element: Element, at place: Int, in text: UnsafeBufferPointer<UInt8>) -> Int? {
    guard place < text.count else { return nil }
    if case .byte(let byte) = element { return text[place] == byte ? place + 1 : nil }
    // After the bytes of this scalar. If a `*` has taken some of them, it could as well have left them here.
    return text[(place + 1)...].firstIndex { $0 & 0xC0 != 0x80 } ?? text.count
  }
}

/// The regular expression of `MATCHES`, which must match the whole text.
struct MatchPattern: Sendable {
  private let text: String
  private let folding: TextFolding
  private let expression: any TextExpression

  /// - Throws: ``StoreError/Code/languageMissing``; another error, without details, if the text is not a regular expression.
  init(_ text: String, folding: TextFolding) throws {
    self.text = text
    self.folding = folding
    let rules = try Language.required()
    // Without the parentheses, it must be an expression, too: `a)|(b` would be one inside them.
    _ = try rules.expression(text, ignoringCase: false)
    let accents = folding.intersection(.accents)
    expression = try rules.expression(
      "\\A(?:\(accents.fold(text)))\\z", ignoringCase: folding.contains(.letterCase))
  }

  /// - Throws: ``StoreError/Code/matchLimitExceeded``.
  /// - Complexity: at most two million steps of the expression and a hundred more for each character, and never more
  ///   than twenty million. A limit in time would not do: the same record would match only on a fast machine.
  func matches(_ text: String) throws(StoreError) -> Bool {
    let text = folding.intersection(.accents).fold(text)
    let length = text.utf16.count
    switch expression.search(text, steps: min(2_000_000 + 100 * length, 20_000_000)) {
    case .found: return true
    case .missing: return false
    case .tooManySteps:
      throw StoreError(
        .matchLimitExceeded,
        "matching '\(self.text)' against text of \(length) characters takes too many steps; "
          + "write a simpler regular expression")
    }
  }
}
