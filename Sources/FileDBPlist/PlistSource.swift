/// Converts the bytes of a file into the UTF-8 that the parser needs, piece by piece. It recognizes files that are not
/// XML property lists, drops a byte order mark, decodes UTF-16, and turns every line end into a line feed, as XML
/// requires. libxml2 could do that, too, but it does not count lines that end with only a carriage return.
struct PlistSource {
  private enum Encoding {
    case utf8
    case ascii
    case utf16(bigEndian: Bool)
  }

  /// Enough to hold an XML declaration, which names the encoding.
  private static let lookahead = 1024

  private var encoding: Encoding?
  /// The bytes that came before the encoding was known. After that, half a code unit or half a surrogate pair of
  /// UTF-16.
  private var pending: [UInt8] = []
  /// The current line.
  private var line = 1
  private var isBlank = true
  /// Whether the last byte was a carriage return, so that its line feed may still come.
  private var followsCarriageReturn = false

  /// Passes `piece` to `sink` as UTF-8: in one or more parts, or later.
  mutating func push(
    _ piece: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) throws(PlistError) -> Void
  ) throws(PlistError) {
    guard let encoding else {
      pending.append(contentsOf: piece)
      if pending.count >= Self.lookahead { try begin(sink) }
      return
    }
    try convert(piece, from: encoding, to: sink)
  }

  /// Passes on the rest.
  mutating func finish(_ sink: (UnsafeRawBufferPointer) throws(PlistError) -> Void) throws(PlistError) {
    if encoding == nil { try begin(sink) }
    if !pending.isEmpty { throw PlistError(.truncated, line: line) }
    if isBlank { throw PlistError(.empty) }
  }

  private mutating func begin(
    _ sink: (UnsafeRawBufferPointer) throws(PlistError) -> Void
  ) throws(PlistError) {
    // Look only at this much of the file, however it is cut into pieces.
    let (found, markLength) = try Self.recognize(Array(pending.prefix(Self.lookahead)))
    encoding = found
    let first = pending
    pending = []
    try first.withUnsafeBytesTyped { bytes throws(PlistError) in
      try convert(UnsafeRawBufferPointer(rebasing: bytes[markLength...]), from: found, to: sink)
    }
  }

  private mutating func convert(
    _ piece: UnsafeRawBufferPointer, from encoding: Encoding,
    to sink: (UnsafeRawBufferPointer) throws(PlistError) -> Void
  ) throws(PlistError) {
    switch encoding {
    case .utf8: try handOn(piece, to: sink)
    case .ascii:
      let valid = UnsafeRawBufferPointer(rebasing: piece.prefix { $0 < 0x80 })
      try handOn(valid, to: sink)
      guard valid.count == piece.count else {
        throw PlistError(.malformed("the file says it is ASCII but holds other bytes"), line: line)
      }
    case .utf16(let bigEndian):
      let (utf8, isValid) = decodeUTF16(piece, bigEndian: bigEndian)
      try utf8.withUnsafeBytesTyped { bytes throws(PlistError) in
        try handOn(bytes, to: sink)
      }
      guard isValid else { throw PlistError(.malformed("half a surrogate pair"), line: line) }
    }
  }

  private mutating func handOn(
    _ text: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) throws(PlistError) -> Void
  ) throws(PlistError) {
    if isBlank { isBlank = text.allSatisfy(isXMLSpace) }
    guard followsCarriageReturn || text.contains(UInt8(ascii: "\r")) else {
      line += Self.lineCount(text)
      return try sink(text)
    }
    try withLineFeeds(text).withUnsafeBytesTyped { bytes throws(PlistError) in
      line += Self.lineCount(bytes)
      try sink(bytes)
    }
  }

  private mutating func withLineFeeds(_ text: UnsafeRawBufferPointer) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    for byte in text {
      let isCarriageReturn = byte == UInt8(ascii: "\r")
      if isCarriageReturn {
        result.append(UInt8(ascii: "\n"))
      } else if byte != UInt8(ascii: "\n") || !followsCarriageReturn {
        result.append(byte)
      }
      followsCarriageReturn = isCarriageReturn
    }
    return result
  }

  private static func lineCount(_ bytes: UnsafeRawBufferPointer) -> Int {
    bytes.count { $0 == UInt8(ascii: "\n") }
  }

  /// The complete characters in `piece` and the bytes before it, up to a surrogate that is not part of a pair.
  private mutating func decodeUTF16(
    _ piece: UnsafeRawBufferPointer, bigEndian: Bool
  ) -> (utf8: [UInt8], isValid: Bool) {
    let bytes = pending + piece
    let units = (0..<bytes.count / 2).lazy.map { index in
      let (first, second) = (UInt16(bytes[2 * index]), UInt16(bytes[2 * index + 1]))
      return bigEndian ? first << 8 | second : second << 8 | first
    }
    // The second half of a pair may come with the next piece.
    let complete = units.last.map(UTF16.isLeadSurrogate) == true ? units.dropLast() : units[...]
    pending = Array(bytes[(2 * complete.count)...])
    var utf8: [UInt8] = []
    utf8.reserveCapacity(bytes.count)
    let isBroken = transcode(
      complete.makeIterator(), from: UTF16.self, to: UTF8.self, stoppingOnError: true
    ) { utf8.append($0) }
    return (utf8, !isBroken)
  }
}

