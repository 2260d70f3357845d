import FileDBPlist
import FileDBTables

extension TableSnapshot {
  /// What the table declares about its fields; `nil` if it declares nothing.
  /// - Throws: ``StoreError/Code/invalidSchema`` if the schema in the table's file cannot be read.
  public var schema: TableSchema? {
    get throws {
      switch state.schema {
      case .none, .foreign: return nil
      case .schema(let schema): return schema
      case .unreadable(let fault):
        var error = StoreError(
          .invalidSchema, "the table's schema cannot be read: \(fault.message)", table: table)
        error.place = SchemaPlace(of: fault.path, in: source)
        throw error
      }
    }
  }

  /// The schema for who only shows the table; `nil` where it cannot be read, too.
  package var knownSchema: TableSchema? { state.schema.schema }
}

extension RecordTable {
  /// Declares what the table's fields are, in place of what it declared before; `nil` takes all rules away. Creates the
  /// table if it does not exist.
  ///
  ///     var schema = TableSchema()
  ///     schema["title"] = FieldSchema("title", type: .string, isRequired: true)
  ///     schema["folder"] = FieldSchema("folder", references: ReferenceRule("folders", onDelete: .cascade))
  ///     try notes.declare(schema)
  ///
  /// From now on each write keeps the rules, in this program and in any other that uses FileDB; see <doc:Schemas>.
  /// Records that are there already are checked against the rules that are new.
  /// - Throws: ``StoreError/Code/invalidSchema`` if the schema contradicts itself, or refers to a field that is not
  ///   unique, or if another program keeps something under the root key `schema` of the file;
  ///   ``StoreError/Code/readOnly`` if an attached table is beneath it; what a write throws for a record that does not
  ///   fit: see `RecordStore.write(_:)`.
  /// - Complexity: O(*n*) if a rule is new.
  public func declare(_ schema: TableSchema?) throws {
    try writing { transaction in
      try transaction.createIfMissing(name.text)
      try transaction.declare(schema, for: name.text)
    }
  }
}
