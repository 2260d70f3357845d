import FileDB
import FileDBPlist

/// In which order a table that an import creates shows its fields.
public enum ColumnOrder: Hashable, Sendable {
  /// In the order of their names. The table declares nothing.
  case byName
  /// As the file has them: in its header, or in the first object of JSON. If that is another order than that of their
  /// names, the table declares the fields, without any rules.
  case asInFile
}

extension StoreTransaction {
  /// Has a new table show these fields in this order, where it would show them in another one.
  package func declareColumns(_ names: [String], of table: TableName<Fields>) throws {
    let byName = names.sorted { compareUTF8($0, $1) < 0 }
    guard names != byName, try self[table].exists, try self[table].snapshot().schema == nil else { return }
    try self[table].declare(TableSchema(fields: names.map { FieldSchema($0) }))
  }
}
