/// Tells UTF-16 without a byte order mark from other text, which has no NUL.
enum UTF16Recognition {
  /// How many of the first bytes decide.
  static let sampleCount = 1 << 12

  /// - Parameter beginning: the first bytes of a text.
  /// - Returns: `nil` if the text is hardly UTF-16.
  static func encoding(of beginning: [UInt8]) -> DelimitedFormat.Encoding? {
    let bytes = beginning.prefix(sampleCount)
    // In another text, a NUL would be a rare fault.
    guard bytes.count(where: { $0 == 0 }) * 10 >= max(bytes.count, 10) else { return nil }
    let units = stride(from: 0, to: bytes.count - 1, by: 2).map { (bytes[$0], bytes[$0 + 1]) }
    // Other files with many NULs, such as databases, have pairs of them.
    guard !units.contains(where: { $0 == (0, 0) }) else { return nil }
    let little = units.reduce(0) { $0 + ($1.1 == 0 ? weight($1.0) : 0) }
    let big = units.reduce(0) { $0 + ($1.0 == 0 ? weight($1.1) : 0) }
    if little == big { return nil }
    return little > big ? .utf16LittleEndian : .utf16BigEndian
  }

  /// How much a character of ASCII tells. In the wrong byte order, Chinese text may have letters, but hardly any
  /// separators.
  private static func weight(_ byte: UInt8) -> Int { (0x09..<0x30).contains(byte) ? 4 : byte < 0x80 ? 1 : 0 }
}
