import FileDBPlist

/// A row whose fields have changed since its first version.
///
/// ```swift
/// struct Note: VersionedRow {
///   var title: String
///   var tags: [String]
///
///   static let migrations: [RowMigration] = [
///     { $0["title"] = $0["name"]; $0["name"] = nil },
///     { $0["tags"] = [] },
///   ]
/// }
/// ```
///
/// A row knows its version: how many steps have been taken with it. One that is behind takes the others each time it is
/// read, and is written as of the newest version when it is next changed, or by ``RecordTable/migrate()``. One that is ahead,
/// written by a newer program, is ``StoreError/newerRow``: it is neither read nor changed.
///
/// What looks at fields by name instead (``StoredRow/record``, ``SortKey``, other programs) sees a row as it is stored.
public protocol VersionedRow: Codable, Sendable {
  /// The steps from each version to the next, the oldest first. Steps may be added at the end; those that rows have taken
  /// stay.
  static var migrations: [RowMigration] { get }
}

/// Makes the fields of a row's next version from those of the one before. It may run each time a row is read, so it must make the
/// same of the same fields.
public typealias RowMigration = @Sendable (inout Record) throws -> Void

/// The steps of a row's type, and what they make of a record.
struct RowMigrations {
  /// The field that holds a row's version; without it, that is 0. Such a row's own fields may not have this name.
  static let versionKey = "wgFileDbRowVersion"

  private let steps: [RowMigration]

  /// `nil` for a type that has no versions.
  init?(_ type: Any.Type) {
    guard let type = type as? any VersionedRow.Type else { return nil }
    steps = type.migrations
  }

  var version: Int64 { Int64(steps.count) }

  /// The record as of the newest version.
  /// - Throws: ``StoreError/newerRow``, ``StoreError/migrationFailed``, without the record.
  func migrated(_ stored: StoredRecord) throws(StoreError) -> StoredRecord {
    var record = stored.record
    let version = try version(of: record)
    guard version < steps.count else { return stored }
    record[Self.versionKey] = nil
    for (number, step) in steps.enumerated().dropFirst(version) {
      do { try step(&record) } catch { throw failure(from: number, "\(error)") }
    }
    // What a step made must not be read as other than it would come back from the file.
    do {
      return StoredRecord(id: stored.id, record: try marked(record).normalized(limits: PlistLimits()))
    } catch {
      throw failure(from: version, error.description)
    }
  }

  /// A record of the newest version, which says so.
  func marked(_ record: Record) throws(StoreError) -> Record {
    guard record[Self.versionKey] == nil else {
      throw StoreError(
        StoreError.reservedField, "this name is kept for the row's version", field: Self.versionKey)
    }
    var record = record
    if version > 0 { record[Self.versionKey] = .integer(version) }
    return record
  }

  private func version(of record: Record) throws(StoreError) -> Int {
    guard let field = record[Self.versionKey] else { return 0 }
    guard let version = field.integer.flatMap(Int.init(exactly:)), version >= 0 else {
      throw StoreError(
        StoreError.invalidRow, "a row's version is a whole number from 0", field: Self.versionKey)
    }
    guard version <= steps.count else {
      throw StoreError(
        StoreError.newerRow,
        "a newer program wrote this row: its version is \(version), and this program knows \(steps.count)")
    }
    return version
  }

  private func failure(from version: Int, _ reason: String) -> StoreError {
    StoreError(
      StoreError.migrationFailed,
      "the row could not be brought from version \(version) to \(steps.count): \(reason)")
  }
}

extension RecordTable where Row: VersionedRow {
  /// See ``StoreTransaction/migrate(_:)``.
  @discardableResult
  public func migrate() throws -> Int { try store.write { tx in try tx.migrate(name) } }
}

extension StoreTransaction {
  /// Writes every row as of its type's newest version; one that is so already is not touched.
  /// - Returns: how many were not.
  /// - Throws: ``StoreError/newerRow``, ``StoreError/migrationFailed``, ``StoreError/invalidRow`` for the first row of
  ///   which that is true; then none is changed.
  /// - Complexity: O(*n*).
  @discardableResult
  public mutating func migrate<Row: VersionedRow>(_ table: TableName<Row>) throws -> Int {
    var migrated: [StoredRecord] = []
    for row in try snapshot(of: table) {
      let current = try row.migrated
      if current.stored == row.stored { continue }
      _ = try current.value  // What the type cannot read must not be written.
      migrated.append(current.stored)
    }
    for record in migrated { try state.apply(.replace(record), to: table.text) }
    return migrated.count
  }
}
