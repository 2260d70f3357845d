import FileDBPlist
import FileDBTables

/// What the program declares about its tables, and what their files declare.
extension TransactionState {
  /// Writes the declaration of a table's name into the table, before the table is written to.
  /// - Parameter new: the fields of the values that are about to be added.
  /// - Throws: ``StoreError/Code/newerSchema``, ``StoreError/Code/schemaDiffers``, ``StoreError/Code/invalidSchema``;
  ///   what the migration throws.
  func keepDeclaration<Value>(of name: TableName<Value>, adding new: [Fields]) throws {
    guard let make = name.declaration else { return }
    let key = TableKey(name.text)
    guard declaredTables[key, default: []].insert(ObjectIdentifier(Value.self)).inserted else { return }
    let declaration = make()
    let file = try declarationsOfNewTables[key] ?? readableSchema(of: key) ?? TableSchema()
    let declared: TableSchema
    do throws(StoreError) {
      declared = try declaration.schema { () throws(StoreError) in
        let records = try table(name.text).records
        return records.isEmpty ? OrderedRecords(examples: new) : records
      }
      try file.compare(with: declared)
    } catch {
      throw error.adding(table: name.text)
    }
    if file.hasSameRules(as: declared) { return }
    guard try table(name.text).exists else {
      declarationsOfNewTables[key] = declared
      return
    }
    if file.version < declared.version {
      try declaration.migration?(recordTable(.records(name.text)), file.version)
    }
    try migrateRecords(of: name)
    try declare(declared, for: name.text)
  }

  /// Migrates the records of a versioned type to its newest version, before the new rules apply to them.
  private func migrateRecords<Value>(of name: TableName<Value>) throws {
    guard ValueForm(Value.self).migrations != nil else { return }
    for record in try recordTable(TableName<Value>(name.text)).snapshot() {
      let current = try record.migrated
      if current.encoded != record.encoded { try apply(.replace(current.encoded), to: name.text) }
    }
  }
}

extension OrderedRecords {
  /// Records with some of these fields, as examples.
  fileprivate init(examples: [Fields]) {
    var encoder = RecordEncoder()
    self.init(
      encoder.encode(
        examples.prefix(1_000).enumerated().map { (id: AnyRecordID(counted: Int64($0 + 1)), fields: $1) }))
  }
}

extension TableSchema {
  /// - Throws: ``StoreError/Code/newerSchema`` if this schema, from the file, has a higher version;
  ///   ``StoreError/Code/schemaDiffers`` if it has the same version and other rules.
  fileprivate func compare(with declared: TableSchema) throws(StoreError) {
    guard version <= declared.version else {
      throw StoreError(
        .newerSchema,
        "a newer program declared version \(version) of the table, and this one knows version \(declared.version), so "
          + "it writes nothing; it can read the records that still fit its type")
    }
    if isUndeclared || version < declared.version { return }
    if let difference = firstDifference(from: declared) {
      throw StoreError(
        .schemaDiffers,
        "the schema in the file is not the one that this program declares: \(difference.text); raise the version of "
          + "the declaration to change the file", field: difference.field)
    }
  }

  /// Whether the schema contains nothing but the tables that refer to this one.
  private var isUndeclared: Bool { fields.isEmpty && unique.isEmpty && version == 0 }

  fileprivate func hasSameRules(as declared: TableSchema) -> Bool {
    version == declared.version && firstDifference(from: declared) == nil
  }

  private func firstDifference(from declared: TableSchema) -> (text: String, field: String?)? {
    for field in declared.fields {
      guard let mine = self[field.name] else { return ("the file does not declare the field", field.name) }
      if mine.withoutTitle != field.withoutTitle {
        return ("the file has other rules for the field", field.name)
      }
    }
    if let other = fields.first(where: { declared[$0.name] == nil }) {
      return ("the file declares the field, too", other.name)
    }
    return Set(unique) == Set(declared.unique) ? nil : ("other fields are unique together in the file", nil)
  }
}

extension FieldSchema {
  fileprivate var withoutTitle: FieldSchema {
    var field = self
    field.title = nil
    return field
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
