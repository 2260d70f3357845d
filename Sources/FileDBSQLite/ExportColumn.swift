import FileDB

/// A column for a field.
struct ExportColumn {
  let field: String
  let name: String
  /// The type of all its values; empty where they differ, so that SQLite converts none.
  let declaration: String

  /// One for each field of the table, in the order of their names.
  /// - Throws: ``StoreError/unrepresentableValue`` for two names that are one to SQLite.
  static func columns<Row>(of snapshot: TableSnapshot<Row>) throws(StoreError) -> [ExportColumn] {
    // A dictionary of property lists, for it tells names apart by their bytes.
    var declarations = PlistDictionary()
    for row in snapshot {
      for entry in row.record.fields {
        let declaration = PlistValue.string(declaration(of: entry.value))
        let known = declarations[entry.key]
        if known == nil {
          declarations[entry.key] = declaration
        } else if known != declaration {
          declarations[entry.key] = ""
        }
      }
    }
    var names: Set<ColumnKey> = []
    return try declarations.map { (entry) throws(StoreError) in
      let name = name(of: entry.key)
      guard names.insert(ColumnKey(name)).inserted else {
        throw StoreError(
          StoreError.unrepresentableValue,
          "another field has this name but for upper and lower case, as SQLite sees it",
          table: snapshot.table, field: entry.key)
      }
      return ExportColumn(field: entry.key, name: name, declaration: entry.value.string ?? "")
    }
  }

  private static func name(of field: String) -> String {
    let isTaken = ["id", "position"].contains { ColumnKey(field).isName($0, withUnderscores: 0) }
    return isTaken ? field + "_" : field
  }

  private static func declaration(of value: PlistValue) -> String {
    switch value {
    case .string, .array, .dict: "TEXT"
    case .integer: "INTEGER"
    case .unsigned: ""
    case .real: "REAL"
    case .bool: "BOOLEAN"
    case .date: "DATETIME"
    case .data: "BLOB"
    }
  }
}
