import FileDB
import Foundation

/// Reads delimited text record by record, in memory that does not grow with the file.
///
/// Lines end in LF, CRLF or CR, also within one file. A quote counts as one only at the start of a field; inside a quoted
/// field it is written twice. A line without a character is skipped. A byte order mark at the start is skipped.
public struct DelimitedReader: ~Copyable {
  /// One record of the text.
  public struct Row: Sendable, Equatable {
    public var fields: [String]
    /// The line on which it begins, from 1.
    public var line: Int
  }

  private let name: String
  private let format: DelimitedFormat
  private let nextPiece: () throws -> [UInt8]?
  private var piece: [UInt8] = []
  private var position = 0
  private var hasBegun = false
  private var isAtEnd = false

  /// The line that is being read, from 1.
  private var line = 1

  /// - Parameters:
  ///   - name: where the text is from, for the errors.
  ///   - nextPiece: the next bytes, however they are cut; `nil` at the end.
  public init(name: String, format: DelimitedFormat, nextPiece: @escaping () throws -> [UInt8]?) {
    self.name = name
    self.format = format
    self.nextPiece = nextPiece
  }

  /// The text of the file at `url`.
  /// - Throws: ``StoreError/fileNotFound``, ``StoreError/permissionDenied``, ``StoreError/inputOutput``.
  public init(contentsOf url: URL, format: DelimitedFormat) throws {
    let file = try InputFile(url)
    self.init(name: url.path, format: format) { try file.read() }
  }

  /// The next record, `nil` at the end.
  /// - Throws: ``StoreError`` with file and line: a quote that is never closed, text behind a closing quote, bytes
  ///   that are not of the encoding.
  public mutating func next() throws -> Row? {
    if !hasBegun {
      hasBegun = true
      try skipByteOrderMark()
    }
    while true {
      guard try peek() != nil else { return nil }
      let start = line
      let (fields, isBlank) = try readRecord()
      if !isBlank { return Row(fields: fields, line: start) }
    }
  }

  private mutating func readRecord() throws -> (fields: [String], isBlank: Bool) {
    var fields: [String] = []
    while true {
      let isQuoted = try format.quote != nil && peek() == format.quote
      let bytes = try isQuoted ? readQuoted() : readPlain()
      fields.append(try decode(bytes, field: fields.count))
      guard let end = try take() else { break }
      if end == format.separator { continue }
      try endLine(end)
      return (fields, fields.count == 1 && bytes.isEmpty && !isQuoted)
    }
    return (fields, false)
  }

  /// The bytes up to a separator, a line end, or the end.
  private mutating func readPlain() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while try peek() != nil {
      let start = position
      while position < piece.count, !isFieldEnd(piece[position]) { position += 1 }
      bytes.append(contentsOf: piece[start..<position])
      if position < piece.count { break }
    }
    return bytes
  }

  private mutating func readQuoted() throws -> [UInt8] {
    let opened = line
    let quote = try take()
    var bytes: [UInt8] = []
    while let byte = try take() {
      if byte == quote {
        guard try peek() == quote else {
          if let next = try peek(), !isFieldEnd(next) {
            throw error(
              "text behind the closing quote of a field; a quote inside it is written twice", line: line)
          }
          return bytes
        }
        bytes.append(byte)
        position += 1
      } else {
        bytes.append(byte)
        if byte == 0x0A { line += 1 }
        // Of a CRLF the line feed counts.
        if byte == 0x0D, try peek() != 0x0A { line += 1 }
      }
    }
    throw error("a quote is opened here and never closed", line: opened)
  }

  private func isFieldEnd(_ byte: UInt8) -> Bool { byte == format.separator || byte == 0x0A || byte == 0x0D }

  private mutating func endLine(_ end: UInt8) throws {
    if end == 0x0D, try peek() == 0x0A { position += 1 }
    line += 1
  }

  private func decode(_ bytes: [UInt8], field: Int) throws -> String {
    switch format.encoding {
    case .latin1:
      var text = ""
      text.unicodeScalars.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
      return text
    case .utf8:
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw error("field \(field + 1) is not UTF-8; the file's encoding may be latin-1", line: line)
      }
      return text
    }
  }

  /// The next byte without taking it; `nil` at the end.
  private mutating func peek() throws -> UInt8? {
    while position == piece.count {
      if isAtEnd { return nil }
      guard let next = try nextPiece() else {
        isAtEnd = true
        return nil
      }
      piece = next
      position = 0
    }
    return piece[position]
  }

  private mutating func take() throws -> UInt8? {
    let byte = try peek()
    if byte != nil { position += 1 }
    return byte
  }

  private mutating func skipByteOrderMark() throws {
    guard format.encoding == .utf8, try peek() == 0xEF else { return }
    // A first piece of one or two bytes is filled up, so that the mark shows as a whole.
    while piece.count < 3, let more = try nextPiece() { piece += more }
    if piece.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  private func error(_ message: String, line: Int) -> StoreError {
    StoreError(StoreError.invalidText, message, file: name, line: line)
  }
}

extension StoreError {
  /// Text that does not follow its format, or does not fit the type it should have.
  public static let invalidText = Code(rawValue: "invalidText")
}

/// A file that is read piece by piece.
public final class InputFile {
  private let name: String
  private let handle: FileHandle

  /// - Throws: ``StoreError/fileNotFound``, ``StoreError/permissionDenied``, ``StoreError/inputOutput``.
  public init(_ url: URL) throws {
    name = url.path
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: name, isDirectory: &isFolder), isFolder.boolValue {
      throw StoreError(StoreError.inputOutput, "this is a folder, not a file", file: name)
    }
    do { handle = try FileHandle(forReadingFrom: url) } catch { throw StoreError(reading: name, error) }
  }

  private init(name: String, handle: FileHandle) {
    self.name = name
    self.handle = handle
  }

  public static var standardInput: InputFile { InputFile(name: "standard input", handle: .standardInput) }

  /// The next bytes, at most 256 KiB; `nil` at the end.
  public func read() throws -> [UInt8]? {
    do {
      guard let data = try handle.read(upToCount: 256 << 10), !data.isEmpty else { return nil }
      return Array(data)
    } catch {
      throw StoreError(reading: name, error)
    }
  }

  public func readAll() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try read() { bytes += piece }
    return bytes
  }
}

extension StoreError {
  fileprivate init(reading name: String, _ error: any Error) {
    switch (error as? CocoaError)?.code {
    case .fileNoSuchFile, .fileReadNoSuchFile:
      self.init(StoreError.fileNotFound, "there is no such file", file: name)
    case .fileReadNoPermission:
      self.init(StoreError.permissionDenied, "this file may not be read", file: name)
    default: self.init(StoreError.inputOutput, "\(error)", file: name)
    }
  }
}
