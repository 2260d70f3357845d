import FileDBPlist
import FileDBTables

/// Says of the records of an import, one by one, whether they fit the schema of their table, so that an error can name
/// the place that they come from. What only the end of the transaction can tell is left to the commit.
package struct RecordRules {
  private let rules: [ValueRules]
  private let groups: [[String]]
  private let table: TableKey
  private let transaction: TransactionState
  /// What the records that passed have in each group.
  private var seen: [Set<[PlistValue]>]

  /// - Returns: `nil` for a table without a schema.
  /// - Throws: ``StoreError/Code/invalidSchema``.
  package init?(of table: String, in transaction: borrowing StoreTransaction) throws(StoreError) {
    let (state, key) = (transaction.state, TableKey(table))
    _ = try state.table(table)
    guard let schema = try state.readableSchema(of: key), !schema.fields.isEmpty else { return nil }
    (self.table, self.transaction) = (key, state)
    rules = schema.fields.map(ValueRules.init)
    groups = schema.uniqueGroups
    seen = groups.map { _ in [] }
  }

  /// What the schema says of each field's type.
  package static func types(of snapshot: TableSnapshot<Fields>) -> [(name: String, type: FieldType)] {
    (snapshot.state.schema.schema?.fields ?? []).compactMap { field in field.type.map { (field.name, $0) } }
  }

  /// Checks a record that is about to be added.
  /// - Parameter isOnlyAddition: whether no record of the table is changed, so that what is unique there stays taken.
  package mutating func check(new fields: Fields, isOnlyAddition: Bool) throws(StoreError) {
    var whole = fields
    for rule in rules where whole[rule.field.name] == nil { whole[rule.field.name] = rule.field.defaultValue }
    try checkValues(of: whole) { _ in true }
    try checkGroups(of: whole, besidesTable: isOnlyAddition)
  }

  /// Checks a record that is about to be changed.
  package mutating func check(_ fields: Fields, was old: Fields) throws(StoreError) {
    try checkValues(of: fields) { fields[$0] != old[$0] }
    try checkGroups(of: fields, besidesTable: false)
  }

  private func checkValues(of fields: Fields, isNew: (String) -> Bool) throws(StoreError) {
    for rule in rules where isNew(rule.field.name) {
      // A record may refer to one of its own table that comes later.
      if let target = rule.field.references?.tableKey, target == table {
        var others = rule.field
        others.references = nil
        try transaction.check(fields[rule.field.name], ValueRules(others), in: table)
      } else {
        try transaction.check(fields[rule.field.name], rule, in: table)
      }
    }
  }

  private mutating func checkGroups(of fields: Fields, besidesTable: Bool) throws(StoreError) {
    var keys: [[PlistValue]?] = []
    for (place, names) in groups.enumerated() {
      let values = names.compactMap { fields[$0] }
      keys.append(values.count == names.count ? values : nil)
      guard values.count == names.count else { continue }
      if seen[place].contains(values) {
        throw StoreError(
          .notUnique,
          "an earlier row has \(PlistValue.list(values)) already in \(names.joined(separator: ", "))",
          field: names[0])
      }
      guard besidesTable, let state = try? transaction.table(table.text),
        let other = transaction.ids(where: names, are: values, in: table, state).first
      else { continue }
      throw StoreError.notUnique(names, fields.dictionary, other: other)
    }
    for (place, values) in keys.enumerated() { if let values { seen[place].insert(values) } }
  }
}
