import FileDBPlist
import FileDBTables

/// The marks of records that a program adds without a type, in a table whose records are marked with a version.
extension TransactionState {
  /// The fields of new values. Those that come without a type are marked as the records are that the table had.
  func encode<Value: Codable & Sendable>(
    new values: some Sequence<Value>, for table: String
  ) throws -> [Fields] {
    let fields = try values.map { try encode($0, for: table) }
    // A type without versions may be that of an old program, so its values are left to be looked at by their fields.
    guard Value.self == Fields.self || Value.self == PlistValue.self else { return fields }
    // Where some are marked, they come from such a table, and the others are of its first version.
    let key = ValueMigrations.versionKey
    guard fields.allSatisfy({ $0[key] == nil }), let mark = try mark(in: table) else { return fields }
    return fields.map { fields in
      var fields = fields
      fields[key] = mark
      return fields
    }
  }

  /// The newest version of some records of the table, as it was before the transaction: people write what they see
  /// there.
  /// - Complexity: O(√*n*) at worst. A table that is half migrated may have a newer one.
  private func mark(in table: String) throws(StoreError) -> PlistValue? {
    _ = try self.table(table)
    guard let state = touched[TableKey(table)]?.first, !state.records.isEmpty else { return nil }
    let records = state.records
    let last = records.count - 1
    let newest = records.index(of: RecordID(counted: state.counter))
    let indices = [0, last / 4, last / 2, last * 3 / 4, last] + [newest].compactMap(\.self)
    let versions = indices.compactMap { records[$0].field(ValueMigrations.versionKey)?.integer }
    return versions.max().flatMap { $0 > 0 ? .integer($0) : nil }
  }
}

extension Fields {
  /// These fields of a record that had `old` before. One that was marked stays so: who writes it anew without a type
  /// means its fields.
  func keepingMark(of old: Fields) -> Fields {
    let key = ValueMigrations.versionKey
    guard self[key] == nil, let mark = old[key] else { return self }
    var fields = self
    fields[key] = mark
    return fields
  }
}
