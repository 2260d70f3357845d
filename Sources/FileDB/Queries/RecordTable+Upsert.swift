import FileDBTables

extension RecordTable {
  /// Gives the record that has the same value in a unique field a new value, like `update(_:to:)`. If there is no such
  /// record, adds one.
  ///
  ///     try contacts.upsert(contact, by: \.email)
  ///
  /// The field need not be declared as unique; see <doc:Schemas>.
  /// - Parameters:
  ///   - value: the new value.
  ///   - path: the unique field.
  ///   - position: where a new record goes. A record that exists keeps its place and its id.
  /// - Returns: the id of the record.
  /// - Throws: ``StoreError/Code/notUnique`` if several records have the value in the field; then none is changed. As
  ///   `records(where:equals:)`, `update(_:to:)` and `add(_:at:)`.
  /// - Complexity: as `records(where:equals:)`: O(*n*) without a lookup by the field, see `withLookup(by:)`. To write
  ///   many values, call it in one `RecordStore.write(_:)` of a table with a lookup.
  @discardableResult
  public func upsert<Field: Hashable & Sendable>(
    _ value: Value, by path: KeyPath<Value, Field> & Sendable, at position: Position<Value> = .bottom
  ) throws -> RecordID<Value> {
    try upsert(value, at: position) { try $0.records(where: path, equals: value[keyPath: path]) }
  }

  /// The same with a field that may be missing. A value that lacks it is always added.
  /// - Returns: the id of the record.
  /// - Throws: as with a field that is not optional.
  /// - Complexity: as with a field that is not optional.
  @discardableResult
  public func upsert<Field: Hashable & Sendable>(
    _ value: Value, by path: KeyPath<Value, Field?> & Sendable, at position: Position<Value> = .bottom
  ) throws -> RecordID<Value> {
    guard let field = value[keyPath: path] else { return try add(value, at: position) }
    return try upsert(value, at: position) { try $0.records(where: path, equals: field) }
  }

  private func upsert(
    _ value: Value, at position: Position<Value>,
    _ find: (TableSnapshot<Value>) throws -> [StoredRecord<Value>]
  ) throws -> RecordID<Value> {
    try writing { _ in
      let found = try find(snapshot())
      guard let id = found.first?.id else { return try add(value, at: position) }
      guard found.count == 1 else {
        throw StoreError(
          .notUnique, "record \(found[1].id) has the same value, so neither is changed", table: name.text,
          record: id.plain)
      }
      try update(id, to: value)
      return id
    }
  }
}

/// For async code; see the synchronous ones.
extension RecordTable {
  /// Gives the record with the same value in a unique field a new value, or adds one; see the synchronous `upsert`.
  @discardableResult
  public func upsert<Field: Hashable & Sendable>(
    _ value: Value, by path: KeyPath<Value, Field> & Sendable, at position: Position<Value> = .bottom
  ) async throws -> RecordID<Value> {
    try await writing { try $0.upsert(value, by: path, at: position) }
  }

  /// Gives the record with the same value in a unique field a new value, or adds one; see the synchronous `upsert`.
  @discardableResult
  public func upsert<Field: Hashable & Sendable>(
    _ value: Value, by path: KeyPath<Value, Field?> & Sendable, at position: Position<Value> = .bottom
  ) async throws -> RecordID<Value> {
    try await writing { try $0.upsert(value, by: path, at: position) }
  }
}
