import FileDB
import FileDBPlist

/// Parses JSON (RFC 8259) into property list values, piece by piece. A number with a point or an exponent is a real,
/// and any other number an integer. A `null` in an object leaves its key out.
///
/// It throws if the text is not JSON. JSON that a property list cannot represent is recorded as a fault, and parsing
/// continues after it.
struct JSONParser: ~Copyable {
  private let name: String
  private var text: TextBytes
  private let limits: PlistLimits
  private let recordBytes: Int
  /// Where the record begins, and how many of its bytes have been read.
  private var record: (start: TextPosition, length: Int)
  /// The position of the next character.
  private(set) var position: TextPosition
  private var fault: StoreError?
  /// The keys of the last object, in its order, without those of objects inside it.
  private(set) var keys: [String] = []
  /// The keys with `null` in the last object, without those of objects inside it.
  private(set) var nullKeys: [String] = []

  init(
    name: String, line: Int = 1, limits: PlistLimits = PlistLimits(),
    recordBytes: Int = TextLimits().recordBytes,
    nextPiece: @escaping () throws -> [UInt8]?
  ) {
    self.name = name
    self.limits = limits
    self.recordBytes = recordBytes
    text = TextBytes(TextDecoder(.utf8, of: name, nextPiece: nextPiece))
    position = TextPosition(line: line)
    record = (position, 0)
  }

  /// Parses all of `text` as one value; `nil` for `null`.
  static func parse(_ text: String, name: String = "JSON") throws -> PlistValue? {
    var bytes: [UInt8]? = Array(text.utf8)
    var parser = JSONParser(name: name) {
      defer { bytes = nil }
      return bytes
    }
    let value = try parser.value()
    try parser.end()
    return value
  }

  /// Parses the next value, which is a record of its own; `nil` for `null`.
  mutating func value() throws -> PlistValue? {
    (fault, record) = (nil, (position, 0))
    let value = try value(depth: 0)
    if let fault { throw JSONFault(error: fault) }
    return value
  }

  private mutating func value(depth: Int) throws -> PlistValue? {
    guard depth <= limits.depth else {
      throw error("this is nested more than \(limits.depth) deep", at: position)
    }
    guard let token = try nextToken() else { throw error("the text ends before a value", at: position) }
    switch token {
    case UInt8(ascii: "{"): return .dict(try object(depth: depth))
    case UInt8(ascii: "["): return .array(try array(depth: depth))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    case UInt8(ascii: "a")...UInt8(ascii: "z"): return try word()
    default: throw error("a value should be here", at: position)
    }
  }

  private mutating func object(depth: Int) throws -> PlistDictionary {
    let start = position
    var entries: [PlistDictionary.Entry] = []
    var emptyKeys: [String] = []
    if depth == 0 { (keys, nullKeys) = ([], []) }
    _ = try take()
    if try takeIf(UInt8(ascii: "}")) { return PlistDictionary() }
    repeat {
      guard try nextToken() == UInt8(ascii: "\"") else {
        throw error("a key in quotes should be here", at: position)
      }
      let key = try string()
      try expect(UInt8(ascii: ":"), "a ':' should be here, after the key '\(key)'")
      if depth == 0 { keys.append(key) }
      if let value = try value(depth: depth + 1) {
        entries.append(PlistDictionary.Entry(key: key, value: value))
      } else {
        emptyKeys.append(key)
      }
    } while try takeIf(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"), "a ',' or the object's '}' should be here")
    if depth == 0 { nullKeys = emptyKeys }
    // A key with null counts, too.
    if !emptyKeys.isEmpty {
      _ = dictionary(entries + emptyKeys.map { PlistDictionary.Entry(key: $0, value: "") }, at: start)
    }
    return dictionary(entries, at: start)
  }

  private mutating func dictionary(_ entries: [PlistDictionary.Entry], at start: TextPosition)
    -> PlistDictionary
  {
    let dictionary = PlistDictionary(unsorted: entries) {
      reportFault("the key '\(entries[$0].key)' is in the object twice", at: start)
    }
    return dictionary ?? PlistDictionary()
  }

  private mutating func array(depth: Int) throws -> [PlistValue] {
    var elements: [PlistValue] = []
    _ = try take()
    if try takeIf(UInt8(ascii: "]")) { return elements }
    repeat {
      _ = try nextToken()
      let start = position
      if let value = try value(depth: depth + 1) {
        elements.append(value)
      } else {
        reportFault("an array of a property list cannot hold null", at: start)
      }
    } while try takeIf(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"), "a ',' or the array's ']' should be here")
    return elements
  }

  private mutating func word() throws -> PlistValue? {
    let start = position
    var word: [UInt8] = []
    while word.count < 6, let byte = try peek(), (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) {
      word.append(byte)
      _ = try take()
    }
    switch String(decoding: word, as: UTF8.self) {
    case "true": return true
    case "false": return false
    case "null": return nil
    default: throw error("a value should be here", at: start)
    }
  }

  private mutating func number() throws -> PlistValue {
    let start = position
    var digits: [UInt8] = []
    while let byte = try peek(), JSONNumber.characters.contains(byte) {
      digits.append(byte)
      _ = try take()
    }
    guard let isReal = JSONNumber.isReal(digits) else {
      throw error("'\(String(decoding: digits.prefix(40), as: UTF8.self))' is not a number", at: start)
    }
    let value = digits.withUnsafeBufferPointer { digits in
      isReal ? PlistNumber.real(digits).map(PlistValue.real) : PlistNumber.integer(digits)
    }
    guard let value else {
      reportFault(
        isReal
          ? "this number is too large for a real"
          : "this number is too large for an integer, which ends at 2^64-1",
        at: start)
      return 0
    }
    return value
  }
}

