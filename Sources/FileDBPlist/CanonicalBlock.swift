/// Canonical bytes that are written from UTF-8, without a `String` for each text. Space is reserved beforehand, so that
/// no append has to check for it.
package struct CanonicalBlock: ~Copyable {
  /// The most bytes that one byte of text may become: `&amp;`.
  private static let mostBytesOfCharacter = 5

  private var memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1 << 17)
  package private(set) var count = 0

  package init() {}

  deinit { memory.deallocate() }

  /// A copy with exactly the right size.
  package var bytes: [UInt8] { [UInt8](UnsafeBufferPointer(rebasing: memory[..<count])) }

  /// Reserves space for `canonical` bytes, and for strings with `text` bytes in total.
  package mutating func reserve(canonical: Int, text: Int) {
    // Writes go eight bytes at a time.
    let needed = count + canonical + text * Self.mostBytesOfCharacter + 8
    guard needed > memory.count else { return }
    let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(needed, memory.count * 2))
    _ = larger.update(fromContentsOf: memory[..<count])
    memory.deallocate()
    memory = larger
  }

  /// Removes everything after the first `count` bytes.
  package mutating func cut(to count: Int) { self.count = min(count, self.count) }

  /// Appends a string without escaping it.
  /// - Precondition: there is enough space.
  package mutating func append(_ canonical: String) {
    var canonical = canonical
    canonical.withUTF8 { append(canonical: $0) }
  }

  /// Appends a string without escaping it.
  /// - Precondition: there is enough space.
  package mutating func append(_ canonical: StaticString) {
    append(canonical: UnsafeBufferPointer(start: canonical.utf8Start, count: canonical.utf8CodeUnitCount))
  }

  /// Appends some canonical bytes unchanged.
  /// - Precondition: there is enough space.
  package mutating func append(_ canonical: [UInt8], _ range: Range<Int>) {
    canonical.withUnsafeBufferPointer { append(canonical: UnsafeBufferPointer(rebasing: $0[range])) }
  }

  /// Appends canonical bytes unchanged.
  /// - Precondition: there is enough space.
  package mutating func append(canonical: UnsafeBufferPointer<UInt8>) {
    precondition(canonical.count <= memory.count - count, "there is no room")
    guard let source = canonical.baseAddress, let start = memory.baseAddress else { return }
    (start + count).update(from: source, count: canonical.count)
    count += canonical.count
  }

  /// Appends a string with the escapes of a property list.
  /// - Precondition: there is enough space.
  /// - Returns: false if the text is not UTF-8, or XML cannot contain it. Then a part of it may have been appended.
  package mutating func append(text: UnsafeBufferPointer<UInt8>) -> Bool {
    precondition(text.count * Self.mostBytesOfCharacter + 8 <= memory.count - count, "there is no room")
    guard var source = text.baseAddress, let start = memory.baseAddress else { return true }
    let end = source + text.count
    var target = start + count
    while source < end {
      if end - source >= 8 {
        let word = UnsafeRawPointer(source).loadUnaligned(as: UInt64.self)
        UnsafeMutableRawPointer(target).storeBytes(of: word, as: UInt64.self)
        // The lowest marked byte is special. Higher marks may be wrong.
        let special = specialBytes(UInt64(littleEndian: word))
        let plain = special == 0 ? 8 : special.trailingZeroBitCount &>> 3
        source += plain
        target += plain
        if special == 0 { continue }
      }
      guard appendCharacter(&source, end, &target) else { return false }
    }
    count = target - start
    return true
  }
}

/// Appends the character at `source`, escaped if necessary.
/// - Returns: false if it is not a character that XML allows.
@inline(__always)
private func appendCharacter(
  _ source: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>,
  _ target: inout UnsafeMutablePointer<UInt8>
) -> Bool {
  let byte = source.pointee
  var length = 1
  switch byte {
  case UInt8(ascii: "<"): appendEscape("&lt;", &target)
  case UInt8(ascii: ">"): appendEscape("&gt;", &target)
  case UInt8(ascii: "&"): appendEscape("&amp;", &target)
  case UInt8(ascii: "\r"): appendEscape("&#13;", &target)
  case 0x09, 0x0A, 0x20..<0x80:
    target.pointee = byte
    target += 1
  case 0x80...:
    length = lengthOfXMLCharacter(source, end - source)
    if length == 0 { return false }
    target.update(from: source, count: length)
    target += length
  default: return false
  }
  source += length
  return true
}

private func appendEscape(_ escape: StaticString, _ target: inout UnsafeMutablePointer<UInt8>) {
  target.update(from: escape.utf8Start, count: escape.utf8CodeUnitCount)
  target += escape.utf8CodeUnitCount
}

/// The length of the non-ASCII character at `text`; 0 if it is not UTF-8 (Unicode, table 3-7), or if XML does not allow
/// it (U+FFFE and U+FFFF).
private func lengthOfXMLCharacter(_ text: UnsafePointer<UInt8>, _ available: Int) -> Int {
  func isTail(_ offset: Int) -> Bool { text[offset] & 0xC0 == 0x80 }
  let lead = text[0]
  switch lead {
  case 0xC2...0xDF: return available >= 2 && isTail(1) ? 2 : 0
  case 0xE0...0xEF:
    guard available >= 3, isTail(1), isTail(2) else { return 0 }
    if lead == 0xE0, text[1] < 0xA0 { return 0 }
    if lead == 0xED, text[1] > 0x9F { return 0 }
    return lead == 0xEF && text[1] == 0xBF && text[2] >= 0xBE ? 0 : 3
  case 0xF0...0xF4:
    guard available >= 4, isTail(1), isTail(2), isTail(3) else { return 0 }
    if lead == 0xF0, text[1] < 0x90 { return 0 }
    return lead == 0xF4 && text[1] > 0x8F ? 0 : 4
  default: return 0
  }
}

/// The high bit of each byte that is not a plain character of text. Only the lowest mark is reliable.
@inline(__always)
private func specialBytes(_ word: UInt64) -> UInt64 {
  let ones: UInt64 = 0x0101_0101_0101_0101
  let highs = ones &* 0x80
  func zeroBytes(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & highs }
  let control = (word &- ones &* 0x20) & ~word & highs
  // `<` and `>` differ in one bit.
  let tag = zeroBytes((word | ones &* 0x02) ^ ones &* 0x3E)
  return (word & highs) | control | tag | zeroBytes(word ^ ones &* 0x26)
}
