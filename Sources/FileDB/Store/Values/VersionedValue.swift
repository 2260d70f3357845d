import FileDBPlist

/// A type of values whose fields have changed since its first version.
///
/// ```swift
/// struct Note: VersionedValue {
///   var title: String
///   var tags: [String]
///
///   static let migrations: [ValueMigration] = [
///     { $0["title"] = $0["name"]; $0["name"] = nil },
///     { $0["tags"] = [] },
///   ]
/// }
/// ```
///
/// Each record stores its version: the number of migrations that it has been through. An older record goes through the
/// remaining ones each time it is read. The next change of the record stores it in the newest version, and so does
/// ``RecordTable/migrate()``. A record of a newer program cannot be read or changed, and throws
/// ``StoreError/Code/newerVersion``.
///
/// Whatever reads fields by name (``StoredRecord/fields``, ``SortKey``, other programs) sees a record as it is stored.
public protocol VersionedValue: Codable, Sendable {
  /// The steps from each version to the next, the oldest first. You may add steps at the end. Do not change or remove
  /// steps that records have been through.
  static var migrations: [ValueMigration] { get }
}

/// Turns the fields of one version of a record into those of the next. It may run each time a record is read, so it
/// must always give the same result for the same fields.
public typealias ValueMigration = @Sendable (inout Fields) throws -> Void

/// The steps of a type of values, and what they make of a record.
struct ValueMigrations {
  /// The field that holds a record's version; without it, that is 0. Such a record's own fields may not have this name.
  static let versionKey = "wgFileDbVersion"

  private let steps: [ValueMigration]

  /// `nil` for a type that has no versions.
  init?(_ type: Any.Type) {
    guard let type = type as? any VersionedValue.Type else { return nil }
    steps = type.migrations
  }

  var version: Int64 { Int64(steps.count) }

  /// The record as of the newest version.
  /// - Throws: ``StoreError/Code/newerVersion``, ``StoreError/Code/migrationFailed``, without the record.
  func migrated(_ record: EncodedRecord) throws(StoreError) -> EncodedRecord {
    var fields = record.fields
    let version = try version(of: fields)
    guard version < steps.count else { return record }
    fields[Self.versionKey] = nil
    for (number, step) in steps.enumerated().dropFirst(version) {
      do { try step(&fields) } catch { throw failure(from: number, "\(error)") }
    }
    // What a step made must not be read as other than it would come back from the file.
    do {
      return EncodedRecord(id: record.id, fields: try marked(fields).normalized(limits: PlistLimits()))
    } catch {
      throw failure(from: version, error.description)
    }
  }

  /// The fields of a record of the newest version, which say so.
  func marked(_ fields: Fields) throws(StoreError) -> Fields {
    guard fields[Self.versionKey] == nil else {
      throw StoreError(
        .reservedField, "this name is kept for the record's version", field: Self.versionKey)
    }
    var fields = fields
    if version > 0 { fields[Self.versionKey] = .integer(version) }
    return fields
  }

  private func version(of fields: Fields) throws(StoreError) -> Int {
    guard let field = fields[Self.versionKey] else { return 0 }
    guard let version = field.integer.flatMap(Int.init(exactly:)), version >= 0 else {
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

extension RecordTable where Value: VersionedValue {
  /// Stores every record in the newest version of its type. Records that already have this version are not written.
  /// - Returns: the number of records that were written.
  /// - Throws: ``StoreError/Code/newerVersion``, ``StoreError/Code/migrationFailed`` or
  ///   ``StoreError/Code/invalidValue`` for the first record that has this problem; then no record is changed.
  /// - Complexity: O(*n*).
  @discardableResult
  public func migrate() throws -> Int {
    try writing { transaction in
      var migrated: [EncodedRecord] = []
      for record in try snapshot() {
        let current = try record.migrated
        if current.encoded == record.encoded { continue }
        _ = try current.value  // What the type cannot read must not be written.
        migrated.append(current.encoded)
      }
      for record in migrated { try transaction.apply(.replace(record), to: name.text) }
      return migrated.count
    }
  }
  /// Stores every record in the newest version of its type; see the synchronous `migrate`.
  @discardableResult
  public func migrate() async throws -> Int { try await writing { try $0.migrate() } }
}
