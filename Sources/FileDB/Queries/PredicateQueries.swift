/// Records chosen by a ``RecordPredicate``. With a closure instead, the standard library's `filter`, `first(where:)`
/// and `count(where:)` do the same.
extension TableSnapshot {
  /// The records of which `predicate` is true, in their order. Of a large table, several threads look at parts at the
  /// same time.
  ///
  /// To stop early, go lazily: `snapshot.lazy.filter(predicate.matches).prefix(20)`.
  /// - Complexity: O(*n*); of each record, only the fields that are named are decoded.
  public func records(where predicate: RecordPredicate) -> [StoredRecord<Value>] {
    records { predicate.matches($0) }
  }

  /// The number of records of which `predicate` is true.
  /// - Complexity: as ``records(where:)``.
  public func count(where predicate: RecordPredicate) -> Int {
    records { predicate.matches($0) }.reduce(0) { $0 + $1.count }
  }

  /// The first record of which `predicate` is true; `nil` where there is none.
  /// - Complexity: O(*n*) in the number of records up to it.
  public func first(where predicate: RecordPredicate) -> StoredRecord<Value>? {
    let fields = RecordFields()
    var records = state.records.makeIterator()
    while let record = records.next() {
      let isMatch = fields.read(record) { predicate.matches(PredicateRecord(id: record.id, fields: fields)) }
      if isMatch { return StoredRecord(encoded: record, source: source) }
    }
    return nil
  }

  func records(_ isChosen: @Sendable (PredicateRecord) -> Bool) -> [StoredRecord<Value>] {
    records(isChosen).flatMap { $0.map { StoredRecord(encoded: $0, source: source) } }
  }

  /// The records that are chosen, part by part.
  private func records(_ isChosen: @Sendable (PredicateRecord) -> Bool) -> [[EncodedRecord]] {
    let parts = Parts(of: count, leastLength: 2_048)
    return concurrentMap(parts.count) { part in
      let fields = RecordFields()
      var chosen: [EncodedRecord] = []
      var records = state.records.makeIterator(from: parts[part].lowerBound)
      for _ in parts[part] {
        guard let record = records.next() else { break }
        let isMatch = fields.read(record) { isChosen(PredicateRecord(id: record.id, fields: fields)) }
        if isMatch { chosen.append(record) }
      }
      return chosen
    }
  }
}

extension StoreTransaction {
  /// Removes the records of which `predicate` is true, and returns their ids in order.
  /// - Complexity: O(*n*).
  @discardableResult
  public mutating func delete<Value>(
    where predicate: RecordPredicate, in table: TableName<Value>
  ) throws -> [RecordID] {
    let ids = try snapshot(of: table).records(where: predicate).map(\.id)
    try delete(ids, in: table)
    return ids
  }
}

extension RecordTable {
  /// See ``StoreTransaction/delete(where:in:)``.
  @discardableResult
  public func delete(where predicate: RecordPredicate) throws -> [RecordID] {
    try store.write { tx in try tx.delete(where: predicate, in: name) }
  }
}
