import FileDBPlist
import FileDBTables

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
        _ = try current.value  // If the type cannot read it, it must not be written.
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