extension PlistSource {
  /// The encoding of a file that begins with `bytes`, and the length of its byte order mark.
  private static func recognize(_ bytes: [UInt8]) throws(PlistError) -> (Encoding, markLength: Int) {
    if bytes.starts(with: "bplist".utf8) {
      let version = String(
        decoding: bytes.dropFirst(6).prefix(2).filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
      throw PlistError(version == "00" ? .binaryPropertyList : .unknownBinaryPropertyList(version: version))
    }
    if bytes.starts(with: [0x00, 0x00, 0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE, 0x00, 0x00]) {
      throw PlistError(.unsupportedEncoding("UTF-32"), line: 1)
    }
    if bytes.starts(with: [0xFE, 0xFF]) { return (.utf16(bigEndian: true), 2) }
    if bytes.starts(with: [0xFF, 0xFE]) { return (.utf16(bigEndian: false), 2) }
    let markLength = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let text = bytes[markLength...]
    if text.starts(with: [0x3C, 0x00]) || text.starts(with: [0x00, 0x3C]) {
      throw PlistError(.unsupportedEncoding("UTF-16 without a byte order mark"), line: 1)
    }
    if text.starts(with: [0x4C, 0x6F, 0xA7, 0x94]) {
      throw PlistError(.unsupportedEncoding("EBCDIC"), line: 1)
    }
    let withoutSpace = text.drop(while: isXMLSpace)
    if !withoutSpace.isEmpty { try refuseOtherFormats(withoutSpace) }
    return (try declaredEncoding(text), markLength)
  }

  private static func refuseOtherFormats(_ text: ArraySlice<UInt8>) throws(PlistError) {
    let first = text.first
    if first == UInt8(ascii: "<") {
      // `<0fbd77>` is old-style data; no XML name begins with a digit.
      if let second = text.dropFirst().first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(second) {
        throw PlistError(.oldStylePropertyList)
      }
      return
    }
    switch first {
    case UInt8(ascii: "("), UInt8(ascii: "/"): throw PlistError(.oldStylePropertyList)
    case UInt8(ascii: "["): throw PlistError(.json)
    case UInt8(ascii: "{"):
      // The first of these characters outside quotes decides: `{ key = value; }` or `{ "key": value }`.
      var quoted = false
      for byte in text {
        if byte == UInt8(ascii: "\"") { quoted.toggle() }
        if !quoted, byte == UInt8(ascii: "=") { throw PlistError(.oldStylePropertyList) }
        if !quoted, byte == UInt8(ascii: ":") { throw PlistError(.json) }
      }
      throw PlistError(
        text.dropFirst().drop(while: isXMLSpace).first == UInt8(ascii: "}") ? .json : .oldStylePropertyList)
    case 0x00: throw PlistError(.notPropertyList(found: "it begins with a NUL byte"), line: 1)
    default: throw PlistError(.notPropertyList(found: "it does not begin with '<'"), line: 1)
    }
  }

  /// The encoding that an XML declaration at the start names; UTF-8 if there is none.
  private static func declaredEncoding(_ text: ArraySlice<UInt8>) throws(PlistError) -> Encoding {
    guard text.starts(with: "<?xml".utf8), let next = text.dropFirst(5).first, isXMLSpace(next) else {
      return .utf8
    }
    guard let end = text.firstIndex(of: UInt8(ascii: ">")) else {
      // If the file ends here, the parser reports it.
      if text.count < lookahead - 3 { return .utf8 }
      throw PlistError(.malformed("the XML declaration is too long"), line: 1)
    }
    let declaration = String(decoding: text[..<end], as: UTF8.self)
    guard let attribute = declaration.firstRange(of: "encoding") else { return .utf8 }
    let value = declaration[attribute.upperBound...].drop { $0 == "=" || $0.isWhitespace }
    guard let quote = value.first, quote == "\"" || quote == "'" else { return .utf8 }
    let name = String(value.dropFirst().prefix { $0 != quote })
    switch name.lowercased() {
    case "utf-8", "utf8": return .utf8
    case "us-ascii", "ascii": return .ascii
    // It could not be read as these bytes if it were true. Editors that convert a file to UTF-8 leave it like this.
    case "utf-16", "utf16", "utf-16le", "utf-16be": return .utf8
    default: throw PlistError(.unsupportedEncoding(name), line: 1)
    }
  }
}

extension Array where Element == UInt8 {
  /// `withUnsafeBytes` with a typed error.
  func withUnsafeBytesTyped<Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    var failure: Failure?
    withUnsafeBytes { bytes in
      do throws(Failure) { try body(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }
}
