import FileDBPlist
import FileDBTables

/// Enforces the schemas of a transaction's tables. This is the only place for it, whoever writes.
extension TransactionState {
  /// Carries out what deletions do to the records that refer to the deleted ones, and checks what was written. This
  /// runs when a commit is made, so a body may break a rule for a while. It also runs before an undo step is made,
  /// because that must include everything.
  /// - Throws: ``StoreError/Code/invalidSchema``, ``StoreError/Code/requiredField``, ``StoreError/Code/wrongType``,
  ///   ``StoreError/Code/valueNotAllowed``, ``StoreError/Code/notUnique``, ``StoreError/Code/missingReference``,
  ///   ``StoreError/Code/stillReferenced``; the errors of reading a table that is referred to.
  /// - Complexity: O(*t*) in the changed tables if no schema is concerned. Otherwise O(*k*) in the records that were
  ///   written. If a field is unique or refers to another table, O(*n*) in the records of the table the first time, and
  ///   later in the records that have changed since.
  func keepRules() throws(StoreError) {
    guard changeCount != keptChangeCount, isSubjectToRules else { return }
    try checkDeclarations()
    try updateReferencingTables()
    try checkTargets()
    try followDeletions()
    for box in changed {
      let (key, table) = (box.key, box.table)
      guard table.now.exists, let schema = table.now.schema.schema, schema.hasRules else { continue }
      try RuleCheck(of: schema, in: key, table, transaction: self).run()
    }
    try checkRemainingReferences()
    keptChangeCount = changeCount
  }

  /// New records, with default values for the fields that they lack.
  func withDefaults(
    _ records: [EncodedRecord], of schema: TableSchema, in key: TableKey
  ) -> [EncodedRecord] {
    let defaults = schema.fields.filter { $0.defaultValue != nil }
    guard !defaults.isEmpty else { return records }
    let names = defaults.map(\.name)
    return records.map { record in
      let known = record.fields(names)
      // An undo restores records exactly as they were.
      guard known.count < names.count, restored[key]?[record.id] == nil else { return record }
      var fields = record.fields
      for field in defaults where known[field.name] == nil { fields[field.name] = field.defaultValue }
      return encoder.encode(fields, id: record.id)
    }
  }

  /// A table with an unreadable schema refuses writes, unless the write replaces the schema.
  private func checkDeclarations() throws(StoreError) {
    for box in changed where box.table.now.exists {
      if case .unreadable(let fault) = box.table.now.schema {
        throw unreadableSchema(fault, of: box.key)
      }
    }
  }

  /// The schema of a table that refers to others, or that others may refer to.
  /// - Throws: ``StoreError/Code/invalidSchema``.
  func readableSchema(of key: TableKey) throws(StoreError) -> TableSchema? {
    switch try table(key.text).schema {
    case .none, .foreign: nil
    case .schema(let schema): schema
    case .unreadable(let fault): throw unreadableSchema(fault, of: key)
    }
  }

  private func unreadableSchema(_ fault: SchemaFault, of key: TableKey) -> StoreError {
    var error = StoreError(
      .invalidSchema, "the table's schema cannot be read, so nothing is written: \(fault.message)",
      table: key.text)
    let table = TableSource(table: key.text, in: source)
    error.location = SoughtLocation { table.find(inSchema: fault.path) }
    return error
  }

  /// The other tables to which fields of one of these schemas refer.
  private static func targets(of schema: TableSchema?, besides key: TableKey) -> Set<TableKey> {
    Set((schema?.references ?? []).map(\.rule.tableKey)).subtracting([key])
  }

  /// Writes into the schema of each table which others refer to it, so that a deletion need not look at all tables.
  private func updateReferencingTables() throws(StoreError) {
    for box in changed {
      let (key, table) = (box.key, box.table)
      let now = table.now.exists ? table.now.schema.schema : nil
      let former = Self.targets(of: table.first.schema.schema, besides: key)
      let targets = Self.targets(of: now, besides: key)
      if former.isEmpty, targets.isEmpty { continue }
      for target in former.subtracting(targets) { try setReference(from: key, to: target, .no) }
      guard targets != former || table.writesRecords else { continue }
      for target in targets { try setReference(from: key, to: target, .yes) }
    }
  }

  private enum Answer { case yes, no }

  private func setReference(from key: TableKey, to target: TableKey, _ answer: Answer) throws(StoreError) {
    let table = try table(target.text)
    // A table over an attached one has the schema of the attached table.
    guard table.exists, table.beneath == nil, !table.schema.isForeign else { return }
    var schema = try readableSchema(of: target) ?? TableSchema()
    var tables = Set(schema.referencingTables)
    switch answer {
    case .yes: tables.insert(key)
    case .no: tables.remove(key)
    }
    guard tables != Set(schema.referencingTables) else { return }
    schema.referencingTables = tables.sorted()
    try apply(.declare(schema.isEmpty ? nil : schema.plist), to: target.text)
  }
}

extension TransactionState {
  func declare(_ schema: TableSchema?, for table: String) throws(StoreError) {
    let state = try self.table(table)
    guard !state.schema.isForeign else {
      throw StoreError(
        .invalidSchema, "another program keeps something under the key 'schema' of the table's file",
        table: table)
    }
    var schema = schema ?? TableSchema()
    // The program does not declare which other tables refer to this one.
    schema.referencingTables = state.schema.schema?.referencingTables ?? []
    let value = schema.isEmpty ? nil : try normalized(schema, of: table)
    if value != state.schemaValue { try apply(.declare(value), to: table) }
  }

  /// The schema as the file will contain it.
  private func normalized(_ schema: TableSchema, of table: String) throws(StoreError) -> PlistValue {
    do throws(SchemaFault) { try schema.validate() } catch {
      throw StoreError(.invalidSchema, error.message, table: table)
    }
    do throws(PlistError) { return try schema.plist.normalized(depth: 1, limits: limits) } catch {
      throw StoreError(.unrepresentableValue, "the schema: \(error.message)", table: table)
    }
  }
}

extension TransactionState.Touched {
  /// Whether records were added or changed.
  var writesRecords: Bool { changes.contains { !$0.change.records.isEmpty } }
}
