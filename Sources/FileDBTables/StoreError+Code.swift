extension StoreError {
  /// What kind of error it is. Later versions may add codes, so a `switch` needs a `default`.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }
}

// What was asked for is not there, or is there already.
extension StoreError.Code {
  /// The table has no record with this id.
  public static let recordNotFound = Self(rawValue: "recordNotFound")
  /// The table has no such index, or no place for a record there.
  public static let indexOutOfRange = Self(rawValue: "indexOutOfRange")
  /// The table does not exist. Only verbs that need an existing table, such as `sort`, throw this. Others treat a
  /// missing table as empty.
  public static let tableNotFound = Self(rawValue: "tableNotFound")
  /// The table exists already.
  public static let tableExists = Self(rawValue: "tableExists")
  /// Two records have the same id.
  public static let duplicateID = Self(rawValue: "duplicateID")
  /// The table has given its highest possible id, 2⁶³ - 1.
  public static let counterExhausted = Self(rawValue: "counterExhausted")
}

// What was given cannot be stored or understood.
extension StoreError.Code {
  /// No table can have this name, or its name differs from another table's only in case or accents.
  public static let invalidTableName = Self(rawValue: "invalidTableName")
  /// FileDB uses this field itself, for example for the record's id.
  public static let reservedField = Self(rawValue: "reservedField")
  /// A property list cannot hold this value, or it is nested too deep or too large.
  public static let unrepresentableValue = Self(rawValue: "unrepresentableValue")
  /// The fields of a record do not fit the type, or the type encodes something that is not a record's fields, such as
  /// `nil` in an array.
  public static let invalidValue = Self(rawValue: "invalidValue")
  /// A newer program wrote the record; see `VersionedValue`.
  public static let newerVersion = Self(rawValue: "newerVersion")
  /// A record could not be brought to the newest version of its type; see `VersionedValue`.
  public static let migrationFailed = Self(rawValue: "migrationFailed")
  /// The table belongs to an attached store, which FileDB never writes to.
  public static let readOnly = Self(rawValue: "readOnly")
  /// The call is not allowed inside a write of the same thread.
  public static let insideWrite = Self(rawValue: "insideWrite")
  /// A later commit changed what is to be undone.
  public static let undoConflict = Self(rawValue: "undoConflict")
  /// A file of the undo log that the step needs is missing or was changed, for example by a power cut.
  public static let undoStepLost = Self(rawValue: "undoStepLost")
  /// The text of a `RecordPredicate` is wrong, at the error's column.
  public static let invalidPredicate = Self(rawValue: "invalidPredicate")
  /// A regular expression takes more steps on a text of the record than are allowed, so it is unknown whether it
  /// matches.
  public static let matchLimitExceeded = Self(rawValue: "matchLimitExceeded")
  /// A later version of the shipped data is installed; see `ShippedStore`.
  public static let olderThanInstalled = Self(rawValue: "olderThanInstalled")
}

// What a table's schema does not allow.
extension StoreError.Code {
  /// The schema in a table's file cannot be read, or a schema that was given contradicts itself. A table with such a
  /// schema can be read, and takes no writes.
  public static let invalidSchema = Self(rawValue: "invalidSchema")
  /// A record lacks a field that the schema requires.
  public static let requiredField = Self(rawValue: "requiredField")
  /// A field has a value of another type than the schema declares.
  public static let wrongType = Self(rawValue: "wrongType")
  /// A field has a value that the schema's `enum`, `minimum`, `maximum` or `pattern` does not allow.
  public static let valueNotAllowed = Self(rawValue: "valueNotAllowed")
  /// Two records have the same value in a field that is unique.
  public static let notUnique = Self(rawValue: "notUnique")
  /// A field names a record that does not exist.
  public static let missingReference = Self(rawValue: "missingReference")
  /// The schema in a table's file has other rules than this program declares, under the same version; see
  /// `TableDeclaration`.
  public static let schemaDiffers = Self(rawValue: "schemaDiffers")
  /// The schema in a table's file has a higher version than this program declares: a newer program has been there.
  public static let newerSchema = Self(rawValue: "newerSchema")
  /// The record cannot be deleted, or its value changed, because another record names it.
  public static let stillReferenced = Self(rawValue: "stillReferenced")
}

// What is in the store's folder is not as it should be.
extension StoreError.Code {
  /// The file is not a property list that holds a table.
  public static let notATable = Self(rawValue: "notATable")
  /// The file is a table in part: it was cut off, or has a record that cannot be read. A repair saves what it can.
  public static let damagedTable = Self(rawValue: "damagedTable")
  /// Git merged the table's file as text and left its conflict markers there. A repair merges both versions, record by
  /// record. It leaves the file alone if the markers do not enclose two versions of a table.
  public static let conflictMarkers = Self(rawValue: "conflictMarkers")
  /// The journal is not as it was written. No table can be trusted until it is repaired.
  public static let damagedJournal = Self(rawValue: "damagedJournal")
  /// A later version of this library made the journal.
  public static let newerFormat = Self(rawValue: "newerFormat")
  /// Another program changed a table's file, and commits that wait in the journal no longer fit it. The message names
  /// the records if it can. Both versions are kept until a repair is told which one to keep.
  public static let conflict = Self(rawValue: "conflict")
  /// Two files could be the table: `NAME.plist`, and `NAME` without an ending.
  public static let ambiguousTable = Self(rawValue: "ambiguousTable")
  /// The store's place is not a folder, or the store has no folder.
  public static let notAFolder = Self(rawValue: "notAFolder")
}

// The disk or another process said no.
extension StoreError.Code {
  /// Another writer had the store locked for longer than the store's options allow. Try again.
  public static let locked = Self(rawValue: "locked")
  /// A file that is to be read does not exist.
  public static let fileNotFound = Self(rawValue: "fileNotFound")
  /// This process may not read or write the file, or the disk is read-only.
  public static let permissionDenied = Self(rawValue: "permissionDenied")
  /// The disk is full, or the process or user has reached a limit. Nothing was committed.
  public static let diskFull = Self(rawValue: "diskFull")
  /// A system call failed in another way; the error has its number.
  public static let inputOutput = Self(rawValue: "inputOutput")
  /// The disk failed at the moment of the commit: the commit is there now, but a power cut may lose it. Or the log that
  /// several machines share did not answer: the commit is there or not.
  public static let outcomeUnknown = Self(rawValue: "outcomeUnknown")
  /// The log that several machines share cannot be reached, or did not answer in time. Nothing was committed.
  public static let unreachable = Self(rawValue: "unreachable")
  /// After ``outcomeUnknown``, another failed sync, or a close, the store takes no more writes. Open it again.
  public static let closed = Self(rawValue: "closed")
}

/// Lets `catch StoreError.Code.locked` match an error by its code.
public func ~= (code: StoreError.Code, error: any Error) -> Bool { (error as? StoreError)?.code == code }
