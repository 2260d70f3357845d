import CFileDB

/// The line of a key.
struct CanonicalKey {
  let text: Range<Int>
  let hasEscapes: Bool

  var nextLine: Int { text.upperBound + 7 }
}

extension CanonicalBytes {
  /// The text from `start` up to the next `<`.
  /// - Returns: `nil` if it is not canonical: it has a character that XML does not allow or that must be escaped, an
  ///   escape other than the writer's four, or is too long.
  @inline(__always)
  func canonicalText(at start: Int, _ limits: PlistLimits) -> (end: Int, hasEscapes: Bool)? {
    var position = start
    // How much longer the escapes are than the characters that they stand for.
    var excess = 0
    while true {
      let special = specialBytes(word(at: position))
      guard special != 0 else {
        position &+= 8
        continue
      }
      position &+= special.trailingZeroBitCount &>> 3
      if byte(at: position) == UInt8(ascii: "<") { break }
      let isEscape = byte(at: position) == UInt8(ascii: "&")
      guard let next = endOfSpecial(at: position) else { return nil }
      if isEscape { excess += next - position - 1 }
      position = next
    }
    return position - start - excess <= limits.valueBytes ? (position, excess > 0) : nil
  }

  /// The end of the tab, line feed, escape or non-ASCII characters at `position`.
  @inline(never)
  private func endOfSpecial(at position: Int) -> Int? {
    switch byte(at: position) {
    case UInt8(ascii: "\t"), UInt8(ascii: "\n"): return position + 1
    case UInt8(ascii: "&"):
      if has("&lt;", at: position) || has("&gt;", at: position) { return position + 4 }
      return has("&amp;", at: position) || has("&#13;", at: position) ? position + 5 : nil
    case 0x80...:
      var end = position
      repeat {
        let length = lengthOfXMLCharacter(word(at: end))
        if length == 0 { return nil }
        end += length
      } while byte(at: end) >= 0x80
      return end
    default: return nil
    }
  }

  /// Whether `key` comes after `last` by their bytes without escapes.
  @inline(__always)
  func isAscending(_ last: CanonicalKey, _ key: CanonicalKey) -> Bool {
    if last.hasEscapes || key.hasEscapes { return isAscending(last.text, key.text) }
    let common = min(last.text.count, key.text.count)
    var place = 0
    while place < common {
      let left = word(at: last.text.lowerBound + place)
      let right = word(at: key.text.lowerBound + place)
      if left != right {
        // Bytes after the end of a key do not count.
        guard place + (left ^ right).trailingZeroBitCount &>> 3 < common else { break }
        return left.byteSwapped < right.byteSwapped
      }
      place += 8
    }
    return last.text.count < key.text.count
  }

  @inline(never)
  func isAscending(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
    var (left, right) = (left, right)
    while !right.isEmpty {
      guard !left.isEmpty else { return true }
      let (one, other) = (popCharacter(&left), popCharacter(&right))
      if one != other { return one < other }
    }
    return false
  }

  /// Removes the first byte of a string, or the escape at its beginning, and returns the byte.
  func popCharacter(_ text: inout Range<Int>) -> UInt8 {
    let character: UInt8
    let length: Int
    switch word(at: text.lowerBound) & 0xFFFF {
    case 0x6C26: (character, length) = (UInt8(ascii: "<"), 4)  // &l
    case 0x6726: (character, length) = (UInt8(ascii: ">"), 4)  // &g
    case 0x6126: (character, length) = (UInt8(ascii: "&"), 5)  // &a
    case 0x2326: (character, length) = (UInt8(ascii: "\r"), 5)  // &#
    case let word: (character, length) = (UInt8(truncatingIfNeeded: word), 1)
    }
    text = min(text.lowerBound + length, text.upperBound)..<text.upperBound
    return character
  }

  /// Whether `range` contains these bytes.
  func isSame(_ range: Range<Int>, _ other: UnsafeRawBufferPointer) -> Bool {
    guard range.count == other.count, range.upperBound <= count else { return false }
    guard let text = other.baseAddress else { return true }
    return filedb_is_same(start + range.lowerBound, text, other.count)
  }

  /// Whether `range` contains `text`.
  @inline(__always)
  func holds(_ text: StaticString, in range: Range<Int>) -> Bool {
    guard range.count == text.utf8CodeUnitCount, range.upperBound <= count else { return false }
    return UnsafeRawBufferPointer(start: text.utf8Start, count: range.count)
      .elementsEqual(UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count))
  }
}

/// The high bit of each byte that is not a plain character of text. Only the lowest of these bits is reliable.
@inline(__always)
func specialBytes(_ word: UInt64) -> UInt64 {
  let control = (word &- everyByte(0x20)) & ~word & everyByte(0x80)
  // `<` and `>` differ in one bit.
  let tag = zeroBytes((word | everyByte(0x02)) ^ everyByte(0x3E))
  let escape = zeroBytes(word ^ everyByte(0x26))
  return (word & everyByte(0x80)) | control | tag | escape
}

/// The length of the non-ASCII character that `word` begins with; 0 if it is not UTF-8 (Unicode, table 3-7), or if
/// XML does not allow it (U+FFFE and U+FFFF).
@inline(__always)
func lengthOfXMLCharacter(_ word: UInt64) -> Int {
  let second = word &>> 8 & 0xFF
  let lead = word & 0xFF
  switch lead {
  case 0xC2...0xDF: return word & 0xC000 == 0x8000 ? 2 : 0
  case 0xE0...0xEF:
    guard word & 0xC0_C000 == 0x80_8000 else { return 0 }
    if lead == 0xE0, second < 0xA0 { return 0 }
    if lead == 0xED, second > 0x9F { return 0 }
    if word & 0xFE_FFFF == 0xBE_BFEF { return 0 }
    return 3
  case 0xF0...0xF4:
    guard word & 0xC0C0_C000 == 0x8080_8000 else { return 0 }
    if lead == 0xF0, second < 0x90 { return 0 }
    if lead == 0xF4, second > 0x8F { return 0 }
    return 4
  default: return 0
  }
}
