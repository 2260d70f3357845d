import FileDBTables

/// Records chosen by a ``RecordPredicate``. With a closure instead, the standard library's `filter`, `first(where:)`
/// and `count(where:)` do the same.
extension TableSnapshot {
  /// The records that match `predicate`, in their order. In a large table, several threads search parts at the same
  /// time.
  ///
  /// To stop early, test one record after another: `for record in snapshot where try predicate.matches(record)`.
  /// - Throws: ``StoreError/Code/matchLimitExceeded``; ``StoreError/Code/invalidPredicate`` if the predicate names `id`
  ///   and `Value` has such a property (write `fields.id`, or `recordID` for the record's id); for a
  ///   ``VersionedValue``, ``StoreError/Code/newerVersion`` and ``StoreError/Code/migrationFailed``.
  /// - Complexity: O(*n*). Of each record, only the fields that the predicate names are decoded.
  public func records(where predicate: RecordPredicate) throws -> [StoredRecord<Value>] {
    try matches(where: predicate).records
  }

  /// The number of records that match `predicate`.
  /// - Throws: as ``records(where:)-(RecordPredicate)``.
  /// - Complexity: as ``records(where:)-(RecordPredicate)``.
  public func count(where predicate: RecordPredicate) throws -> Int {
    try matches(where: predicate).count
  }

  /// The first record that matches `predicate`; `nil` if none does.
  /// - Throws: as ``records(where:)-(RecordPredicate)``, for the records up to this one.
  /// - Complexity: O(*n*) in the number of records up to it.
  public func first(where predicate: RecordPredicate) throws -> StoredRecord<Value>? {
    let form = ValueForm(Value.self)
    let fields = form.makeFields()
    var records = state.records.makeIterator()
    do {
      try predicate.checkIDs(as: Value.self, of: state.records)
      while let record = records.next() {
        if try predicate.matches(record, as: form, fields) {
          return StoredRecord(encoded: record, source: source)
        }
      }
    } catch {
      throw error.adding(table: table)
    }
    return nil
  }

  /// The records that match `predicate`, and the fields that it names but no record has. Such a field is probably
  /// mistyped.
  ///
  ///     let matches = try notes.snapshot().matches(where: predicate)
  ///     for field in matches.unknownFields { warn("no note has a field '\(field.name)'") }
  /// - Throws: as ``records(where:)-(RecordPredicate)``.
  /// - Complexity: as ``records(where:)-(RecordPredicate)``.
  public func matches(where predicate: RecordPredicate) throws -> RecordMatches<Value> {
    do {
      try predicate.checkIDs(as: Value.self, of: state.records)
      let form = ValueForm(Value.self)
      if form.isPlain, let columns = ColumnPredicate(predicate) { return try matches(of: columns) }
      let parts = try chosen(with: FieldSearch(for: predicate), newest: form.newest) {
        (search: inout FieldSearch, record: PredicateRecord) throws(StoreError) in
        search.look(at: record.fields)
        return try predicate.matches(record)
      }
      let missing = (parts.first?.state.missing ?? []).filter { field in
        parts.allSatisfy { $0.state.missing.contains(field) }
      }
      return RecordMatches(of: self, parts.map(\.records), missing: missing)
    } catch {
      throw error.adding(table: table)
    }
  }

  private func matches(of columns: ColumnPredicate) throws(StoreError) -> RecordMatches<Value> {
    let chunks = try ofChunks(reading: columns.fields) { _, records, values in
      (matches: columns.matches(records, values), hasValues: values.map(\.hasValues))
    }
    let missing = columns.fields.enumerated().filter { place, _ in !chunks.contains { $0.hasValues[place] } }
    return RecordMatches(of: self, chunks.map(\.matches), missing: missing.compactMap(\.element.names))
  }

  /// The chosen records, found part by part.
  /// - Parameters:
  ///   - initial: the state at the beginning of each part. It may change from record to record.
  ///   - newest: the version of a record to test.
  /// - Throws: the error of `newest` or `isChosen` for the first record for which they throw.
  func chosen<State: Sendable, Failure: Error>(
    with initial: State, newest: @Sendable (EncodedRecord) throws(Failure) -> EncodedRecord,
    where isChosen: @Sendable (inout State, PredicateRecord) throws(Failure) -> Bool
  ) throws(Failure) -> [(records: [EncodedRecord], state: State)] {
    let parts = Parts(of: count, leastLength: 2_048)
    return try concurrentMap(parts.count) { part throws(Failure) in
      let form = ValueForm(Value.self)
      let fields = form.makeFields()
      var current = initial
      var found: [EncodedRecord] = []
      var records = state.records.makeIterator(from: parts[part].lowerBound)
      for _ in parts[part] {
        guard let record = records.next() else { break }
        let isMatch = try fields.read(form.isPlain ? record : newest(record)) { () throws(Failure) in
          try isChosen(&current, PredicateRecord(id: record.id, fields: fields))
        }
        if isMatch { found.append(record) }
      }
      return (records: found, state: current)
    }
  }
}

