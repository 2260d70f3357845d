import FileDB
import FileDBPlist

extension TableSchema {
  /// The table's schema, extended by its other fields, sorted by name, with the type that they have in all records.
  /// Another program, or an import into another table, needs this.
  /// - Complexity: O(*n*) in the records.
  package init(describing table: TableSnapshot<Fields>) {
    self = table.knownSchema ?? TableSchema()
    var types: [FieldName: HeldType] = [:]
    for record in table {
      for field in record.fields.dictionary {
        types[FieldName(field.key), default: .nothing].see(field.value)
      }
    }
    let declared = Set(fields.map { FieldName($0.name) })
    for (name, type) in types.sorted(by: { compareUTF8($0.key.text, $1.key.text) < 0 })
    where !declared.contains(name) {
      fields.append(FieldSchema(name.text, type: type.fieldType))
    }
  }
}
