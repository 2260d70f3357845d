extension StoreError {
  /// The kind of an error. Later versions may add codes, so a `switch` needs a `default`.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A positive number that stays the same in all versions: the FNV-1a hash of the name.
    var number: Int {
      Int(rawValue.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 } >> 1)
    }
  }
}

// Something that was asked for is missing, or exists already.
extension StoreError.Code {
  /// The table has no record with this id.
  public static let recordNotFound = Self(rawValue: "recordNotFound")
  /// The table has no record at this index, or a record cannot be put there.
  public static let indexOutOfRange = Self(rawValue: "indexOutOfRange")
  /// The table does not exist. Only methods that need an existing table, such as `sort`, throw this. Others treat a
  /// missing table as empty.
  public static let tableNotFound = Self(rawValue: "tableNotFound")
  /// The table already exists.
  public static let tableExists = Self(rawValue: "tableExists")
  /// Two records have the same id.
  public static let duplicateID = Self(rawValue: "duplicateID")
  /// The table has given its highest possible id, 2⁶³ - 1.
  public static let counterExhausted = Self(rawValue: "counterExhausted")
}

// The caller gave something that cannot be stored or understood.
extension StoreError.Code {
  /// The name is not allowed for a table, differs from another table's name only in case or accents, or is one that
  /// sync services give to their copies.
  public static let invalidTableName = Self(rawValue: "invalidTableName")
  /// FileDB uses this field itself, for example for the record's id.
  public static let reservedField = Self(rawValue: "reservedField")
  /// A property list cannot hold this value, or it is nested too deeply, or it is too large.
  public static let unrepresentableValue = Self(rawValue: "unrepresentableValue")
  /// The fields of a record do not fit the type, or one has no name; or the type encodes something other than the fields of a record, such
  /// as `nil` in an array.
  public static let invalidValue = Self(rawValue: "invalidValue")
  /// A newer program wrote the record; see `VersionedValue`.
  public static let newerVersion = Self(rawValue: "newerVersion")
  /// A record could not be brought to the newest version of its type; see `VersionedValue`.
  public static let migrationFailed = Self(rawValue: "migrationFailed")
  /// The table belongs to an attached store, which FileDB never writes to.
  public static let readOnly = Self(rawValue: "readOnly")
  /// The call is not allowed inside a write on the same thread.
  public static let insideWrite = Self(rawValue: "insideWrite")
  /// A later commit changed the data that undo would change back.
  public static let undoConflict = Self(rawValue: "undoConflict")
  /// Undo or redo needs a file of the undo log that is missing or was changed, for example by a power cut.
  public static let undoStepLost = Self(rawValue: "undoStepLost")
  /// The text of a `RecordPredicate` has a mistake at the error's column.
  public static let invalidPredicate = Self(rawValue: "invalidPredicate")
  /// A regular expression took more steps on a string of the record than FileDB allows. Whether it matches is unknown.
  public static let matchLimitExceeded = Self(rawValue: "matchLimitExceeded")
  /// A later version of the shipped data is installed; see `ShippedStore`.
  public static let olderThanInstalled = Self(rawValue: "olderThanInstalled")
}

// A table's schema does not allow this.
extension StoreError.Code {
  /// The schema in a table's file cannot be read, or a new schema contradicts itself. You can read a table whose schema
  /// cannot be read, but not write to it.
  public static let invalidSchema = Self(rawValue: "invalidSchema")
  /// A record lacks a field that the schema requires.
  public static let requiredField = Self(rawValue: "requiredField")
  /// A field's value does not have the type that the schema declares.
  public static let wrongType = Self(rawValue: "wrongType")
  /// The schema's `enum`, `minimum`, `maximum` or `pattern` does not allow a field's value.
  public static let valueNotAllowed = Self(rawValue: "valueNotAllowed")
  /// Two records have the same value in a field that must be unique.
  public static let notUnique = Self(rawValue: "notUnique")
  /// A field refers to a record that does not exist.
  public static let missingReference = Self(rawValue: "missingReference")
  /// The schema in a table's file has the same version as the one that this program declares, but other rules; see
  /// `TableDeclaration`.
  public static let schemaDiffers = Self(rawValue: "schemaDiffers")
  /// The schema in a table's file has a higher version than the one that this program declares. A newer program wrote
  /// it. Nothing is written. Records that still fit the program's type can be read.
  public static let newerSchema = Self(rawValue: "newerSchema")
  /// The record cannot be deleted, or its value cannot be changed, because another record refers to it.
  public static let stillReferenced = Self(rawValue: "stillReferenced")
}