/// The records of a table that match a predicate.
public struct RecordMatches<Value: Codable & Sendable>: Sendable {
  let snapshot: TableSnapshot<Value>
  let parts: [[EncodedRecord]]
  private let missing: [FieldSearch.Keys]

  init(of snapshot: TableSnapshot<Value>, _ parts: [[EncodedRecord]], missing: [FieldSearch.Keys]) {
    (self.snapshot, self.parts, self.missing) = (snapshot, parts, missing)
  }

  /// The number of records that match.
  /// - Complexity: O(1).
  public var count: Int { parts.reduce(0) { $0 + $1.count } }

  /// The records that match, in their order.
  /// - Complexity: O(*m*) in their number.
  public var records: [StoredRecord<Value>] {
    let source = snapshot.source
    var records: [StoredRecord<Value>] = []
    records.reserveCapacity(count)
    for part in parts { for record in part { records.append(StoredRecord(encoded: record, source: source)) } }
    return records
  }

  /// The ids of the records that match, in their order.
  /// - Complexity: O(*m*) in their number.
  public var ids: [RecordID<Value>] { parts.flatMap { $0.map { RecordID($0.id) } } }

  /// The fields that the predicate names but no record of the table has; see ``RecordPredicate/unknownFields(in:)``.
  /// - Complexity: O(1) if there are no such fields; otherwise O(*n*), to find the most similar names.
  public var unknownFields: [UnknownField] { snapshot.unknownFields(missing) }
}

extension RecordTable {
  /// Removes the records that match `predicate`.
  ///
  /// A mistyped field can match everything: `titel != "a"` is true of every record without a field `titel`.
  /// ``RecordMatches/unknownFields`` lists such fields, but only after the records are removed. To find them first,
  /// call ``RecordPredicate/unknownFields(in:)``.
  /// - Returns: the removed records.
  /// - Throws: as ``TableSnapshot/records(where:)-(RecordPredicate)``, and as `RecordStore.write(_:)`; then nothing is
  ///   removed.
  /// - Complexity: O(*n*).
  @discardableResult
  public func delete(where predicate: RecordPredicate) throws -> RecordMatches<Value> {
    try changing({ try $0.matches(where: predicate) }) { try delete($0) }
  }

  /// Removes the records that match `predicate`; see the synchronous `delete`.
  @discardableResult
  public func delete(where predicate: RecordPredicate) async throws -> RecordMatches<Value> {
    try await writing { try $0.delete(where: predicate) }
  }

  /// Changes the records that match `predicate`, in their order.
  ///
  ///     try notes.updateAll(where: RecordPredicate("due < %@", today)) { $0.isDone = true }
  ///
  /// - Returns: the records that matched, as they were before. ``RecordMatches/unknownFields`` lists the fields that
  ///   the predicate names but no record has.
  /// - Throws: as ``TableSnapshot/records(where:)-(RecordPredicate)`` and `update(_:_:)`.
  /// - Complexity: O(*n*).
  @discardableResult
  public func updateAll(
    where predicate: RecordPredicate, _ body: (inout Value) throws -> Void
  ) throws -> RecordMatches<Value> {
    try changing({ try $0.matches(where: predicate) }) { try update($0, body) }
  }

  /// Changes the records that match `predicate`; see the synchronous `updateAll`.
  @discardableResult
  public func updateAll(
    where predicate: RecordPredicate, _ body: @escaping @Sendable (inout Value) throws -> Void
  ) async throws -> RecordMatches<Value> {
    try await writing { try $0.updateAll(where: predicate, body) }
  }

  /// Changes the records that are found. Finding and changing are in the same transaction.
  func changing(
    _ find: (TableSnapshot<Value>) throws -> RecordMatches<Value>,
    _ change: ([RecordID<Value>]) throws -> Void
  ) throws -> RecordMatches<Value> {
    try writing { _ in
      let matches = try find(snapshot())
      try change(matches.ids)
      return matches
    }
  }
}
