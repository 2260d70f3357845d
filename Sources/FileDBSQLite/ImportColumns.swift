import FileDB
import FileDBExchange

/// Decides what each column becomes.
struct ImportColumns {
  /// The column with the ids.
  private(set) var id: SQLiteColumn?
  private(set) var fields: [SQLiteColumn] = []

  /// - Throws: ``StoreError/Code/invalidText`` for columns that cannot be fields.
  init(_ query: ImportQuery, of source: SQLiteImport) throws {
    func fault(_ message: String) -> StoreError {
      StoreError(.invalidText, message, file: source.file.path, table: source.source.table)
    }
    let names = query.statement.columnNames
    // It distinguishes names by their bytes.
    var known = PlistDictionary()
    for (position, name) in names.enumerated() {
      let field = query.field(of: name)
      let column = SQLiteColumn(
        position: Int32(position), field: field ?? name,
        type: source.types[name] ?? field.flatMap { source.schema?[$0]?.type },
        of: query.statement)
      guard let field else {
        if source.matching == .id, ColumnKey(name) == ColumnKey("id") { id = column }
        continue
      }
      guard known[field] == nil else { throw fault("two columns are named '\(field)'") }
      known[field] = true
      fields.append(column)
    }
    if source.matching == .id, id == nil { throw fault("there is no column 'id'") }
    if case .key(let key) = source.matching,
      let stray = key.first(where: { known[$0] == nil && !names.contains($0) })
    {
      throw StoreError.noColumn(forKey: stray, file: source.file.path, table: source.source.table)
    }
    if let stray = source.types.keys.filter({ !names.contains($0) }).min() {
      throw fault("a type is given for '\(stray)', but no column has that name")
    }
  }
}

extension ImportQuery {
  /// The field in the column `name`; `nil` if that is reserved.
  fileprivate func field(of name: String) -> String? {
    if reserved.contains(where: { ColumnKey($0) == ColumnKey(name) }) { return nil }
    let isEscaped = reserved.contains { ColumnKey(name).isName($0, withPrefixes: 1) }
    return isEscaped ? String(name.dropFirst(ColumnKey.prefix.count)) : name
  }
}
