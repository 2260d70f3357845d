/// The place of a value in canonical bytes.
package struct CanonicalElement: Equatable, Sendable {
  package enum Kind: UInt8, Sendable {
    case string, integer, real, `true`, `false`, date, data, array, dict
  }

  package let kind: Kind
  /// What is between the tags. For text, this includes the escapes. For data, arrays and dictionaries, it is all lines
  /// with their tabs and line ends. Empty if there is nothing between the tags.
  package let content: Range<Int>
}

extension CanonicalBytes {
  /// The element whose tag is at `tag`, and where the next line begins. The bytes must be canonical: this notices only
  /// what cannot be an element at all.
  /// - Parameter indentation: the number of tabs before the tag.
  @inline(__always)
  func element(at tag: Int, indentation: Int) -> (element: CanonicalElement, end: Int)? {
    switch byte(at: tag + 1) {
    case UInt8(ascii: "s"): text(.string, from: tag + 8, closing: 10)
    case UInt8(ascii: "i"): text(.integer, from: tag + 9, closing: 11)
    case UInt8(ascii: "r"): text(.real, from: tag + 6, closing: 8)
    case UInt8(ascii: "t"): empty(.true, end: tag + 8)
    case UInt8(ascii: "f"): empty(.false, end: tag + 9)
    case UInt8(ascii: "d"):
      if has("<date>", at: tag) {
        text(.date, from: tag + 6, closing: 8)
      } else if has("<data>", at: tag) {
        lines(.data, from: tag + 7, indentation)
      } else if has("<dict>", at: tag) {
        lines(.dict, from: tag + 7, indentation)
      } else {
        empty(.dict, end: tag + 8)
      }
    case UInt8(ascii: "a"):
      if has("<array>\n", at: tag) {
        lines(.array, from: tag + 8, indentation)
      } else {
        empty(.array, end: tag + 9)
      }
    default: nil
    }
  }

  /// Text ends at the first `<`: inside a text, it would be escaped.
  @inline(__always)
  private func text(_ kind: CanonicalElement.Kind, from start: Int, closing: Int)
    -> (element: CanonicalElement, end: Int)?
  {
    let end = first(UInt8(ascii: "<"), from: start, to: count)
    guard end + closing <= count else { return nil }
    return (CanonicalElement(kind: kind, content: start..<end), end + closing)
  }

  @inline(__always)
  private func empty(_ kind: CanonicalElement.Kind, end: Int) -> (element: CanonicalElement, end: Int)? {
    guard end <= count else { return nil }
    return (CanonicalElement(kind: kind, content: end..<end), end)
  }

  /// The lines end at the first closing tag with the same indentation as the opening tag. Whatever is inside is
  /// indented further, and text contains no `<`.
  @inline(never)
  private func lines(_ kind: CanonicalElement.Kind, from start: Int, _ indentation: Int)
    -> (element: CanonicalElement, end: Int)?
  {
    var line = start
    while line < count {
      let tag = line + indentation
      if isEnd(of: kind, at: tag) {
        return (CanonicalElement(kind: kind, content: start..<line), tag + (kind == .array ? 9 : 8))
      }
      line = first(UInt8(ascii: "\n"), from: line, to: count) + 1
    }
    return nil
  }

  private func isEnd(of kind: CanonicalElement.Kind, at tag: Int) -> Bool {
    switch kind {
    case .array: has("</array>\n", at: tag)
    case .dict: has("</dict>\n", at: tag)
    default: has("</data>\n", at: tag)
    }
  }
}
