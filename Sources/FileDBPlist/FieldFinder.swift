import CFileDB

/// Finds one entry of dictionaries in canonical bytes without looking at the others. The number of tabs before a key
/// shows its depth, and no text contains the `<` after the tabs.
package struct FieldFinder: Sendable {
  /// The key's line, from the line end before it to the `<` of the value's tag.
  private let lines: [UInt8]
  private let indentation: Int
  /// The key's first byte and the `<` after the key. They are rare at this distance, because other keys have other
  /// lengths.
  private let rareBytes: (first: Int, second: Int)

  /// - Parameter indentation: the number of tabs before the dictionaries.
  package init(key: String, indentation: Int) {
    self.indentation = indentation + 1
    var writer = PlistWriter()
    writer.append("\n" as StaticString)
    writer.append(key: key, indentation: self.indentation)
    let endOfKey = writer.bytes.count - "</key>\n".utf8.count
    rareBytes = (1 + self.indentation + 5, endOfKey)
    lines =
      writer.bytes + [UInt8](repeating: UInt8(ascii: "\t"), count: self.indentation) + [UInt8(ascii: "<")]
  }

  /// The value in a dictionary; `nil` if it has no such key.
  package func element(in bytes: UnsafeRawBufferPointer) -> CanonicalElement? {
    guard let start = bytes.baseAddress else { return nil }
    let place = lines.withUnsafeBytes {
      filedb_find(start, bytes.count, $0.baseAddress, $0.count, rareBytes.first, rareBytes.second)
    }
    guard place < bytes.count else { return nil }
    return CanonicalBytes(bytes).element(at: place + lines.count - 1, indentation: indentation)?.element
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
