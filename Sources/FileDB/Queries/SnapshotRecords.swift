extension TableSnapshot {
  /// The records, to filter, search or count by their values.
  public var records: Records { Records(snapshot: self) }

  /// The records of a snapshot, to query with Swift closures. A closure gets the decoded value of one record after
  /// another.
  ///
  /// ```swift
  /// let open = try notes.snapshot().records.filter { !$0.isDone }   // [StoredRecord<Note>]: the ids are still there
  /// let next = try notes.snapshot().records.first { !$0.isDone }
  /// let titles = try notes.snapshot().records.map(\.title)
  /// ```
  ///
  /// A method that needs all records decodes them on all cores, some thousands at a time. A method that may end early
  /// decodes one record at a time, and stops after the last one that it needs.
  ///
  /// The methods throw ``StoreError/Code/invalidValue`` for a record that does not fit the type, and they rethrow the
  /// closure's errors. By then, the closure has been called with the values before that record.
  public struct Records: Sendable {
    let snapshot: TableSnapshot<Value>

    /// The records for whose values `isIncluded` returns `true`, in order.
    /// - Throws: ``StoreError/Code/invalidValue``, and what the closure throws.
    /// - Complexity: O(*n*).
    public func filter(_ isIncluded: (Value) throws -> Bool) throws -> [StoredRecord<Value>] {
      var records: [StoredRecord<Value>] = []
      try forEachBlock { start, values in
        // Sequences of pairs would look up the metadata of their types for each value.
        var chosen: [Int] = []
        for offset in values.indices { if try isIncluded(values[offset]) { chosen.append(start + offset) } }
        guard let first = chosen.first else { return }
        var (rest, index) = (snapshot.makeIterator(from: first), first)
        for place in chosen {
          rest.skip(place - index)
          if let record = rest.next() { records.append(record) }
          index = place + 1
        }
      }
      return records
    }

    /// The first record for whose value `predicate` returns `true`.
    /// - Throws: ``StoreError/Code/invalidValue``, and what the closure throws.
    /// - Complexity: O(*n*) up to this record.
    public func first(where predicate: (Value) throws -> Bool) throws -> StoredRecord<Value>? {
      var reader = ValueReader<Value>()
      for record in snapshot {
        let value = try StoreError.naming(record.encoded, of: record.source) {
          try reader.value(of: record.encoded)
        }
        if try predicate(value) { return record }
      }
      return nil
    }

    /// Whether `predicate` returns `true` for any value.
    /// - Throws: ``StoreError/Code/invalidValue``, and what the closure throws.
    /// - Complexity: O(*n*) up to the first such record.
    public func contains(where predicate: (Value) throws -> Bool) throws -> Bool {
      try first(where: predicate) != nil
    }

    /// The number of records for whose values `predicate` returns `true`.
    /// - Throws: ``StoreError/Code/invalidValue``, and what the closure throws.
    /// - Complexity: O(*n*).
    public func count(where predicate: (Value) throws -> Bool) throws -> Int {
      try reduce(into: 0) { if try predicate($1) { $0 += 1 } }
    }

    /// The results of `transform` for each value, in order. For the values themselves, ``TableSnapshot/values()`` is
    /// faster.
    /// - Throws: ``StoreError/Code/invalidValue``, and what the closure throws.
    /// - Complexity: O(*n*).
    public func map<Result>(_ transform: (Value) throws -> Result) throws -> [Result] {
      try reduce(into: []) { $0.append(try transform($1)) }
    }

    /// The results of `transform` for each value, in order, leaving out each `nil`.
    /// - Throws: ``StoreError/Code/invalidValue``, and what the closure throws.
    /// - Complexity: O(*n*).
    public func compactMap<Result>(_ transform: (Value) throws -> Result?) throws -> [Result] {
      try reduce(into: []) { results, value in if let result = try transform(value) { results.append(result) }
      }
    }

    /// The result of calling `update` with `initial` and each value in turn.
    /// - Throws: ``StoreError/Code/invalidValue``, and what the closure throws.
    /// - Complexity: O(*n*).
    public func reduce<Result>(
      into initial: Result, _ update: (inout Result, Value) throws -> Void
    ) throws -> Result {
      var result = initial
      try forEachBlock { _, values in
        for offset in values.indices { try update(&result, values[offset]) }
      }
      return result
    }

    /// The record with the least `field`; if there are several, the first of them. Records with `nil` or `nan` do not
    /// count.
    /// - Throws: ``StoreError/Code/invalidValue``, and what the closure throws.
    /// - Complexity: O(*n*).
    public func min<Field: Comparable>(by field: (Value) throws -> Field?) throws -> StoredRecord<Value>? {
      try best(by: field) { $0 < $1 }
    }

    /// The record with the greatest `field`; if there are several, the first of them. Records with `nil` or `nan` do
    /// not count.
    /// - Throws: ``StoreError/Code/invalidValue``, and what the closure throws.
    /// - Complexity: O(*n*).
    public func max<Field: Comparable>(by field: (Value) throws -> Field?) throws -> StoredRecord<Value>? {
      try best(by: field) { $1 < $0 }
    }

    private func best<Field: Comparable>(
      by field: (Value) throws -> Field?, isBetter: (Field, Field) -> Bool
    ) throws -> StoredRecord<Value>? {
      var best: (index: Int, field: Field)?
      try forEachBlock { start, values in
        for offset in values.indices {
          guard let field = try field(values[offset]), field == field else { continue }
          if let best, !isBetter(field, best.field) { continue }
          best = (start + offset, field)
        }
      }
      return best.map { snapshot[$0.index] }
    }

    /// - Parameter body: gets the index of the first record of a block, and the values from there on.
    private func forEachBlock(_ body: (Int, [Value]) throws -> Void) throws {
      for start in stride(from: 0, to: snapshot.count, by: Self.blockLength) {
        let end = Swift.min(start + Self.blockLength, snapshot.count)
        let (values, failure) = snapshot.decoded(start..<end)
        try body(start, values)
        if let failure { throw failure }
      }
    }

    /// Enough for each core to pay, and few enough not to take much memory.
    private static var blockLength: Int { 8_192 }
  }
}
