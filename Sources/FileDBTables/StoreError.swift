import FileDBPlist

/// What went wrong, and where: the file, line, table, record and field, if they are known.
///
/// Match on the ``code``. Later versions may add codes:
///
///     do {
///       try notes.update(id) { $0.isDone = true }
///     } catch StoreError.recordNotFound {
///       // It was deleted meanwhile.
///     }
public struct StoreError: Error, Sendable {
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  public let code: Code
  /// What is wrong, without the place.
  public var message: String
  /// The file. If a record could not be decoded, this and the ``line`` are found when you ask for them, by reading the
  /// table's file; `nil` if the file no longer has the record, or does not have it yet.
  public var file: String? {
    get { knownFile ?? place?.found?.file }
    set { knownFile = newValue }
  }
  /// The line in `file` or in a text, from 1; `nil` for a text of one line.
  public var line: Int? {
    get { knownLine ?? place?.found?.line }
    set { knownLine = newValue }
  }
  /// The character in the line, from 1.
  public var column: Int?
  public var table: String?
  public var record: RecordID?
  public var field: String?
  /// The system's error number, if a system call failed.
  public var errno: Int32?
  /// The part of a text that could not be read, with a caret below it.
  public var excerpt: String?

  private var knownFile: String?
  private var knownLine: Int?
  /// Finds ``file`` and ``line`` when they are asked for.
  package var place: (any RecordPlace)?

  public init(
    _ code: Code, _ message: String, file: String? = nil, line: Int? = nil, table: String? = nil,
    record: RecordID? = nil, field: String? = nil
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

extension StoreError {
  // Asked for something that is not there, or is there already.
  public static let recordNotFound = Code(rawValue: "recordNotFound")
  public static let indexOutOfRange = Code(rawValue: "indexOutOfRange")
  public static let tableNotFound = Code(rawValue: "tableNotFound")
  public static let tableExists = Code(rawValue: "tableExists")
  public static let duplicateID = Code(rawValue: "duplicateID")
  public static let counterExhausted = Code(rawValue: "counterExhausted")

  // Given something that a table cannot take.
  public static let invalidTableName = Code(rawValue: "invalidTableName")
  public static let reservedField = Code(rawValue: "reservedField")
  public static let unrepresentableValue = Code(rawValue: "unrepresentableValue")
  public static let invalidValue = Code(rawValue: "invalidValue")
  /// A newer program wrote the record; see ``VersionedValue``.
  public static let newerVersion = Code(rawValue: "newerVersion")
  /// A record could not be brought to the newest version of its type; see ``VersionedValue``.
  public static let migrationFailed = Code(rawValue: "migrationFailed")
  /// An attached store is never written to.
  public static let readOnly = Code(rawValue: "readOnly")
  public static let insideWrite = Code(rawValue: "insideWrite")
  /// A later commit changed what is to be undone.
  public static let undoConflict = Code(rawValue: "undoConflict")
  /// A file of the undo log that the step needs is missing or was changed, for example by a power cut.
  public static let undoStepLost = Code(rawValue: "undoStepLost")
  /// The text of a ``RecordPredicate`` is wrong, at ``column``.
  public static let invalidPredicate = Code(rawValue: "invalidPredicate")
  /// A regular expression takes more steps on a text of the record than are allowed, so it is unknown whether it
  /// matches.
  public static let matchLimitExceeded = Code(rawValue: "matchLimitExceeded")
  /// A later version of the shipped data is installed; see ``ShippedStore``.
  public static let olderThanInstalled = Code(rawValue: "olderThanInstalled")

  // Found a file that is not a table, or a damaged one.
  public static let notATable = Code(rawValue: "notATable")
  public static let damagedTable = Code(rawValue: "damagedTable")
  /// Git merged the table's file as text and left its conflict markers there. ``RecordStore/repair(_:keeping:)`` leaves
  /// such a file alone, since each side may hold the only copy of a record.
  public static let conflictMarkers = Code(rawValue: "conflictMarkers")
  /// The journal is not as it was written; no table can be trusted until it is repaired.
  public static let damagedJournal = Code(rawValue: "damagedJournal")
  /// A later version of this library made the journal.
  public static let newerFormat = Code(rawValue: "newerFormat")
  /// Another program changed a table's file, and commits that wait in the journal no longer fit it. The message names
  /// the records if it can. Both versions are kept until you tell ``RecordStore/repair(_:keeping:)`` which one to keep.
  public static let conflict = Code(rawValue: "conflict")
  public static let ambiguousTable = Code(rawValue: "ambiguousTable")
  public static let notAFolder = Code(rawValue: "notAFolder")

  // The disk said no.
  public static let locked = Code(rawValue: "locked")
  public static let fileNotFound = Code(rawValue: "fileNotFound")
  public static let permissionDenied = Code(rawValue: "permissionDenied")
  public static let diskFull = Code(rawValue: "diskFull")
  public static let inputOutput = Code(rawValue: "inputOutput")
  /// The disk failed at the moment of commit. The commit is there now, but a power cut may lose it.
  public static let outcomeUnknown = Code(rawValue: "outcomeUnknown")
  /// After ``outcomeUnknown``, another failed sync or ``RecordStore/close()``, the store takes no more writes. Open it
  /// again.
  public static let closed = Code(rawValue: "closed")
}

/// Lets `catch StoreError.locked` match an error by its code.
public func ~= (code: StoreError.Code, error: any Error) -> Bool { (error as? StoreError)?.code == code }

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
      case .empty, .binaryPropertyList, .oldStylePropertyList, .json, .notPropertyList, .unsupportedEncoding:
        StoreError.notATable
      default: StoreError.damagedTable
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
    let name = file.split(separator: "/").last ?? ""
    self.init(
      StoreError.conflictMarkers,
      "the file has git's conflict markers. Resolve the conflict in an editor, or have git merge the records: "
        + "'filedb git-setup', then 'git checkout --merge \(name)'",
      file: file, line: line, table: table)
  }
}

extension StoreError {
  /// This error with the table's name, where it has none yet.
  package func adding(table: String) -> StoreError {
    var error = self
    if error.table == nil { error.table = table }
    return error
  }

  /// This error with the record's id, where it has none yet.
  package func adding(record: RecordID) -> StoreError {
    var error = self
    if error.record == nil { error.record = record }
    return error
  }
}

/// Where a field of a record is in its table's file.
package protocol RecordPlace: Sendable {
  /// `nil` where the file has no such record.
  var found: (file: String, line: Int)? { get }
}
