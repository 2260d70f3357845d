import FileDB

/// Converts the bytes of a text to UTF-8, piece by piece, and removes a byte order mark.
///
/// Bytes that are not valid in the encoding become a byte that UTF-8 never contains, so that the reader refuses them at
/// their place.
struct TextDecoder {
  private enum Form {
    case utf8, latin1, windows1252
    case utf16(isLittleEndian: Bool)
  }

  private static let invalid: UInt8 = 0xFF
  /// In place of a byte that is a character in windows-1252.
  static let invalidInLatin1: UInt8 = 0xFE
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private let name: String?
  private let nextPiece: () throws -> [UInt8]?
  private let encoding: DelimitedFormat.Encoding
  /// Remembered, because reading on at the end of a terminal would wait for new input.
  private var isAtEnd = false
  /// Known after the first bytes.
  private var form: Form?
  /// In UTF-16: the first byte of a unit whose second byte is in the next piece, and the first unit of a pair.
  private var half: UInt8?
  private var leading: UInt16?

  /// - Parameter name: the name of the text in errors; `nil` for bytes that need not be text.
  init(_ encoding: DelimitedFormat.Encoding, of name: String?, nextPiece: @escaping () throws -> [UInt8]?) {
    (self.encoding, self.name, self.nextPiece) = (encoding, name, nextPiece)
  }

  /// The next bytes of UTF-8, which may be empty; `nil` at the end.
  /// - Throws: ``StoreError/Code/invalidText`` for UTF-16 without a byte order mark, and the errors of reading.
  mutating func next() throws -> [UInt8]? {
    guard form != nil else { return try first() }
    guard let piece = try nextRawPiece() else { return finish() }
    return decode(piece)
  }

  private mutating func nextRawPiece() throws -> [UInt8]? {
    if isAtEnd { return nil }
    let piece = try nextPiece()
    isAtEnd = piece == nil
    return piece
  }

  private mutating func first() throws -> [UInt8]? {
    var piece: [UInt8] = []
    // However the text is cut, the same bytes decide about its form.
    while piece.count < UTF16Recognition.sampleCount, let more = try nextRawPiece() { piece += more }
    form = try form(of: piece)
    let text = decode(piece)
    return text.starts(with: Self.byteOrderMark) ? Array(text.dropFirst(Self.byteOrderMark.count)) : text
  }

  private func form(of beginning: [UInt8]) throws -> Form {
    let marked: DelimitedFormat.Encoding? =
      beginning.starts(with: [0xFF, 0xFE])
      ? .utf16LittleEndian : beginning.starts(with: [0xFE, 0xFF]) ? .utf16BigEndian : nil
    let likely = UTF16Recognition.encoding(of: beginning)
    let form: Form
    switch encoding {
    case .utf16LittleEndian: return .utf16(isLittleEndian: true)
    case .utf16BigEndian: return .utf16(isLittleEndian: false)
    case .utf16: return .utf16(isLittleEndian: (marked ?? likely) == .utf16LittleEndian)
    // No text in UTF-8 begins with the byte order mark of UTF-16, so the mark counts here, too.
    case .utf8 where marked != nil, .utf8WithMark where marked != nil:
      return .utf16(isLittleEndian: marked == .utf16LittleEndian)
    case .utf8, .utf8WithMark: form = .utf8
    case .latin1: form = .latin1
    case .windows1252: form = .windows1252
    }
    guard let likely, let name else { return form }
    throw StoreError(
      .invalidText,
      "this is UTF-16\(marked == nil ? " without a byte order mark" : ""); its encoding is \(likely.rawValue)",
      file: name)
  }

  private mutating func decode(_ piece: [UInt8]) -> [UInt8] {
    switch form {
    case .utf8, nil: return piece
    case .latin1:
      return Self.decode(piece) { Windows1252.special.contains($0) ? nil : UInt32($0) }
    case .windows1252: return Self.decode(piece, Windows1252.scalar)
    case .utf16(let isLittleEndian):
      var text: [UInt8] = []
      text.reserveCapacity(piece.count)
      for byte in piece {
        guard let first = half else {
          half = byte
          continue
        }
        half = nil
        let (low, high) = isLittleEndian ? (first, byte) : (byte, first)
        append(unit: UInt16(high) << 8 | UInt16(low), to: &text)
      }
      return text
    }
  }

  private static func decode(_ piece: [UInt8], _ scalar: (UInt8) -> UInt32?) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(piece.count)
    for byte in piece {
      if let scalar = scalar(byte) {
        append(scalar, to: &text)
      } else {
        text.append(Windows1252.scalar(byte) == nil ? invalid : invalidInLatin1)
      }
    }
    return text
  }

  private mutating func append(unit: UInt16, to text: inout [UInt8]) {
    if let first = leading {
      leading = nil
      if UTF16.isTrailSurrogate(unit) {
        return Self.append(0x10000 + (UInt32(first & 0x3FF) << 10 | UInt32(unit & 0x3FF)), to: &text)
      }
      text.append(Self.invalid)
    }
    if UTF16.isLeadSurrogate(unit) {
      leading = unit
    } else if UTF16.isTrailSurrogate(unit) {
      text.append(Self.invalid)
    } else {
      Self.append(UInt32(unit), to: &text)
    }
  }

  private mutating func finish() -> [UInt8]? {
    guard half != nil || leading != nil else { return nil }
    (half, leading) = (nil, nil)
    return [Self.invalid]
  }

  private static func append(_ scalar: UInt32, to text: inout [UInt8]) {
    if scalar < 0x80 { return text.append(UInt8(scalar)) }
    guard let scalar = Unicode.Scalar(scalar) else { return text.append(invalid) }
    text.append(contentsOf: String(scalar).utf8)
  }
}
