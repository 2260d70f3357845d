import FileDBEssentials
import FileDBTables

/// Records chosen by a predicate of Swift, as `#Predicate` makes it. It gives what `predicate.evaluate` gives for each
/// value.
extension TableSnapshot {
  /// The records that match `predicate`, in their order.
  ///
  ///     let open = try notes.snapshot().records(where: #Predicate { !$0.isDone && $0.title.contains("milk") })
  ///
  /// FileDB reads only the fields of the properties that the predicate names, and remembers their values, as for a
  /// ``RecordPredicate``. In three cases it decodes whole records instead: a field does not fit its property; FileDB
  /// cannot find out a field's name (see ``SortKey/init(_:_:text:)``); or the predicate uses an operation such as
  /// `filter` or a comparison in the user's locale.
  /// - Throws: ``StoreError/Code/invalidValue`` if a record is decoded and does not fit the type; what the predicate
  ///   throws, for example for `!` of `nil`.
  /// - Complexity: O(*n*).
  public func records(where predicate: Predicate<Value>) throws -> [StoredRecord<Value>] {
    try matches(where: predicate).records
  }

  /// The number of records that match `predicate`.
  /// - Throws: as ``records(where:)-(Predicate<Value>)``.
  /// - Complexity: O(*n*).
  public func count(where predicate: Predicate<Value>) throws -> Int { try matches(where: predicate).count }

  /// The first record that matches `predicate`; `nil` if none does. It decodes one record after another.
  /// - Throws: as ``records(where:)-(Predicate<Value>)``, for the records up to this one.
  /// - Complexity: O(*n*) in the number of records up to it.
  public func first(where predicate: Predicate<Value>) throws -> StoredRecord<Value>? {
    try records.first { try predicate.evaluate($0) }
  }

  /// The records that match `predicate`. ``RecordMatches/unknownFields`` is always empty, because the compiler checks
  /// the names.
  /// - Throws: as ``records(where:)-(Predicate<Value>)``.
  /// - Complexity: O(*n*).
  public func matches(where predicate: Predicate<Value>) throws -> RecordMatches<Value> {
    guard let compiled = CompiledPredicate(predicate, in: state.records) else {
      let matches = try records.filter { try predicate.evaluate($0) }
      return RecordMatches(of: self, [matches.map(\.encoded)], missing: [])
    }
    let chunks = try ofChunks(reading: compiled.references) { _, records, fields in
      Result { try compiled.matches(records, fields, from: source) }
    }
    return RecordMatches(of: self, try chunks.map { try $0.get() }, missing: [])
  }
}

extension RecordTable {
  /// Removes the records that match `predicate`.
  /// - Returns: the removed records.
  /// - Throws: as ``TableSnapshot/records(where:)-(Predicate<Value>)``, and as `RecordStore.write(_:)`; then nothing is
  ///   removed.
  /// - Complexity: O(*n*).
  @discardableResult
  public func delete(where predicate: Predicate<Value>) throws -> RecordMatches<Value> {
    try changing({ try $0.matches(where: predicate) }) { try delete($0) }
  }

  /// Removes the records that match `predicate`; see the synchronous `delete`.
  @discardableResult
  public func delete(where predicate: Predicate<Value>) async throws -> RecordMatches<Value> {
    try await writing { try $0.delete(where: predicate) }
  }

  /// Changes the records that match `predicate`, in their order.
  /// - Returns: the records that matched, as they were before.
  /// - Throws: as ``TableSnapshot/records(where:)-(Predicate<Value>)`` and `update(_:_:)`.
  /// - Complexity: O(*n*).
  @discardableResult
  public func updateAll(
    where predicate: Predicate<Value>, _ body: (inout Value) throws -> Void
  ) throws -> RecordMatches<Value> {
    try changing({ try $0.matches(where: predicate) }) { try update($0, body) }
  }

  /// Changes the records that match `predicate`; see the synchronous `updateAll`.
  @discardableResult
  public func updateAll(
    where predicate: Predicate<Value>, _ body: @escaping @Sendable (inout Value) throws -> Void
  ) async throws -> RecordMatches<Value> {
    try await writing { try $0.updateAll(where: predicate, body) }
  }
}
