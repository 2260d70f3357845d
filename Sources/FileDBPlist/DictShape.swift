import CFileDB

/// The keys that similar dictionaries have in common. Keys that were found in some are looked for first in the next. It
/// learns as it goes. It never gives a wrong result: what it does not know is checked without it.
package final class DictShape {
  package let indentation: Int
  package let numberKey: StaticString
  private let lines: OpaquePointer
  /// The known keys in order, all without escapes.
  private var keys: [[UInt8]] = []

  package init(indentation: Int, numberKey: StaticString, limits: PlistLimits) {
    self.indentation = indentation
    self.numberKey = numberKey
    lines = filedb_shape_make(limits.valueBytes)
  }

  deinit { filedb_shape_free(lines) }

  /// Scans the entries that are as expected.
  @inline(__always)
  func pass(_ entries: inout filedb_entries, in bytes: CanonicalBytes) {
    filedb_pass_entries(lines, bytes.start, bytes.count, &entries)
  }

  /// The place of the first known key after `key`. Remembers `key` if there is space.
  /// - Parameter line: where the line of `key` begins.
  func placeBehind(_ key: CanonicalKey, at line: Int, in bytes: CanonicalBytes) -> UInt32 {
    var rest = key.text
    var text: [UInt8] = []
    while !rest.isEmpty { text.append(bytes.popCharacter(&rest)) }
    let place = keys.firstIndex { !$0.lexicographicallyPrecedes(text) } ?? keys.count
    if place < keys.count, keys[place] == text { return UInt32(place + 1) }
    // Up to the `<` of the value's tag.
    let length = key.nextLine + indentation + 2 - line
    guard !key.hasEscapes,
      filedb_shape_insert(
        lines, UInt32(place), bytes.start + line, length, bytes.holds(numberKey, in: key.text))
    else { return UInt32(place) }
    keys.insert(text, at: place)
    return UInt32(place + 1)
  }
}
