import FileDB

/// A column for a field.
struct ExportColumn {
  let field: FieldReference
  let name: String
  /// The type of all its values; empty if they differ, so that SQLite converts nothing.
  let declaration: String

  /// One column for each of `fields`. Without `fields`, one for each field of the records, sorted by name.
  /// - Throws: ``StoreError/Code/unrepresentableValue`` if SQLite would treat two names as the same.
  static func columns<Row>(
    of rows: some Collection<StoredRecord<Row>>, named fields: [FieldReference]?,
    declaredIn schema: TableSchema?, table: String
  ) throws(StoreError) -> [ExportColumn] {
    let fields = fields?.filter { $0 != .id } ?? Self.fields(of: rows, declaredIn: schema)
    let declarations = declarations(of: fields, in: rows)
    var names: Set<ColumnKey> = []
    return try zip(fields, declarations).map { (field, declaration) throws(StoreError) in
      let name = name(of: field)
      guard names.insert(ColumnKey(name)).inserted else {
        throw StoreError(
          .unrepresentableValue,
          "another field has the same name except for case, and SQLite does not distinguish them",
          table: table,
          field: field.title
        )
      }
      return ExportColumn(field: field, name: name, declaration: declaration ?? "")
    }
  }

  /// The declared fields in their order, and then the others, sorted by name.
  private static func fields<Row>(
    of rows: some Collection<StoredRecord<Row>>, declaredIn schema: TableSchema?
  ) -> [FieldReference] {
    var names = PlistDictionary()
    for row in rows {
      for field in row.fields.dictionary where names[field.key] == nil { names[field.key] = true }
    }
    let declared = (schema?.fields ?? []).map(\.name).filter { names[$0] != nil }
    for name in declared { names[name] = nil }
    return (declared + names.keys).map(FieldReference.init(field:))
  }

  /// The declaration is `nil` for a field that no record has.
  private static func declarations<Row>(
    of fields: [FieldReference], in rows: some Collection<StoredRecord<Row>>
  ) -> [String?] {
    var declarations = [String?](repeating: nil, count: fields.count)
    for row in rows {
      let record = row.fields
      for (column, field) in fields.enumerated() {
        guard let value = field.value(in: record, of: row.id.plain) else { continue }
        let declaration = declaration(of: value)
        declarations[column] = [nil, declaration].contains(declarations[column]) ? declaration : ""
      }
    }
    return declarations
  }

  private static func name(of field: FieldReference) -> String {
    guard case .path(let names) = field, names.count == 1 else { return field.title }
    let name = names[0].text
    let isTaken = ["id", "position"].contains { ColumnKey(name).isName($0, withPrefixes: 0) }
    return isTaken ? ColumnKey.prefix + name : name
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
