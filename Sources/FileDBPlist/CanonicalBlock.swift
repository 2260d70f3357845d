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
        // The byte of the lowest bit is special. Higher bits may be wrong.
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
    let rest = UnsafeRawBufferPointer(start: source, count: end - source)
    length = lengthOfXMLCharacter(CanonicalBytes(rest).word(at: 0))
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
