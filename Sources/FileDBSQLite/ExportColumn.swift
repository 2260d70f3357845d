import FileDB

/// A column for a field.
struct ExportColumn {
  let field: String
  let name: String
  /// The type of all its values; empty where they differ, so that SQLite converts none.
  let declaration: String

  /// One for each of `fields`, or of those that the records have, in the order of their names.
  /// - Throws: ``StoreError/unrepresentableValue`` for two names that are one to SQLite.
  static func columns<Row>(
    of rows: some Collection<StoredRecord<Row>>, named fields: [String]?, table: String
  ) throws(StoreError) -> [ExportColumn] {
    let declarations = declarations(of: rows)
    var names: Set<ColumnKey> = []
    return try (fields ?? declarations.map(\.key)).map { (field) throws(StoreError) in
      let name = name(of: field)
      guard names.insert(ColumnKey(name)).inserted else {
        throw StoreError(
          StoreError.unrepresentableValue,
          "another field has this name but for upper and lower case, as SQLite sees it", table: table,
          field: field
        )
      }
      return ExportColumn(field: field, name: name, declaration: declarations[field]?.string ?? "")
    }
  }

  /// By the names of the fields; a dictionary of property lists, for it tells names apart by their bytes.
  private static func declarations<Row>(of rows: some Collection<StoredRecord<Row>>) -> PlistDictionary {
    var declarations = PlistDictionary()
    for row in rows {
      for entry in row.fields.dictionary {
        let declaration = PlistValue.string(declaration(of: entry.value))
        let known = declarations[entry.key]
        if known == nil {
          declarations[entry.key] = declaration
        } else if known != declaration {
          declarations[entry.key] = ""
        }
      }
    }
    return declarations
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