/// A value that was read, and that a property list cannot represent. The text continues after it.
struct JSONFault: Error {
  let error: StoreError
}

extension JSONParser {
  private mutating func string() throws -> String {
    let start = position
    var bytes: [UInt8] = []
    _ = try take()
    while let byte = try take() {
      switch byte {
      case UInt8(ascii: "\""):
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        reportFault("this text is not UTF-8", at: start)
        return ""
      case UInt8(ascii: "\\"): try appendEscape(to: &bytes)
      case 0..<0x20: throw error("a control character in a string must be written as an escape", at: position)
      default: bytes.append(byte)
      }
      guard bytes.count <= limits.valueBytes else {
        throw error("this string is longer than \(limits.valueBytes.grouped) bytes", at: start)
      }
    }
    throw error("a quote is opened here and never closed", at: start)
  }

  private mutating func appendEscape(to bytes: inout [UInt8]) throws {
    let start = position
    switch try take() {
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0C)
    case UInt8(ascii: "u"): try appendScalar(of: try hexadecimal(at: start), at: start, to: &bytes)
    case let byte? where [UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/")].contains(byte):
      bytes.append(byte)
    default: throw error("JSON has no such escape", at: start)
    }
  }

  private mutating func appendScalar(of unit: UInt16, at start: TextPosition, to bytes: inout [UInt8]) throws
  {
    if let scalar = Unicode.Scalar(unit) { return bytes.append(contentsOf: String(scalar).utf8) }
    guard UTF16.isLeadSurrogate(unit), try peek() == UInt8(ascii: "\\") else {
      return reportHalfCharacter(at: start)
    }
    _ = try take()
    guard try peek() == UInt8(ascii: "u") else {
      reportHalfCharacter(at: start)
      return try appendEscape(to: &bytes)
    }
    _ = try take()
    let second = try hexadecimal(at: start)
    let value = 0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(second & 0x3FF))
    guard UTF16.isTrailSurrogate(second), let scalar = Unicode.Scalar(value) else {
      return reportHalfCharacter(at: start)
    }
    bytes.append(contentsOf: String(scalar).utf8)
  }

  /// Without its other half, half of a pair is no character.
  private mutating func reportHalfCharacter(at start: TextPosition) {
    reportFault("this escape is half a character", at: start)
  }

  private mutating func hexadecimal(at start: TextPosition) throws -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = try take(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error("\\u takes four hexadecimal digits", at: start)
      }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }
}

extension JSONParser {
  /// The next byte that is not white space; `nil` at the end. Does not consume it.
  mutating func nextToken() throws -> UInt8? {
    while let byte = try peek(), isXMLSpace(byte) { _ = try take() }
    return try peek()
  }

  /// Consumes `byte` if it is the next token.
  mutating func takeIf(_ byte: UInt8) throws -> Bool {
    guard try nextToken() == byte else { return false }
    _ = try take()
    return true
  }

  mutating func expect(_ byte: UInt8, _ message: @autoclosure () -> String) throws {
    if try !takeIf(byte) { throw error(message(), at: position) }
  }

  /// - Throws: if there is anything left but white space.
  mutating func end() throws {
    if try nextToken() != nil { throw error("there is more text after the value", at: position) }
  }

  private mutating func peek() throws -> UInt8? { try text.peek() }

  private mutating func take() throws -> UInt8? {
    guard let byte = try text.take() else { return nil }
    record.length += 1
    guard record.length <= recordBytes else {
      throw error("this value is longer than \(recordBytes.grouped) bytes", at: record.start)
    }
    // In a CRLF, the line feed ends the line.
    let isLineEnd = try byte == 0x0A || byte == 0x0D && peek() != 0x0A
    if isLineEnd {
      position = TextPosition(line: position.line + 1)
    } else if byte.beginsCharacter {
      position.column += 1
    }
    return byte
  }

  private mutating func reportFault(_ message: String, at position: TextPosition) {
    if fault == nil { fault = error(message, at: position) }
  }

  func error(_ message: String, at position: TextPosition) -> StoreError {
    StoreError(invalidText: message, file: name, line: position.line, column: position.column)
  }
}

/// The grammar of a number: an optional minus, digits without a leading zero, an optional fraction and exponent.
private enum JSONNumber {
  static let characters = Set("+-.0123456789eE".utf8)

  /// Whether the number has a fraction or an exponent; `nil` if it is not a number.
  static func isReal(_ text: [UInt8]) -> Bool? {
    var rest = text[...]
    func takeDigits() -> Int {
      let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      rest = rest.dropFirst(digits.count)
      return digits.count
    }
    if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    let leadsWithZero = rest.first == UInt8(ascii: "0")
    let count = takeDigits()
    guard count > 0, !leadsWithZero || count == 1 else { return nil }
    if rest.isEmpty { return false }
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      guard takeDigits() > 0 else { return nil }
    }
    if let exponent = rest.first, exponent | 0x20 == UInt8(ascii: "e") {
      rest = rest.dropFirst()
      if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
        rest = rest.dropFirst()
      }
      guard takeDigits() > 0 else { return nil }
    }
    return rest.isEmpty ? true : nil
  }
}
