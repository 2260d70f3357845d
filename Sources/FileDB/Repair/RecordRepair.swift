import FileDBPlist
import FileDBTables

/// How a field was repaired to match the schema, or why that was impossible.
package struct FieldRepair: Sendable {
  package let record: AnyRecordID
  package let field: String
  /// What was done; `nil` if a person must decide.
  package fileprivate(set) var change: String?
  /// The rule that was broken.
  package let error: StoreError
}

extension RecordTable {
  /// Repairs the fields that do not match the table's schema if it is clear how. A required field that is missing gets
  /// its default value. A value that can be read as the declared type is converted to it. This deletes no record and
  /// removes no field. It leaves records of an older version alone: it does not know what the program's migrations
  /// would do, and a default value might take the place of what they move.
  /// - Parameter read: converts a value to another type; `nil` if that is impossible.
  /// - Returns: what was done, in the order of the records, and what could not be done.
  package func repairFields(
    reading read: (PlistValue, FieldType) -> PlistValue?
  ) throws -> [FieldRepair] {
    try writing { transaction in
      let state = try transaction.table(name.text)
      let misfits = try SchemaMisfits(of: state) { value, rule throws(StoreError) in
        transaction.names(value, rule, in: try transaction.table(rule.table))
      }
      let versions = RecordVersions(of: state.records, newest: state.schema.schema?.version ?? 0)
      return try misfits.all.map { misfit in
        var repair = FieldRepair(record: misfit.record.id, field: misfit.rule.name, error: misfit.error)
        guard !versions.isOlder(misfit.record), let value = misfit.repaired(by: read),
          try transaction.mayHave(value, misfit, in: TableKey(name.text))
        else { return repair }
        let record = try transaction.table(name.text).record(misfit.record.id) ?? misfit.record
        var fields = record.fields
        fields[misfit.rule.name] = value
        try transaction.replace(record.id, with: fields, was: record.fields, in: name.text)
        let former = misfit.value.map { "\($0.quoted) became" } ?? "it was missing, and became"
        repair.change = "\(former) \(value.quoted)"
        return repair
      }
    }
  }
}

extension SchemaMisfits.Misfit {
  /// A value that satisfies the rules of this field alone.
  fileprivate func repaired(by read: (PlistValue, FieldType) -> PlistValue?) -> PlistValue? {
    let new: PlistValue?
    switch error.code {
    case .requiredField: new = rule.defaultValue
    case .wrongType: new = rule.type.flatMap { type in value.flatMap { read($0, type) } }
    default: new = nil
    }
    return new.flatMap { ValueRules(rule).misfit(of: $0) == nil ? $0 : nil }
  }
}

extension TransactionState {
  /// Whether a record may get a value, with regard to rules that involve other records.
  fileprivate func mayHave(
    _ value: PlistValue, _ misfit: SchemaMisfits.Misfit, in key: TableKey
  ) throws(StoreError) -> Bool {
    let (name, state) = (misfit.rule.name, try table(key.text))
    if let rule = misfit.rule.references, try !names(value, rule, in: table(rule.table)) { return false }
    guard let schema = state.schema.schema, var fields = state.record(misfit.record.id)?.fields else {
      return false
    }
    fields[name] = value
    return !schema.uniqueGroups.contains { group in
      group.contains { FieldName($0) == FieldName(name) }
        && other(than: misfit.record.id, with: group.map { fields[$0] }, in: group, of: key, state) != nil
    }
  }
}
