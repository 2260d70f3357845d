import FileDBPlist
import FileDBTables

extension TableSnapshot {
  /// The rules that the table declares for its fields; `nil` if it declares none.
  /// - Throws: ``StoreError/Code/invalidSchema`` if the schema in the table's file cannot be read.
  public var schema: TableSchema? {
    get throws {
      switch state.schema {
      case .none, .foreign: return nil
      case .schema(let schema): return schema
      case .unreadable(let fault):
        var error = StoreError(
          .invalidSchema, "the table's schema cannot be read: \(fault.message)", table: table)
        error.location = SoughtLocation { [source] in source.find(inSchema: fault.path) }
        throw error
      }
    }
  }

  /// The schema, for code that only shows the table; `nil` also if it cannot be read.
  package var knownSchema: TableSchema? { state.schema.schema }
}

extension RecordTable {
  /// Declares rules for the table's fields. They replace all rules that it declared before; `nil` removes all rules. If
  /// the table does not exist, this creates it.
  ///
  ///     var schema = TableSchema()
  ///     schema["title"] = FieldSchema("title", type: .string, isRequired: true)
  ///     schema["folder"] = FieldSchema("folder", references: ReferenceRule("folders", onDelete: .cascade))
  ///     try notes.declare(schema)
  ///
  /// From now on, every write must keep the rules, in this program and in any other that uses FileDB; see
  /// <doc:Schemas>. FileDB checks the existing records against new rules now.
  /// - Throws: ``StoreError/Code/invalidSchema`` if the schema contradicts itself, or refers to a field that is not
  ///   unique, or if another program keeps something under the root key `schema` of the file;
  ///   ``StoreError/Code/readOnly`` if the table has records of an attached store; if a record breaks a rule, what a
  ///   write throws for it, see `RecordStore.write(_:)`.
  /// - Complexity: O(*n*) if a rule is new.
  public func declare(_ schema: TableSchema?) throws {
    try writing { transaction in
      try transaction.createIfMissing(name.text)
      try transaction.declare(schema, for: name.text)
    }
  }
}

extension RecordTable {
  /// Declares rules for the table's fields; see the synchronous `declare`.
  public func declare(_ schema: TableSchema?) async throws { try await writing { try $0.declare(schema) } }
}
