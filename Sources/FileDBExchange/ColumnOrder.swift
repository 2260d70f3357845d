import FileDB
import FileDBPlist

/// The order of the columns of a table that an import creates.
public enum ColumnOrder: Hashable, Sendable {
  /// In the order of the fields' names. The table declares nothing.
  case byName
  /// In the order of the file: of its header, or of the first object in JSON. If that is not the order of the names,
  /// the table declares the fields, without any rules.
  case asInFile
}

extension StoreTransaction {
  /// Makes a new table show these fields in this order. Does nothing if it would do so anyway.
  package func declareColumns(_ names: [String], of table: TableName<Fields>) throws {
    let byName = names.sorted { compareUTF8($0, $1) < 0 }
    guard names != byName, try self[table].exists, try self[table].snapshot().schema == nil else { return }
    try self[table].declare(TableSchema(fields: names.map { FieldSchema($0) }))
  }
}
