import FileDBTables

/// The verbs for async code. They run on the store's own thread and do not block the caller's.
///
/// Each is a transaction of its own: an async verb never joins another write. To make several changes in one
/// transaction, use the async `write`, and in its body the synchronous verbs. They throw what the synchronous verbs
/// throw, and `CancellationError` if the task is cancelled before the verb begins.
extension RecordTable {
  /// Creates the table, without records; see the synchronous `create`.
  public func create() async throws { try await writing { try $0.create() } }

  /// Adds a record with this value and returns its new id; see the synchronous `add`.
  @discardableResult
  public func add(_ value: Value, at position: Position<Value> = .bottom) async throws -> RecordID<Value> {
    try await writing { try $0.add(value, at: position) }
  }

  /// Adds records with these values and returns their new ids; see the synchronous `add`.
  @discardableResult
  public func add(
    contentsOf values: some Sequence<Value> & Sendable, at position: Position<Value> = .bottom
  ) async throws -> [RecordID<Value>] {
    try await writing { try $0.add(contentsOf: values, at: position) }
  }

  /// Adds a record with this id; see the synchronous `add`.
  public func add(
    _ value: Value, id: RecordID<Value>, at position: Position<Value> = .bottom
  ) async throws {
    try await writing { try $0.add(value, id: id, at: position) }
  }

  /// Gives the record with this id a new value, or adds it; see the synchronous `upsert`.
  public func upsert(
    _ value: Value, id: RecordID<Value>, at position: Position<Value> = .bottom
  ) async throws {
    try await writing { try $0.upsert(value, id: id, at: position) }
  }

  /// Changes a record in place and returns what `body` returns; see the synchronous `update`.
  @discardableResult
  public func update<Result: Sendable>(
    _ id: RecordID<Value>, _ body: @escaping @Sendable (inout Value) throws -> Result
  ) async throws -> Result {
    try await writing { try $0.update(id, body) }
  }

  /// Gives a record a new value; see the synchronous `update`.
  public func update(_ id: RecordID<Value>, to value: Value) async throws {
    try await writing { try $0.update(id, to: value) }
  }

  /// Sets one property; see the synchronous `set`.
  public func set<Property: Sendable>(
    _ path: WritableKeyPath<Value, Property> & Sendable, to property: Property, of id: RecordID<Value>
  ) async throws {
    try await writing { try $0.set(path, to: property, of: id) }
  }

  /// Sets single fields and keeps the others; see the synchronous `set`.
  public func set(_ fields: Fields, of id: RecordID<Value>) async throws {
    try await writing { try $0.set(fields, of: id) }
  }

  /// Removes single fields; see the synchronous `unset`.
  public func unset(_ names: [String], of id: RecordID<Value>) async throws {
    try await writing { try $0.unset(names, of: id) }
  }

  /// Removes a record; see the synchronous `delete`.
  public func delete(_ id: RecordID<Value>) async throws { try await writing { try $0.delete(id) } }

  /// Removes records; see the synchronous `delete`.
  public func delete(_ ids: some Sequence<RecordID<Value>> & Sendable) async throws {
    try await writing { try $0.delete(ids) }
  }

  /// Removes every record and keeps the counter; see the synchronous `deleteAll`.
  public func deleteAll() async throws { try await writing { try $0.deleteAll() } }

  /// Removes every record and sets the counter back to 0; see the synchronous `truncate`.
  public func truncate() async throws { try await writing { try $0.truncate() } }

  /// Removes the table and its file; see the synchronous `drop`.
  public func drop() async throws { try await writing { try $0.drop() } }

  /// Copies a record and returns the copy's id; see the synchronous `duplicate`.
  @discardableResult
  public func duplicate(_ id: RecordID<Value>, to position: Position<Value>? = nil) async throws -> RecordID<
    Value
  > {
    try await writing { try $0.duplicate(id, to: position) }
  }

  /// Moves a record; see the synchronous `move`.
  public func move(_ id: RecordID<Value>, to position: Position<Value>) async throws {
    try await writing { try $0.move(id, to: position) }
  }

  /// Moves the record at one index to another; see the synchronous `move`.
  public func move(fromIndex index: Int, toIndex newIndex: Int) async throws {
    try await writing { try $0.move(fromIndex: index, toIndex: newIndex) }
  }

  /// Replaces all records and returns the ids of the new ones; see the synchronous `replaceAll`.
  @discardableResult
  public func replaceAll(with values: some Sequence<Value>) async throws -> [RecordID<Value>] {
    let values = Array(values)
    return try await writing { try $0.replaceAll(with: values) }
  }

  /// Replaces all records by these, with the ids that they have; see the synchronous `replaceAll`.
  public func replaceAll(records: some Sequence<DecodedRecord<Value>>) async throws {
    let records = Array(records)
    try await writing { try $0.replaceAll(records: records) }
  }

  /// Runs a synchronous verb as a separate write.
  func writing<Result: Sendable>(
    _ verb: @escaping @Sendable (RecordTable) throws -> Result
  ) async throws -> Result {
    try await store.write { _ in try verb(self) }
  }
}
