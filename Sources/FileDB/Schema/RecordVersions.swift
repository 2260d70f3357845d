import FileDBPlist
import FileDBTables

/// Counts the records of a table by version; see ``VersionedValue``.
package struct RecordVersions: Equatable, Sendable {
  /// By the version that a record has.
  package private(set) var counts: [Int64: Int] = [:]
  /// The number of records without a version. They are of the first version, or come from a program that does not know
  /// of versions.
  package private(set) var unversionedCount = 0
  private let newest: Int64

  /// - Parameter newest: the version of the table's schema.
  /// - Complexity: O(*n*) in the records.
  init(of records: OrderedRecords, newest: Int64) {
    self.newest = newest
    for record in records {
      if let version = record.field(ValueMigrations.versionKey)?.integer {
        counts[version, default: 0] += 1
      } else {
        unversionedCount += 1
      }
    }
  }

  /// The number of records that a program of the schema's version would still have to migrate or check.
  package var olderCount: Int {
    // If no record has a version, the type has no versions.
    if counts.isEmpty { return 0 }
    return unversionedCount + counts.reduce(0) { $0 + ($1.key < newest ? $1.value : 0) }
  }

  /// Whether this record is one of them.
  func isOlder(_ record: EncodedRecord) -> Bool {
    !counts.isEmpty && record.field(ValueMigrations.versionKey)?.integer ?? 0 < newest
  }
}

extension TableSnapshot {
  /// - Returns: `nil` for a table whose schema has no version, or cannot be read.
  /// - Complexity: O(*n*) in the records.
  package var recordVersions: RecordVersions? {
    guard let schema = state.schema.schema, schema.version > 0 else { return nil }
    return RecordVersions(of: state.records, newest: schema.version)
  }
}
