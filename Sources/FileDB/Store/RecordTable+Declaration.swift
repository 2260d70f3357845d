import FileDBPlist
import FileDBTables

/// What the program declares about the table, and what the table's file declares.
extension RecordTable {
  /// Writes the declaration of the table's name into the table, before the table is written to.
  /// - Parameter new: the fields of the values that are about to be added.
  /// - Throws: ``StoreError/Code/newerSchema``, ``StoreError/Code/schemaDiffers``, ``StoreError/Code/invalidSchema``;
  ///   what the migration throws.
  func keepDeclaration(in transaction: TransactionState, adding new: [Fields]) throws {
    guard let make = name.declaration else { return }
    let key = TableKey(name.text)
    guard transaction.declaredTables[key, default: []].insert(ObjectIdentifier(Value.self)).inserted else {
      return
    }
    let declaration = make()
    let file =
      try transaction.declarationsOfNewTables[key] ?? transaction.readableSchema(of: key) ?? TableSchema()
    let declared: TableSchema
    do throws(StoreError) {
      declared = try declaration.schema { () throws(StoreError) in
        let records = try transaction.table(name.text).records
        return records.isEmpty ? OrderedRecords(examples: new) : records
      }
      try file.compare(with: declared)
    } catch {
      throw error.adding(table: name.text)
    }
    if file.hasSameRules(as: declared) { return }
    guard try transaction.table(name.text).exists else {
      transaction.declarationsOfNewTables[key] = declared
      return
    }
    if file.version < declared.version {
      try declaration.migration?(RecordTable<Fields>(store: store, name: .records(name.text)), file.version)
    }
    // The new rules apply to the newest version of the records.
    if ValueForm(Value.self).migrations != nil { _ = try migrateRecords(in: transaction) { _ in } }
    try transaction.declare(declared, for: name.text)
  }

  /// Migrates the records to the newest version of their type.
  /// - Parameter check: called with each record that is not of that version, as it will be.
  /// - Returns: the number of these records.
  private func migrateRecords(
    in transaction: TransactionState, _ check: (StoredRecord<Value>) throws -> Void
  ) throws -> Int {
    var count = 0
    for record in try snapshot() {
      let current = try record.migrated
      if current.encoded == record.encoded { continue }
      try check(current)
      try transaction.apply(.replace(current.encoded), to: name.text)
      count += 1
    }
    return count
  }
}

extension RecordTable where Value: VersionedValue {
  /// Stores every record in the newest version of its type. Records that already have this version are not written.
  /// - Returns: the number of records that were written.
  /// - Throws: ``StoreError/Code/newerVersion``, ``StoreError/Code/migrationFailed`` or
  ///   ``StoreError/Code/invalidValue`` for the first record that has this problem; then no record is changed.
  /// - Complexity: O(*n*).
  @discardableResult
  public func migrate() throws -> Int {
    try writing { transaction in
      // If the type cannot read a record, it must not be written.
      try migrateRecords(in: transaction) { _ = try $0.value }
    }
  }

  /// Stores every record in the newest version of its type; see the synchronous `migrate`.
  @discardableResult
  public func migrate() async throws -> Int { try await writing { try $0.migrate() } }
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
