import FileDBPlist
import FileDBTables

/// Says of the records of an import, one by one, whether they fit the schema of their table, so that an error can name
/// the place that they come from. What only the end of the transaction can tell is left to the commit.
package struct RecordRules {
  /// What a record must be told apart from where something is unique.
  package enum Comparison: Sendable {
    /// From those of the import. A record of the table may be changed by one that is still to come.
    case rows
    /// From those of the table, too.
    case rowsAndTable
  }

  private let rules: [ValueRules]
  private let groups: [[String]]
  private let table: TableKey
  private let transaction: TransactionState
  private let comparison: Comparison
  /// What the records that passed have in each group.
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

  /// Whether a record that passes may still turn out to break a rule, once the others are there.
  package var leavesSome: Bool {
    (comparison == .rows && !groups.isEmpty) || rules.contains { $0.field.references?.tableKey == table }
  }

  /// What the schema says of each field's type.
  package static func types(of snapshot: TableSnapshot<Fields>) -> [(name: String, type: FieldType)] {
    (snapshot.state.schema.schema?.fields ?? []).compactMap { field in field.type.map { (field.name, $0) } }
  }

  /// Checks a record that is about to be added.
  package mutating func check(new fields: Fields) throws(StoreError) {
    var whole = fields
    for rule in rules where whole[rule.field.name] == nil { whole[rule.field.name] = rule.field.defaultValue }
    try checkValues(of: whole) { _ in true }
    try checkGroups(of: whole, besides: nil) { _ in true }
  }

  /// Checks a record that is about to be changed.
  package mutating func check(
    _ fields: Fields, was old: Fields, of id: AnyRecordID
  ) throws(StoreError) {
    try checkValues(of: fields) { fields[$0] != old[$0] }
    try checkGroups(of: fields, besides: id) { names in names.contains { fields[$0] != old[$0] } }
  }

  private func checkValues(of fields: Fields, isNew: (String) -> Bool) throws(StoreError) {
    for rule in rules where isNew(rule.field.name) {
      let value = fields[rule.field.name]
      try transaction.checkValue(value, rule)
      // A record may refer to one of its own table that comes later.
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
        let other = transaction.ids(where: names, are: values, in: table, state, atMost: 2).first(where: {
          $0 != id
        })
      else { continue }
      throw StoreError.notUnique(names, fields.dictionary, other: other)
    }
    for (place, values) in keys.enumerated() { if let values { seen[place].insert(values) } }
  }
}