// Something in the store's folder is not as it should be.
extension StoreError.Code {
  /// The file is not a property list that holds a table.
  public static let notATable = Self(rawValue: "notATable")
  /// The file holds only part of a table: it was cut off, or one of its records cannot be read. A repair saves what it
  /// can.
  public static let damagedTable = Self(rawValue: "damagedTable")
  /// Git merged the table's file as text and left its conflict markers in it. A repair merges both versions, record by
  /// record. If the markers do not enclose two versions of a table, the repair leaves the file alone.
  public static let conflictMarkers = Self(rawValue: "conflictMarkers")
  /// The journal is damaged: its bytes are not those that FileDB wrote, or a commit in it does not fit its table.
  /// Repair it before you go on; see `RecordStore.repairJournal()`.
  public static let damagedJournal = Self(rawValue: "damagedJournal")
  /// The store's folder, or `.filedb` in it, was moved or removed while the store was open. Nothing is made anew there;
  /// `lastSnapshot` has what this process knows.
  public static let storeGone = Self(rawValue: "storeGone")
  /// Another folder has a hard link to the journal, as `cp -al` makes it. ``RecordStore/repairJournal()`` gives the store
  /// a journal of its own. As a warning of `RecordStore.checkJournal()`: the journal comes from another machine.
  public static let sharedJournal = Self(rawValue: "sharedJournal")
  /// A later version of this library wrote the journal.
  public static let newerFormat = Self(rawValue: "newerFormat")
  /// Another program changed a table's file, and commits that wait in the journal no longer fit it. If possible, the
  /// message names the records. FileDB keeps both versions until you choose one by a repair.
  public static let conflict = Self(rawValue: "conflict")
  /// Two files could be the table: `NAME.plist`, and `NAME` without an extension.
  public static let ambiguousTable = Self(rawValue: "ambiguousTable")
  /// The store's URL does not lead to a folder, or the store has no folder.
  public static let notAFolder = Self(rawValue: "notAFolder")
  /// A path cannot be used, or leads out of its folder.
  public static let invalidPath = Self(rawValue: "invalidPath")
}

// The disk or another process refused.
extension StoreError.Code {
  /// Another writer held the lock for longer than `StoreOptions.lockTimeout`. Try again.
  public static let locked = Self(rawValue: "locked")
  /// A file that should be read does not exist.
  public static let fileNotFound = Self(rawValue: "fileNotFound")
  /// This process is not allowed to read or write the file, or the disk is read-only.
  public static let permissionDenied = Self(rawValue: "permissionDenied")
  /// The disk is full, or the process or user has reached a limit. Nothing was committed.
  public static let diskFull = Self(rawValue: "diskFull")
  /// Another kind of system call failure; ``StoreError/errno`` has its number.
  public static let inputOutput = Self(rawValue: "inputOutput")
  /// It is unknown whether the commit will last. Either the disk failed during the commit: then the commit exists now,
  /// but a power cut may lose it. Or the log that several machines share did not answer: then the commit may or may not
  /// exist.
  public static let outcomeUnknown = Self(rawValue: "outcomeUnknown")
  /// The log that several machines share cannot be reached, or did not answer in time. Nothing was committed.
  public static let unreachable = Self(rawValue: "unreachable")
  /// The store accepts no more writes: it was closed, or ``outcomeUnknown`` was thrown, or another sync failed. Open it
  /// again.
  public static let closed = Self(rawValue: "closed")
}

/// Lets you write `catch StoreError.Code.locked` for an error with this code.
public func ~= (code: StoreError.Code, error: any Error) -> Bool { (error as? StoreError)?.code == code }
