import CFileDB

/// Finds one entry of dictionaries in canonical bytes without looking at the others. The number of tabs before a key
/// shows its depth, and no text contains the `<` after the tabs.
package struct FieldFinder: Sendable {
  /// The key's line, from the line end before it to the `<` of the value's tag.
  private let lines: [UInt8]
  private let indentation: Int

  /// - Parameter indentation: the number of tabs before the dictionaries.
  package init(key: String, indentation: Int) {
    self.indentation = indentation + 1
    var writer = PlistWriter()
    writer.append("\n" as StaticString)
    writer.append(key: key, indentation: self.indentation)
    lines =
      writer.bytes + [UInt8](repeating: UInt8(ascii: "\t"), count: self.indentation) + [UInt8(ascii: "<")]
  }

  /// The value in a dictionary; `nil` if it has no such key.
  package func element(in bytes: UnsafeRawBufferPointer) -> CanonicalElement? {
    guard let start = bytes.baseAddress else { return nil }
    var value = filedb_element()
    let end = lines.withUnsafeBytes {
      filedb_find_field(start, bytes.count, $0.baseAddress, $0.count, indentation, &value)
    }
    return end > 0 ? CanonicalElement(value) : nil
  }
}

/// The index at which `part` begins in `text`; `nil` if `text` does not contain it.
package func findBytes(_ part: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>) -> Int? {
  guard let start = text.baseAddress, let first = part.baseAddress, !part.isEmpty else {
    return part.isEmpty ? 0 : nil
  }
  let place = filedb_find(start, text.count, first, part.count, 0, part.count - 1)
  return place < text.count ? place : nil
}
