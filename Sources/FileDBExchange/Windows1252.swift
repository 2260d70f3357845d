/// Windows-1252 has characters where Latin-1 has the control characters 0x80 to 0x9F. Otherwise both are the same.
enum Windows1252 {
  /// The characters of these bytes; 0 for a byte that has none.
  private static let specials: [UInt16] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,
    0x017D, 0,
    0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,
    0x017E,
    0x0178,
  ]

  /// The bytes that are control characters in Latin-1.
  static let special: ClosedRange<UInt8> = 0x80...0x9F

  /// - Returns: `nil` if the byte is no character.
  static func scalar(_ byte: UInt8) -> UInt32? {
    guard special.contains(byte) else { return UInt32(byte) }
    let scalar = specials[Int(byte - special.lowerBound)]
    return scalar == 0 ? nil : UInt32(scalar)
  }

  /// - Returns: `nil` if the encoding lacks the character.
  static func byte(_ scalar: Unicode.Scalar) -> UInt8? {
    if let byte = UInt8(exactly: scalar.value), !special.contains(byte) { return byte }
    return UInt16(exactly: scalar.value).flatMap(specials.firstIndex).map { special.lowerBound + UInt8($0) }
  }

  /// Whether a byte that is not part of a character in UTF-8 is one that only this encoding has.
  static func isLikely(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var position = 0
    while position < bytes.count {
      let byte = bytes[position]
      let end = min(position + max(1, (~byte).leadingZeroBitCount), bytes.count)
      let isCharacter = String(validating: bytes[position..<end], as: UTF8.self) != nil
      if !isCharacter, special.contains(byte), scalar(byte) != nil { return true }
      position = isCharacter ? end : position + 1
    }
    return false
  }
}
