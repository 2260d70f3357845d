import FileDB
import FileDBEssentials

/// Reads delimited text record by record. Its use of memory does not grow with the file.
///
/// Lines end in LF, CRLF or CR, and one file may mix them. A quote has a meaning only at the start of a field. Inside a
/// quoted field, a quote is written twice. Empty lines, and a byte order mark at the start, are skipped.
public struct DelimitedReader: ~Copyable {
  /// One record of the text.
  public struct Row: Sendable, Equatable {
    /// The fields of the record, in order.
    public var cells: [Cell]
    /// The line on which the record begins, from 1.
    public var line: Int

    /// The strings of the cells.
    public var fields: [String] { cells.map(\.text) }
  }

  /// One field of a record.
  public struct Cell: Sendable, Equatable {
    /// The field's text, without the quotes around it.
    public var text: String
    /// Whether the field was in quotes. This tells an empty text from a missing one.
    public var isQuoted: Bool
    /// The line in which the field begins, from 1.
    public var line: Int
    /// The column at which the field begins, from 1, in characters.
    public var column: Int
  }

  /// A record, or the error in it. In either case, the next one can be read.
  typealias Reading = Result<Row, StoreError>

  private let name: String
  private let encoding: DelimitedFormat.Encoding
  private var scanner: DelimitedScanner

  /// A reader of bytes from any source.
  /// - Parameters:
  ///   - name: the name of the text in errors.
  ///   - format: the layout of the text.
  ///   - nextPiece: returns the next bytes, in pieces of any size; `nil` at the end.
  public init(name: String, format: DelimitedFormat, nextPiece: @escaping () throws -> [UInt8]?) {
    self.init(name: name, format: format, limits: TextLimits(), nextPiece: nextPiece)
  }

  init(_ source: ImportSource, format: DelimitedFormat) throws {
    self.init(name: source.name, format: format, limits: source.limits, nextPiece: try source.open())
  }

  private init(
    name: String, format: DelimitedFormat, limits: TextLimits, nextPiece: @escaping () throws -> [UInt8]?
  ) {
    (self.name, encoding) = (name, format.encoding)
    scanner = DelimitedScanner(format, of: name, limits: limits, nextPiece: nextPiece)
  }

  /// A reader of the file at `url`.
  /// - Throws: ``StoreError/Code/fileNotFound``, ``StoreError/Code/permissionDenied``, ``StoreError/Code/inputOutput``.
  public init(contentsOf url: URL, format: DelimitedFormat) throws {
    let file = try InputFile(url)
    self.init(name: url.path, format: format) { try file.read() }
  }

  /// The next record; `nil` at the end.
  /// - Throws: ``StoreError`` with file and line for a quote that is never closed, for text after a closing quote, for
  ///   a record of more than 128 MiB or about a million fields, and for bytes that are not valid in the encoding. After
  ///   such bytes, you can still read the next record.
  public mutating func next() throws -> Row? { try nextReading()?.get() }

  /// - Throws: errors after which it is unknown where the next record begins.
  mutating func nextReading() throws -> Reading? { try advance() ? reading() : nil }

  /// Moves to the next record, for ``reading()`` and ``withCells(_:)``.
  /// - Returns: false at the end.
  /// - Throws: as ``nextReading()``.
  mutating func advance() throws -> Bool {
    do {
      return try scanner.next()
    } catch let fault as DelimitedScanner.Fault {
      throw scanner.withBytes { bytes in
        var position = TextPosition(line: scanner.line)
        position.advance(in: bytes, from: 0, to: fault.offset)
        return error(fault.message, at: position, code: fault.code)
      }
    }
  }

  /// Calls `body` with the record's bytes in the text, and the places of the cells in them.
  borrowing func withCells<Result>(
    _ body: (UnsafeBufferPointer<UInt8>, [DelimitedScanner.Cell]) throws -> Result
  ) rethrows -> Result {
    try scanner.withBytes { try body($0, scanner.cells) }
  }

  /// The record, or an error for its first field that is not valid text in its encoding.
  borrowing func reading() -> Reading {
    scanner.withBytes { bytes in
      var (position, offset) = (TextPosition(line: scanner.line), 0)
      var cells: [Cell] = []
      cells.reserveCapacity(scanner.cells.count)
      for cell in scanner.cells {
        position.advance(in: bytes, from: offset, to: cell.outerStart)
        offset = cell.outerStart
        guard let text = cell.text(in: bytes) else {
          let content = UnsafeBufferPointer(rebasing: bytes[cell.start..<cell.end])
          let advice =
            encoding.likelier(for: content).map { "; the file's encoding may be \($0.rawValue)" } ?? ""
          return .failure(
            error("field \(cells.count + 1) is not \(encoding.rawValue.uppercased())\(advice)", at: position))
        }
        cells.append(Cell(text: text, isQuoted: cell.isQuoted, line: position.line, column: position.column))
      }
      return .success(Row(cells: cells, line: scanner.line))
    }
  }

  private borrowing func error(
    _ message: String, at position: TextPosition, code: StoreError.Code = StoreError.Code.invalidText
  ) -> StoreError {
    var error = StoreError(code, message, file: name, line: position.line)
    error.column = position.column
    return error
  }
}

extension DelimitedFormat.Encoding {
  /// The encoding that may be meant instead, for bytes that this one lacks.
  fileprivate func likelier(for bytes: UnsafeBufferPointer<UInt8>) -> Self? {
    switch self {
    case .utf8, .utf8WithMark: Windows1252.isLikely(bytes) ? .windows1252 : .latin1
    case .latin1: bytes.contains(TextDecoder.invalidInLatin1) ? .windows1252 : nil
    case .windows1252, .utf16, .utf16LittleEndian, .utf16BigEndian: nil
    }
  }
}

extension DelimitedScanner.Cell {
  /// - Returns: `nil` if it is not UTF-8.
  func text(in row: UnsafeBufferPointer<UInt8>) -> String? {
    let content = UnsafeBufferPointer(rebasing: row[start..<end])
    return hasQuotes
      ? String(validating: withoutDoubledQuotes(content, quote: row[outerStart]), as: UTF8.self)
      : String(validating: content, as: UTF8.self)
  }

  /// The bytes of the text, with doubled quotes made single.
  func withoutDoubledQuotes(_ content: UnsafeBufferPointer<UInt8>, quote: UInt8) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(content.count)
    var position = 0
    while position < content.count {
      bytes.append(content[position])
      position += content[position] == quote ? 2 : 1
    }
    return bytes
  }
}

extension StoreError.Code {
  /// Text does not follow its format, or does not fit its type.
  public static let invalidText = Self(rawValue: "invalidText")
  /// A quote of delimited text is never closed, or has text after it.
  public static let strayQuote = Self(rawValue: "strayQuote")
  /// A column of delimited text has no name, or the name of another one.
  public static let columnName = Self(rawValue: "columnName")
  /// A row of delimited text has more or fewer fields than there are columns.
  public static let rowLength = Self(rawValue: "rowLength")
  /// A text is no number as FileDB writes it, but one with another decimal mark, or in groups of digits.
  public static let otherNumber = Self(rawValue: "otherNumber")
  /// A text is no date as FileDB reads it, but one in another form.
  public static let otherDate = Self(rawValue: "otherDate")
}

extension StoreError {
  init(invalidText message: String, file: String, line: Int?, column: Int?, field: String? = nil) {
    self.init(.invalidText, message, file: file, line: line, field: field)
    self.column = column
  }
}

extension UInt8 {
  /// False for a byte that continues a character of UTF-8.
  var beginsCharacter: Bool { self & 0xC0 != 0x80 }
}
