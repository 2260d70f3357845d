import FileDBPlist
import FileDBTables

/// Checks the records of an import one by one against their table's schema, so that an error can name the place that a
/// record comes from. What is only known at the end of the transaction is checked by the commit.
package struct RecordRules {
  /// The records among which a unique value must be unique.
  package enum Comparison: Sendable {
    /// The records of the import. A later row may still change a record of the table.
    case rows
    /// The records of the import and of the table.
    case rowsAndTable
  }

  private let rules: [ValueRules]
  private let groups: [[String]]
  private let table: TableKey
  private let transaction: TransactionState
  private let comparison: Comparison
  /// The values of the accepted records in each unique group.
  private var seen: [Set<[PlistValue]>]

  /// - Returns: `nil` for a table without a schema.
  /// - Throws: ``StoreError/Code/invalidSchema``.
  package init?(
    of table: String, in transaction: borrowing StoreTransaction, comparing comparison: Comparison
  ) throws(StoreError) {
    let (state, key) = (transaction.state, TableKey(table))
    _ = try state.table(table)
    guard let schema = try state.readableSchema(of: key), !schema.fields.isEmpty else { return nil }
    (self.table, self.transaction, self.comparison) = (key, state, comparison)
    rules = schema.fields.map(ValueRules.init)
    groups = schema.uniqueGroups
    seen = groups.map { _ in [] }
  }

  /// Whether an accepted record may still turn out to break a rule, after the other records are added.
  package var leavesSome: Bool {
    (comparison == .rows && !groups.isEmpty) || rules.contains { $0.field.references?.tableKey == table }
  }

  /// The types of the fields, as the schema declares them.
  package static func types(of snapshot: TableSnapshot<Fields>) -> [(name: String, type: FieldType)] {
    (snapshot.state.schema.schema?.fields ?? []).compactMap { field in field.type.map { (field.name, $0) } }
  }

  /// Checks a record that will be added.
  package mutating func check(new fields: Fields) throws(StoreError) {
    var whole = fields
    for rule in rules where whole[rule.field.name] == nil { whole[rule.field.name] = rule.field.defaultValue }
    try checkValues(of: whole) { _ in true }
    try checkGroups(of: whole, besides: nil) { _ in true }
  }

  /// Checks a record that will be changed.
  package mutating func check(
    _ fields: Fields, was old: Fields, of id: AnyRecordID
  ) throws(StoreError) {
    try checkValues(of: fields) { fields[$0] != old[$0] }
    try checkGroups(of: fields, besides: id) { names in names.contains { fields[$0] != old[$0] } }
  }

  private func checkValues(of fields: Fields, isNew: (String) -> Bool) throws(StoreError) {
    for rule in rules where isNew(rule.field.name) {
      let value = fields[rule.field.name]
      if let error = rule.error(for: value) { throw error }
      // A record may refer to a later one of its own table.
      if rule.field.references?.tableKey != table { try transaction.checkReference(value, rule) }
    }
  }

  private mutating func checkGroups(
    of fields: Fields, besides id: AnyRecordID?, where isNew: ([String]) -> Bool
  ) throws(StoreError) {
    var keys: [[PlistValue]?] = []
    for (place, names) in groups.enumerated() {
      let values = names.compactMap { fields[$0] }
      keys.append(values.count == names.count ? values : nil)
      guard values.count == names.count, isNew(names) else { continue }
      if seen[place].contains(values) {
        throw StoreError(
          .notUnique,
          "an earlier row has \(PlistValue.list(values)) already in \(names.joined(separator: ", "))",
          field: names[0])
      }
      guard comparison == .rowsAndTable, let state = try? transaction.table(table.text),
        let other = transaction.other(than: id, with: values, in: names, of: table, state)
      else { continue }
      throw StoreError.notUnique(names, fields.dictionary, other: other)
    }
    for (place, values) in keys.enumerated() { if let values { seen[place].insert(values) } }
  }
}
