import FileDBTables

/// Records chosen by a ``RecordPredicate``. With a closure instead, the standard library's `filter`, `first(where:)`
/// and `count(where:)` do the same.
extension TableSnapshot {
  /// The records of which `predicate` is true, in their order. Of a large table, several threads look at parts at the
  /// same time.
  ///
  /// To stop early, ask one record after another: `for record in snapshot where try predicate.matches(record)`.
  /// - Throws: ``StoreError/matchLimitExceeded``.
  /// - Complexity: O(*n*); of each record, only the fields that are named are decoded.
  public func records(where predicate: RecordPredicate) throws(StoreError) -> [StoredRecord<Value>] {
    try chosen(by: predicate).flatMap { $0.map { StoredRecord(encoded: $0, source: source) } }
  }

  /// The number of records of which `predicate` is true.
  /// - Throws: as ``records(where:)``.
  /// - Complexity: as ``records(where:)``.
  public func count(where predicate: RecordPredicate) throws(StoreError) -> Int {
    try chosen(by: predicate).reduce(0) { $0 + $1.count }
  }

  /// The first record of which `predicate` is true; `nil` where there is none.
  /// - Throws: as ``records(where:)``, for a record up to it.
  /// - Complexity: O(*n*) in the number of records up to it.
  public func first(where predicate: RecordPredicate) throws(StoreError) -> StoredRecord<Value>? {
    let fields = RecordFields()
    var records = state.records.makeIterator()
    do {
      while let record = records.next() {
        if try predicate.matches(record, fields) { return StoredRecord(encoded: record, source: source) }
      }
    } catch {
      throw error.adding(table: table)
    }
    return nil
  }

  private func chosen(by predicate: RecordPredicate) throws(StoreError) -> [[EncodedRecord]] {
    do {
      return try encodedRecords { (record: PredicateRecord) throws(StoreError) in
        try predicate.matches(record)
      }
    } catch {
      throw error.adding(table: table)
    }
  }

  /// The records that are chosen, part by part.
  /// - Throws: what `isChosen` throws for the first record for which it throws.
  func encodedRecords<Failure: Error>(
    where isChosen: @Sendable (PredicateRecord) throws(Failure) -> Bool
  ) throws(Failure) -> [[EncodedRecord]] {
    let parts = Parts(of: count, leastLength: 2_048)
    let results = concurrentMap(parts.count) { part in
      Result { () throws(Failure) in try encodedRecords(in: parts[part], where: isChosen) }
    }
    var chosen: [[EncodedRecord]] = []
    for result in results { chosen.append(try result.get()) }
    return chosen
  }

  private func encodedRecords<Failure: Error>(
    in part: Range<Int>, where isChosen: (PredicateRecord) throws(Failure) -> Bool
  ) throws(Failure) -> [EncodedRecord] {
    let fields = RecordFields()
    var chosen: [EncodedRecord] = []
    var records = state.records.makeIterator(from: part.lowerBound)
    for _ in part {
      guard let record = records.next() else { break }
      let isMatch = try fields.read(record) { () throws(Failure) in
        try isChosen(PredicateRecord(id: record.id, fields: fields))
      }
      if isMatch { chosen.append(record) }
    }
    return chosen
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
