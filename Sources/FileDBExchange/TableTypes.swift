import FileDB

/// The types that the fields of a table have in all its records, by their names in a file. It also records for which
/// fields the file alone would have given another type.
final class TableTypes {
  private var types: [FieldName: HeldType] = [:]
  private let matching: TableImport.Matching
  /// By the names in the file.
  private(set) var used: [String: FieldType] = [:]
  /// The types of fields for which the table has none, by the names in the file.
  private(set) var new: [String: FieldType] = [:]

  /// - Complexity: O(*n*) in the records.
  init(of table: TableSnapshot<Fields>, matching: TableImport.Matching) {
    self.matching = matching
    for record in table {
      for field in record.fields.dictionary {
        types[FieldName(field.key), default: .nothing].see(field.value)
      }
    }
    for (name, type) in RecordRules.types(of: table) { types[FieldName(name)] = .declared(type) }
  }

  /// - Parameter name: the name of a field in the file.
  /// - Returns: `nil` if the table has no type for it.
  subscript(name: String) -> HeldType? {
    guard let type = ownName(name).flatMap({ types[FieldName($0)] }), type.textType != nil else {
      return nil
    }
    return type
  }

  func use(_ type: HeldType, of name: String) { if type.isSurprising { used[name] = type.textType } }
  func add(new type: FieldType, of name: String) { if ownName(name) != nil { new[name] = type } }

  /// The field's name in the table; `nil` for the `id` that an export added.
  private func ownName(_ name: String) -> String? {
    switch matching {
    case .nothing: return name
    case .key(let key) where key.contains("id"): return name
    case .key, .id:
      if let own = FieldName(besideID: name) { return own.text }
      return name.utf8.elementsEqual("id".utf8) ? nil : name
    }
  }
}

extension ImportRow {
  /// The row with its fields converted to the types in the table.
  /// - Parameter given: types that take precedence.
  func typed(
    as types: TableTypes, besides given: [String: FieldType], file: String
  ) throws(StoreError) -> ImportRow {
    var row = self
    for field in fields.dictionary where given[field.key] == nil {
      guard let type = types[field.key] else { continue }
      guard let value = type.value(of: field.value) else {
        throw misfit(DelimitedWriter.text(of: field.value), type, file: file, field: field.key)
      }
      guard value != field.value else { continue }
      row.fields[field.key] = value
      types.use(type, of: field.key)
    }
    return row
  }

  func misfit(
    _ text: String, _ type: HeldType, code: StoreError.Code = StoreError.Code.invalidText, file: String,
    field: String
  ) -> StoreError {
    error("\(type.misfit(of: text)); \(type.reason)", code: code, file: file, field: field)
  }
}
