import FileDB

extension Site {
  static let schemaRoutes: [Route] = [
    .post("api", "tables", "*", "column") { site, request in try site.declareColumn(request) },
    .post("api", "tables", "*", "rename-column") { site, request in
      struct Names: Decodable { let name, to: String }
      let names: Names = try request.decoded()
      let step = "rename of \(names.name) to \(names.to) in \(request.tableName)"
      return try site.editColumns(request.tableName, named: step) {
        try $0.renameField(names.name, to: names.to)
      }
    },
    .post("api", "tables", "*", "drop-column") { site, request in
      struct Column: Decodable { let name: String }
      let name = try request.decoded(as: Column.self).name
      return try site.editColumns(request.tableName, named: "drop of \(name) in \(request.tableName)") {
        try $0.removeField(name)
      }
    },
  ]

  /// Declares a column, and converts the values that are there.
  private func declareColumn(_ request: Request) throws -> Response {
    let column: ColumnJSON = try request.decoded()
    return try editColumns(
      request.tableName, named: "change of the column \(column.name) in \(request.tableName)"
    ) { table in
      var field = try table.snapshot().schema?[column.name] ?? FieldSchema(column.name)
      try column.apply(to: &field)
      guard let type = field.type else {
        var schema = try table.snapshot().schema ?? TableSchema()
        schema[field.name] = field
        try table.declare(schema)
        return 0
      }
      return try table.convertField(declaring: field) { $0.converted(to: type) }
    }
  }

  /// - Parameter edit: returns the number of records that it changed.
  private func editColumns(
    _ name: String, named step: String, _ edit: (RecordTable<Fields>) throws -> Int
  ) throws -> Response {
    let former = try tables.referring(to: name).filter { $0.name != name } + [(name, tables[name].snapshot)]
    let (count, entry) = try expectingChanges(of: former) {
      try store.undoLog.loggedWrite(named: step) { tx in try edit(tx[name]) }
    }
    return .json(.object([("count", .number(count)), ("step", JSON(entry?.id))]))
  }
}

/// The rules of a column, as a page sends them. A rule that is `nil` is taken away.
private struct ColumnJSON: Decodable {
  let name: String
  let title: String?
  let type: String?
  let required: Bool
  let unique: Bool
  let values: [ValueJSON]?
  let minimum: ValueJSON?
  let maximum: ValueJSON?
  let pattern: String?
  let standard: ValueJSON?
  let references: ReferenceJSON?

  func apply(to field: inout FieldSchema) throws {
    let known = type.map(FieldType.init(rawValue:))
    if case .some(nil) = known { throw RequestError.malformed("There is no type '\(type ?? "")'.") }
    (field.title, field.type) = (title, known ?? nil)
    (field.isRequired, field.isUnique) = (required, unique)
    field.allowedValues = values?.map(\.value)
    (field.minimum, field.maximum) = (minimum?.value, maximum?.value)
    (field.pattern, field.defaultValue) = (pattern, standard?.value)
    field.references = try references?.rule
  }
}

private struct ReferenceJSON: Decodable {
  let table: String
  let field: String
  let onDelete: String

  var rule: ReferenceRule {
    get throws {
      guard let onDelete = ReferenceRule.DeleteRule(rawValue: onDelete) else {
        throw RequestError.malformed("There is no rule '\(onDelete)' for records that are deleted.")
      }
      return ReferenceRule(table, field: field, onDelete: onDelete)
    }
  }
}

extension PlistValue {
  /// The same value as another type; `nil` if it cannot be written as that.
  fileprivate func converted(to type: FieldType) -> PlistValue? {
    if FieldType(of: self) == type { return self }
    switch (self, type) {
    case (.string(let text), _): return type.value(of: text)
    case (.array, _), (.dict, _), (.data, _): return nil
    case (_, .json): return self
    default: return type.value(of: description)
    }
  }
}
