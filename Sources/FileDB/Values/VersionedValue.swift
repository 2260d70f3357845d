import FileDBPlist
import FileDBTables

/// A type of values whose fields have changed since its first version.
///
/// ```swift
/// struct Note: VersionedValue {
///   var title: String
///   var tags: [String]
///
///   static let migrations: [ValueMigration] = [
///     .rename("name", to: "title"),
///     .default("tags", []),
///   ]
/// }
/// ```
///
/// FileDB stores with each record its version: the number of migrations that it has been through. When an older record
/// is read, it goes through the remaining migrations. This also happens for closures, a ``RecordPredicate``, a
/// ``SortKey``, a search, a lookup and an observation. The next change of the record stores it in the newest version,
/// and so does `RecordTable.migrate()`. A record of a newer program cannot be read or changed: it throws
/// ``StoreError/Code/newerVersion``.
///
/// A record without a version is of the first version, or somebody made it by hand. If it fits the newest version as it
/// is, and has no field that the migrations would rename or remove, FileDB reads it as it is. Otherwise it goes through
/// all migrations, which cannot lose what it has; see ``ValueMigration``. So if the meaning of a field changes but
/// neither its type nor its name, the field needs a new name.
///
/// Imports, the command line and tables of ``Fields`` also add the version to a record that they add, if it has the
/// same fields as the table's records with a version. They, ``StoredRecord/fields`` and `record["field"]` see a record
/// as it is stored. So do a search and a sort, if a migration fails.
public protocol VersionedValue: Codable, Sendable {
  /// The steps from each version to the next, the oldest first. You may add steps at the end. Do not change or remove
  /// steps that records have been through. FileDB reads this once.
  static var migrations: [ValueMigration] { get }
}

/// The migration steps of a type, and their results for a record.
struct ValueMigrations: Sendable {
  /// The field that holds the version of a record. A versioned type must not use this name for a field of its own.
  static let versionKey = "wgFileDbVersion"

  private let steps: [ValueMigration]
  private let formerNames: [String]
  /// Whether the type accepts these fields without using any default.
  private let fits: @Sendable (EncodedRecord) -> Bool

  init(_ steps: [ValueMigration], fits: @escaping @Sendable (EncodedRecord) -> Bool) {
    (self.steps, self.fits) = (steps, fits)
    formerNames = steps.flatMap(\.formerNames)
  }

  var version: Int64 { Int64(steps.count) }

  /// The record in the newest version.
  /// - Throws: ``StoreError/Code/newerVersion``, ``StoreError/Code/migrationFailed``; ``StoreError/Code/invalidValue``
  ///   if the field for the version holds something else. The errors do not name the record.
  func newest(_ record: EncodedRecord) throws(StoreError) -> EncodedRecord {
    guard let stored = record.field(Self.versionKey) else { return try newestOfUnversioned(record) }
    let version = try version(from: stored)
    return version < steps.count ? try migrated(record, from: version) : record
  }

  /// For a record without a version: it is of the first version, or was made by hand in the form of the newest.
  private func newestOfUnversioned(_ record: EncodedRecord) throws(StoreError) -> EncodedRecord {
    guard version > 0 else { return record }
    let former = record.fields(formerNames)
    if former.isEmpty { return fits(record) ? try asItIs(record) : try migrated(record, from: 0) }
    do {
      let migrated = try migrated(record, from: 0)
      let left = migrated.fields(formerNames)
      let isOld = former.contains { left[$0.key] == nil } && fits(migrated)
      return isOld || !fits(record) ? migrated : try asItIs(record)
    } catch {
      guard fits(record) else { throw error }
      return try asItIs(record)
    }
  }

  private func asItIs(_ record: EncodedRecord) throws(StoreError) -> EncodedRecord {
    try encoded(record.fields, of: record.id)
  }

  private func migrated(_ record: EncodedRecord, from version: Int) throws(StoreError) -> EncodedRecord {
    var fields = record.fields
    fields[Self.versionKey] = nil
    for (number, step) in steps.enumerated().dropFirst(version) {
      do { try step.apply(to: &fields) } catch { throw failure(from: number, "\(error)") }
    }
    do { return try encoded(fields, of: record.id) } catch {
      throw failure(from: version, error.description)
    }
  }

  // The result of a step must be read in the form in which it would come back from the file.
  private func encoded(_ fields: Fields, of id: AnyRecordID) throws(StoreError) -> EncodedRecord {
    EncodedRecord(id: id, fields: try addingVersion(to: fields).normalized(limits: PlistLimits()))
  }

  /// The fields of a record of the newest version, with that version.
  func addingVersion(to fields: Fields) throws(StoreError) -> Fields {
    guard fields[Self.versionKey] == nil else { throw Self.reserved }
    var fields = fields
    if version > 0 { fields[Self.versionKey] = .integer(version) }
    return fields
  }

  /// Refuses fields of a record of the newest version whose version was removed or changed.
  func checkVersion(of fields: Fields) throws(StoreError) {
    guard fields[Self.versionKey] ?? 0 == .integer(version) else { throw Self.reserved }
  }

  private static var reserved: StoreError {
    StoreError(.reservedField, "FileDB keeps the record's version under this name", field: versionKey)
  }

  private func version(from stored: PlistValue) throws(StoreError) -> Int {
    guard let version = stored.integer.flatMap(Int.init(exactly:)), version >= 0 else {
      throw StoreError(
        .invalidValue, "a record's version is a whole number from 0", field: Self.versionKey)
    }
    guard version <= steps.count else {
      throw StoreError(
        .newerVersion,
        "a newer program wrote this record: its version is \(version), and this program knows \(steps.count)")
    }
    return version
  }

  private func failure(from version: Int, _ reason: String) -> StoreError {
    StoreError(
      .migrationFailed,
      "the record could not be brought from version \(version) to \(steps.count): \(reason)")
  }
}
