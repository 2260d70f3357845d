import FileDBPlist

/// An error of FileDB: what went wrong, and where. It has the file, line, table, record and field, as far as they are
/// known.
///
/// Match on the ``code``:
///
///     do {
///       try notes.update(id) { $0.isDone = true }
///     } catch StoreError.Code.recordNotFound {
///       // It was deleted meanwhile.
///     } catch let error as StoreError {
///       switch error.code {
///       case .locked, .diskFull: tryAgainLater()
///       default: throw error
///       }
///     }
public struct StoreError: Error, Sendable {
  /// The kind of the error, to match on.
  public let code: Code
  /// What went wrong, in words, without the place.
  public var message: String
  /// The path of the file. If a record could not be decoded, FileDB finds this and the ``line`` when you ask for them,
  /// by reading the table's file. `nil` if the file no longer has the record, or does not have it yet.
  public var file: String? {
    get { knownFile ?? location?.found?.file }
    set { knownFile = newValue }
  }
  /// The line in the file or in a text, from 1; `nil` for a text of one line.
  public var line: Int? {
    get { knownLine ?? location?.found?.line }
    set { knownLine = newValue }
  }
  /// The character in the line, from 1.
  public var column: Int?
  /// The table's name.
  public var table: String?
  /// The record's id.
  public var record: AnyRecordID?
  /// The field's name. A field inside a dictionary has the whole path, with dots between the names.
  public var field: String?
  /// The system's error number, if a system call failed.
  public var errno: Int32?
  /// The part of a text that could not be read, with a caret below it.
  public var excerpt: String?
  /// The original error, if it came from your own code, such as a type's `encode(to:)`.
  public var underlyingError: (any Error)?

  private var knownFile: String?
  private var knownLine: Int?
  /// Finds ``file`` and ``line`` when they are needed.
  package var location: (any FileLocation)?

  /// An error of your own, for example to throw from a write or in a test.
  /// - Parameters:
  ///   - code: the kind of the error.
  ///   - message: what went wrong, in words, without the place.
  ///   - file: the path of the file.
  ///   - line: the line in the file, from 1.
  ///   - table: the table's name.
  ///   - record: the record's id.
  ///   - field: the field's name, with dots between the names of a path.
  public init(
    _ code: Code, _ message: String, file: String? = nil, line: Int? = nil, table: String? = nil,
    record: AnyRecordID? = nil, field: String? = nil
  ) {
    self.code = code
    self.message = message
    knownFile = file
    knownLine = line
    self.table = table
    self.record = record
    self.field = field
  }
}

/// Errors are equal if they have the same code and message, and the same file, line, table, record and field. A file
/// and a line that are only found when somebody asks for them do not count.
extension StoreError: Equatable {
  public static func == (left: StoreError, right: StoreError) -> Bool {
    left.code == right.code && left.message == right.message && left.knownFile == right.knownFile
      && left.knownLine == right.knownLine && left.column == right.column && left.table == right.table
      && left.record == right.record && left.field == right.field && left.errno == right.errno
      && left.excerpt == right.excerpt
  }
}

/// What an `NSError` made of the error has. The standard library asks for both; `CustomNSError` would need all of
/// Foundation.
extension StoreError {
  /// The domain of the `NSError`.
  public var _domain: String { "FileDB.StoreError" }
  /// The code of the `NSError`, another for each ``code``.
  public var _code: Int { code.number }
}

extension StoreError: CustomStringConvertible {
  /// `FILE:LINE:COLUMN: table 'T': record 3: field 'f': message`, with the parts that are known, then the ``excerpt``
  /// on lines of its own.
  public var description: String {
    var parts: [String] = []
    if let file {
      let place = [line, column].compactMap(\.self).map { ":\($0)" }.joined()
      parts.append(file + place)
    } else if let column {
      parts.append((line.map { "line \($0), " } ?? "") + "column \(column)")
    }
    if let table { parts.append("table '\(table)'") }
    if let record { parts.append("record \(record)") }
    if let field { parts.append("field '\(field)'") }
    return (parts + [message]).joined(separator: ": ") + (excerpt.map { "\n" + $0 } ?? "")
  }
}

extension StoreError {
  /// A property list that could not be read from `file`.
  package init(_ error: PlistError, file: String, table: String?) {
    let code: Code =
      switch error.reason {
      case .empty, .binaryPropertyList, .unknownBinaryPropertyList, .oldStylePropertyList, .json,
        .notPropertyList, .unsupportedEncoding:
        .notATable
      default: .damagedTable
      }
    self.init(code, error.message, file: file, line: error.line, table: table)
    column = error.column
  }

  /// A table whose `bytes` could not be read as a property list.
  package init(_ error: PlistError, in bytes: [UInt8], file: String, table: String) {
    guard let line = ConflictMarkers.firstLine(in: bytes, failure: error.line) else {
      self.init(error, file: file, table: table)
      return
    }
    self.init(
      .conflictMarkers,
      "the file has git's conflict markers; 'filedb repair' merges both versions, record by record, "
        + "and keeps this file as a backup",
      file: file, line: line, table: table)
  }
}

extension StoreError {
  /// This error with the table's name, if it has no name yet.
  package func adding(table: String) -> StoreError {
    var error = self
    if error.table == nil { error.table = table }
    return error
  }

  /// This error with the record's id, if it has no id yet.
  package func adding(record: AnyRecordID) -> StoreError {
    var error = self
    if error.record == nil { error.record = record }
    return error
  }
}

/// Finds a location in a table's file: that of a record's field, or of a part of the schema.
package protocol FileLocation: Sendable {
  /// `nil` if the file does not have it any more.
  var found: (file: String, line: Int)? { get }
}
