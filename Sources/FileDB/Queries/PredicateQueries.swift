/// Rows chosen by a ``RecordPredicate``. With a closure instead, the standard library's `filter`, `first(where:)` and
/// `count(where:)` do the same.
extension TableSnapshot {
  /// The rows of which `predicate` is true, in their order. Of a large table, several threads look at parts at the same time.
  ///
  /// To stop early, go lazily: `snapshot.lazy.filter(predicate.matches).prefix(20)`.
  /// - Complexity: O(*n*); of each record, only the fields that are named are decoded.
  public func rows(where predicate: RecordPredicate) -> [StoredRow<Row>] { rows { predicate.matches($0) } }

  /// The number of rows of which `predicate` is true.
  /// - Complexity: as ``rows(where:)``.
  public func count(where predicate: RecordPredicate) -> Int {
    records { predicate.matches($0) }.reduce(0) { $0 + $1.count }
  }

  /// The first row of which `predicate` is true; `nil` where there is none.
  /// - Complexity: O(*n*) in the number of rows up to it.
  public func first(where predicate: RecordPredicate) -> StoredRow<Row>? {
    let fields = RecordFields()
    var records = state.records.makeIterator()
    while let stored = records.next() {
      let isMatch = fields.read(stored) { predicate.matches(PredicateRow(id: stored.id, fields: fields)) }
      if isMatch { return StoredRow(stored: stored, source: source) }
    }
    return nil
  }

  func rows(_ isChosen: @Sendable (PredicateRow) -> Bool) -> [StoredRow<Row>] {
    records(isChosen).flatMap { $0.map { StoredRow(stored: $0, source: source) } }
  }

  /// The records that are chosen, part by part.
  private func records(_ isChosen: @Sendable (PredicateRow) -> Bool) -> [[StoredRecord]] {
    let parts = Parts(of: count, leastLength: 2_048)
    return concurrentMap(parts.count) { part in
      let fields = RecordFields()
      var chosen: [StoredRecord] = []
      var records = state.records.makeIterator(from: parts[part].lowerBound)
      for _ in parts[part] {
        guard let stored = records.next() else { break }
        let isMatch = fields.read(stored) { isChosen(PredicateRow(id: stored.id, fields: fields)) }
        if isMatch { chosen.append(stored) }
      }
      return chosen
    }
  }
}

extension StoreTransaction {
  /// Removes the records of which `predicate` is true, and returns their ids in row order.
  /// - Complexity: O(*n*).
  @discardableResult
  public mutating func delete<Row>(
    where predicate: RecordPredicate, in table: TableName<Row>
  ) throws -> [RecordID] {
    let ids = try snapshot(of: table).rows(where: predicate).map(\.id)
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
