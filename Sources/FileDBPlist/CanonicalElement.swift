import CFileDB

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

extension CanonicalElement {
  init(_ element: filedb_element) {
    guard let kind = Kind(rawValue: element.kind) else { preconditionFailure("there is no such kind") }
    self.init(kind: kind, content: element.content..<element.end_of_content)
  }
}

extension CanonicalBytes {
  /// The element whose tag is at `tag`, and where the next line begins. The bytes must be canonical: this notices only
  /// what cannot be an element at all.
  /// - Parameter indentation: the number of tabs before the tag.
  func element(at tag: Int, indentation: Int) -> (element: CanonicalElement, end: Int)? {
    var element = filedb_element()
    let end = filedb_split_element(start, count, tag, indentation, &element)
    return end > 0 ? (CanonicalElement(element), end) : nil
  }
}
