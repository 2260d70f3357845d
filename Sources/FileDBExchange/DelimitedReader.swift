import FileDB

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads delimited text record by record, with memory that does not grow with the file.
///
/// Lines end in LF, CRLF or CR, even in the same file. A quote counts as one only at the start of a field; inside a
/// quoted field it is written twice. Empty lines and a byte order mark at the start are skipped.
public struct DelimitedReader: ~Copyable {
  /// One record of the text.
  public struct Row: Sendable, Equatable {
    public var cells: [Cell]
    /// The line on which the record begins, from 1.
    public var line: Int

    /// The texts of the cells.
    public var fields: [String] { cells.map(\.text) }
  }

  /// One field of a record.
  public struct Cell: Sendable, Equatable {
    public var text: String
    /// Whether the field was in quotes. This distinguishes an empty text from a missing one.
    public var isQuoted: Bool
    /// Where the field begins: the line and the column, both from 1. The column counts characters.
    public var line: Int
    public var column: Int
  }

  /// A record, or what is wrong with it; the next one can be read in either case.
  typealias Reading = Result<Row, StoreError>

  private let name: String
  private let format: DelimitedFormat
  private var text: TextBytes
  /// The first field of the record that is no text in its encoding. Where the record ends is known all the same.
  private var fault: StoreError?

  /// The place of the next character, from 1.
  private var line = 1
  private var column = 1

  /// - Parameters:
  ///   - name: the name of the text in errors.
  ///   - nextPiece: returns the next bytes, in pieces of any size; `nil` at the end.
  public init(name: String, format: DelimitedFormat, nextPiece: @escaping () throws -> [UInt8]?) {
    self.name = name
    self.format = format
    text = TextBytes(TextDecoder(format.encoding, nextPiece: nextPiece))
  }

  /// The text of the file at `url`.
  /// - Throws: ``StoreError/Code/fileNotFound``, ``StoreError/Code/permissionDenied``, ``StoreError/Code/inputOutput``.
  public init(contentsOf url: URL, format: DelimitedFormat) throws {
    let file = try InputFile(url)
    self.init(name: url.path, format: format) { try file.read() }
  }

  /// The next record; `nil` at the end.
  /// - Throws: ``StoreError`` with file and line for a quote that is never closed, for text after a closing quote, and
  ///   for bytes that are not in the encoding. After such bytes you can still read the next record.
  public mutating func next() throws -> Row? { try nextReading()?.get() }

  /// - Throws: what leaves nobody a way to say where the next record begins.
  mutating func nextReading() throws -> Reading? {
    while try text.peek() != nil {
      let start = line
      fault = nil
      let cells = try readRecord()
      if let fault { return .failure(fault) }
      let isBlank = cells.count == 1 && cells[0].text.isEmpty && !cells[0].isQuoted
      if !isBlank { return .success(Row(cells: cells, line: start)) }
    }
    return nil
  }

  private mutating func readRecord() throws -> [Cell] {
    var cells: [Cell] = []
    while true {
      cells.append(try readCell(number: cells.count + 1))
      guard let end = try text.take() else { return cells }
      guard end == format.separator else {
        try endLine(end)
        return cells
      }
      column += 1
    }
  }

  private mutating func readCell(number: Int) throws -> Cell {
    let (line, column) = (line, column)
    let isQuoted = try format.quote != nil && text.peek() == format.quote
    let bytes = try isQuoted ? readQuoted() : readPlain()
    let text = String(validating: bytes, as: UTF8.self)
    if text == nil, fault == nil {
      let name = format.encoding.rawValue.uppercased()
      let advice = format.encoding == .utf8 ? "; the file's encoding may be latin-1" : ""
      fault = error("field \(number) is not \(name)\(advice)", line: line, column: column)
    }
    return Cell(text: text ?? "", isQuoted: isQuoted, line: line, column: column)
  }

  /// The bytes up to a separator, a line end, or the end.
  private mutating func readPlain() throws -> [UInt8] {
    let separator = format.separator
    let bytes = try text.take { Self.isFieldEnd($0, separator) }
    column += bytes.count { $0.beginsCharacter }
    return bytes
  }

  private mutating func readQuoted() throws -> [UInt8] {
    let opened = (line, column)
    let quote = try takeCharacter()
    var bytes: [UInt8] = []
    while let byte = try takeCharacter() {
      guard byte == quote else {
        bytes.append(byte)
        continue
      }
      guard try text.peek() == quote else {
        if let next = try text.peek(), !Self.isFieldEnd(next, format.separator) {
          throw error(
            "text after the closing quote of a field; a quote inside it is written twice", line: line,
            column: column)
        }
        return bytes
      }
      bytes.append(byte)
      _ = try takeCharacter()
    }
    throw error("a quote is opened here and never closed", line: opened.0, column: opened.1)
  }

  /// Takes a byte of a text that may have several lines.
  private mutating func takeCharacter() throws -> UInt8? {
    guard let byte = try text.take() else { return nil }
    // Of a CRLF the line feed counts.
    let isCRLF = try byte == 0x0D && text.peek() == 0x0A
    if byte == 0x0A || (byte == 0x0D && !isCRLF) {
      (line, column) = (line + 1, 1)
    } else if byte.beginsCharacter {
      column += 1
    }
    return byte
  }

  private static func isFieldEnd(_ byte: UInt8, _ separator: UInt8) -> Bool {
    byte == separator || byte == 0x0A || byte == 0x0D
  }

  private mutating func endLine(_ end: UInt8) throws {
    if end == 0x0D, try text.peek() == 0x0A { _ = try text.take() }
    (line, column) = (line + 1, 1)
  }

  private func error(_ message: String, line: Int, column: Int) -> StoreError {
    StoreError(invalidText: message, file: name, line: line, column: column)
  }
}

extension StoreError {
  /// A text does not follow its format, or does not fit its type.
  public static let invalidText = Code(rawValue: "invalidText")

  init(invalidText message: String, file: String, line: Int?, column: Int?, field: String? = nil) {
    self.init(StoreError.invalidText, message, file: file, line: line, field: field)
    self.column = column
  }
}

extension UInt8 {
  /// False for the bytes of UTF-8 that go on with a character.
  var beginsCharacter: Bool { self & 0xC0 != 0x80 }
}
