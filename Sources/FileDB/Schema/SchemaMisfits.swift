import FileDBPlist
import FileDBTables

/// Checks all records of a table against its schema, because an editor or a merge may have broken it.
struct SchemaMisfits {
  struct Misfit {
    let record: EncodedRecord
    /// Names the record and the field, but no place in a file.
    let error: StoreError
    /// The value that breaks the rule; `nil` if the field is missing.
    let value: PlistValue?
    let rule: FieldSchema
    /// For a value that must be unique: the record that has it already.
    let other: AnyRecordID?
  }

  /// In the order of the table's records.
  private(set) var all: [Misfit] = []

  /// - Parameter isNamed: whether a record exists to which a value refers.
  /// - Complexity: O(*n*).
  init(of table: TableState, isNamed: (PlistValue, ReferenceRule) throws(StoreError) -> Bool)
    throws(StoreError)
  {
    guard let schema = table.schema.schema else { return }
    let rules = schema.fields.map(ValueRules.init)
    let names = schema.fields.map(\.name)
    let groups = schema.uniqueGroups
    var seen: [[[PlistValue]: AnyRecordID]] = groups.map { _ in [:] }
    for record in table.records {
      let fields = record.fields(names)
      for rule in rules {
        let value = fields[rule.field.name]
        var error = rule.error(for: value)
        if error == nil { error = try rule.referenceError(for: value, isNamed) }
        guard let error else { continue }
        all.append(
          Misfit(
            record: record, error: error.adding(record: record.id), value: value, rule: rule.field, other: nil
          ))
      }
      for (place, group) in groups.enumerated() {
        let values = group.compactMap { fields[$0] }
        guard values.count == group.count else { continue }
        guard let first = seen[place][values] else {
          seen[place][values] = record.id
          continue
        }
        let error = StoreError.notUnique(group, fields, other: first).adding(record: record.id)
        let rule = schema[group[0]] ?? FieldSchema(group[0])
        all.append(Misfit(record: record, error: error, value: values[0], rule: rule, other: first))
      }
    }
  }
}
