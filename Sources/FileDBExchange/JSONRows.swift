import FileDB
import FileDBPlist

/// Reads the objects of JSON and NDJSON as the rows of an import.
enum JSONRows {
  /// Whether the first line with text may be a complete object, as in NDJSON.
  static func beginWithWholeLine(_ source: ImportSource) throws -> Bool {
    var text = TextBytes(TextDecoder(.utf8, of: source.name, nextPiece: try source.open()))
    var last: UInt8?
    while let byte = try text.take(), byte != 0x0A || last == nil {
      if !isXMLSpace(byte) { last = byte }
    }
    return last == UInt8(ascii: "}")
  }

  /// Reads an array of objects, or objects one after another.
  static func readObjects(_ source: ImportSource, _ body: (ImportRow.Reading) throws -> Void) throws {
    var parser = JSONParser(
      name: source.name, recordBytes: source.limits.recordBytes, nextPiece: try source.open())
    if try parser.nextToken() == UInt8(ascii: "{") {
      repeat { try body(try row(of: &parser)) } while try parser.nextToken() == UInt8(ascii: "{")
      return try parser.end()
    }
    try parser.expect(UInt8(ascii: "["), "the file should be an array of objects: '['")
    if try !parser.takeIf(UInt8(ascii: "]")) {
      repeat { try body(try row(of: &parser)) } while try parser.takeIf(UInt8(ascii: ","))
      try parser.expect(UInt8(ascii: "]"), "a ',' or the array's ']' should be here")
    }
    try parser.end()
  }

  /// Reads one object from each line, and skips empty lines. A line that is not JSON is one wrong row. If a line has
  /// only a `{`, the object continues to its `}`: programs print it like this for people.
  static func readLines(_ source: ImportSource, _ body: (ImportRow.Reading) throws -> Void) throws {
    var lines = LineReader(try source.open(), of: source.name)
    var number = 1
    let limit = source.limits.recordBytes
    while var row = try lines.next(limit: limit) {
      let start = number
      number += lineCount(of: row)
      if row.filter({ !isXMLSpace($0) }) == [UInt8(ascii: "{")] {
        var depth = 1
        while depth > 0, row.count <= limit, let line = try lines.next(limit: limit) {
          number += lineCount(of: line)
          depth += nesting(of: line)
          row += [0x0A] + line
        }
      }
      guard row.count <= limit else {
        throw StoreError(
          invalidText: "this value is longer than \(limit.grouped) bytes", file: source.name, line: start,
          column: 1)
      }
      if !row.allSatisfy(isXMLSpace) { try body(reading(of: row, number: start, name: source.name)) }
    }
  }

  /// For people, and for the parser, a carriage return also ends a line. The last one belongs to a CRLF.
  private static func lineCount(of line: [UInt8]) -> Int { 1 + line.dropLast().count { $0 == 0x0D } }

  /// How many more objects and arrays begin in this line than end in it. Strings do not continue on the next line.
  private static func nesting(of line: [UInt8]) -> Int {
    var (depth, isInText, isEscaped) = (0, false, false)
    for byte in line {
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = isInText
      case UInt8(ascii: "\""): isInText.toggle()
      case UInt8(ascii: "{") where !isInText, UInt8(ascii: "[") where !isInText: depth += 1
      case UInt8(ascii: "}") where !isInText, UInt8(ascii: "]") where !isInText: depth -= 1
      default: break
      }
    }
    return depth
  }

  private static func reading(of line: [UInt8], number: Int, name: String) -> ImportRow.Reading {
    var bytes: [UInt8]? = line
    var parser = JSONParser(name: name, line: number) {
      defer { bytes = nil }
      return bytes
    }
    do {
      let reading = try row(of: &parser)
      try parser.end()
      return reading
    } catch {
      return .failure(error as? StoreError ?? StoreError(.invalidText, "\(error)", file: name))
    }
  }

  private static func row(of parser: inout JSONParser) throws -> ImportRow.Reading {
    _ = try parser.nextToken()
    let start = parser.position
    do {
      guard case .dict(let fields)? = try parser.value() else {
        return .failure(parser.error("an object should be here", at: start))
      }
      var row = ImportRow(fields: Fields(fields), origin: .line(start.line)) { _ in
        (start.line, start.column)
      }
      (row.names, row.cleared) = (parser.keys, parser.nullKeys)
      return .success(row)
    } catch let fault as JSONFault {
      return .failure(fault.error)
    }
  }
}

/// The lines of a text, without their line feeds.
private struct LineReader {
  private var text: TextDecoder
  private var rest: ArraySlice<UInt8> = []

  init(_ nextPiece: @escaping () throws -> [UInt8]?, of name: String) {
    text = TextDecoder(.utf8, of: name, nextPiece: nextPiece)
  }

  /// The next line, or the part of it that shows that it is longer than `limit`.
  mutating func next(limit: Int) throws -> [UInt8]? {
    var line: [UInt8] = []
    var hasBegun = false
    while true {
      if line.count > limit { return line }
      if rest.isEmpty {
        guard let piece = try text.next() else { return hasBegun ? line : nil }
        rest = piece[...]
        continue
      }
      hasBegun = true
      guard let end = rest.firstIndex(of: 0x0A) else {
        line += rest
        rest = []
        continue
      }
      line += rest[..<end]
      rest = rest[(end + 1)...]
      return line
    }
  }
}
