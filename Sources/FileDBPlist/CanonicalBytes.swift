/// Bytes that are read in words of eight. A word never reads beyond the end: missing bytes count as zeros, which
/// canonical bytes do not contain.
// Unchecked because of the pointer. It is only used for reading, and nobody changes the bytes meanwhile, so any thread
// may use it.
struct CanonicalBytes: @unchecked Sendable {
  let start: UnsafeRawPointer
  let count: Int

  init(_ bytes: UnsafeRawBufferPointer) {
    // If there are no bytes, the address is never used.
    start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
    count = bytes.count
  }

  func text(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
    let inside = range.clamped(to: 0..<count)
    return UnsafeBufferPointer(
      start: (start + inside.lowerBound).assumingMemoryBound(to: UInt8.self), count: inside.count)
  }

  @inline(__always)
  func byte(at offset: Int) -> UInt8 {
    offset < count ? start.load(fromByteOffset: offset, as: UInt8.self) : 0
  }

  /// The eight bytes at `offset`, with the first byte lowest.
  @inline(__always)
  func word(at offset: Int) -> UInt64 {
    guard offset &+ 8 <= count else { return lastWord(at: offset) }
    return UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(never)
  private func lastWord(at offset: Int) -> UInt64 {
    var word: UInt64 = 0
    for place in 0..<max(0, count - offset) { word |= UInt64(byte(at: offset + place)) << UInt64(8 * place) }
    return word
  }

  /// Whether `text`, a literal of at most sixteen bytes, is at `offset`. The compiler turns it into one or two words.
  @inline(__always)
  func has(_ text: StaticString, at offset: Int) -> Bool {
    let length = text.utf8CodeUnitCount
    if length <= 8 {
      return word(at: offset) & ((~0 as UInt64) &>> UInt64(64 - 8 * length)) == text.word(at: 0, length)
    }
    return word(at: offset) == text.word(at: 0, 8)
      && word(at: offset + length - 8) == text.word(at: length - 8, 8)
  }

  @inline(__always)
  func hasTabs(_ tabs: Int, at offset: Int) -> Bool {
    guard tabs < 8 else { return hasManyTabs(tabs, at: offset) }
    let mask: UInt64 = (1 &<< UInt64(8 * tabs)) &- 1
    return word(at: offset) & mask == everyByte(0x09) & mask
  }

  @inline(never)
  private func hasManyTabs(_ tabs: Int, at offset: Int) -> Bool {
    for place in offset..<offset + tabs where byte(at: place) != 0x09 { return false }
    return true
  }

  /// The tabs that begin the line at `offset`.
  func indentation(at offset: Int) -> Int {
    var end = offset
    while byte(at: end) == UInt8(ascii: "\t") { end += 1 }
    return end - offset
  }

  /// The next place of `character`, or `end` if there is none before it.
  @inline(__always)
  func first(_ character: UInt8, from offset: Int, to end: Int) -> Int {
    var position = offset
    while position < end {
      let found = zeroBytes(word(at: position) ^ everyByte(character))
      if found != 0 { return min(position &+ found.trailingZeroBitCount &>> 3, end) }
      position &+= 8
    }
    return end
  }
}

extension StaticString {
  /// Up to eight bytes of the literal, in the order of ``CanonicalBytes/word(at:)``.
  @inline(__always)
  fileprivate func word(at offset: Int, _ length: Int) -> UInt64 {
    var word: UInt64 = 0
    for place in 0..<length { word |= UInt64(utf8Start[offset + place]) &<< UInt64(8 * place) }
    return word
  }
}

@inline(__always)
func everyByte(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 &* UInt64(byte) }

/// The high bit of each byte that is zero. Only the lowest of these bits is reliable: a borrow may set those above it.
@inline(__always)
func zeroBytes(_ word: UInt64) -> UInt64 { (word &- everyByte(0x01)) & ~word & everyByte(0x80) }
