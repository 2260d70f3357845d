import FileDBTables

/// The verbs for several records at once. Each is one transaction: it changes all of them or none.
extension RecordTable {
  /// Moves records. Afterwards they follow one another at `position`, in the order of `ids`.
  ///
  /// With ``Position/index(_:)``, the first of them has this index afterwards.
  /// - Throws: ``StoreError/Code/recordNotFound``, ``StoreError/Code/indexOutOfRange``; then no record is moved.
  /// - Complexity: O(*m*) for *m* records, nearly the same for any *n*; see <doc:Performance>.
  public func move(_ ids: some Sequence<RecordID<Value>>, to position: Position<Value>) throws {
    var seen: Set<RecordID<Value>> = []
    let ids = ids.filter { seen.insert($0).inserted }
    guard let first = ids.first else { return }
    try writing { transaction in
      try move(first, to: transaction.place(of: ids, at: position, in: name.text))
      for (above, id) in zip(ids, ids.dropFirst()) { try move(id, to: .after(above)) }
    }
  }

  /// Moves the records at these indices, and keeps their order.
  ///
  ///     ForEach(notes.records) { … }.onMove { indices, offset in
  ///       do { try notes.table.move(fromOffsets: indices, toOffset: offset) } catch { show(error) }
  ///     }
  ///
  /// Use it for a list that shows the whole table in its own order. In a filtered or sorted list, the indices are not
  /// those of the table: use `move(_:to:)` with ids.
  ///
  /// - Parameters:
  ///   - indices: the indices of the records.
  ///   - offset: the index of the record above which they go, before anything moves; `count` for the bottom. `onMove`
  ///     in SwiftUI and `move(fromOffsets:toOffset:)` of an array count in the same way.
  /// - Throws: ``StoreError/Code/indexOutOfRange``.
  /// - Complexity: O(*m*) for *m* records, nearly the same for any *n*; see <doc:Performance>.
  public func move(fromOffsets indices: some Sequence<Int>, toOffset offset: Int) throws {
    let indices = Set(indices).sorted()
    try writing { transaction in
      let table = try transaction.table(name.text)
      let outside = indices.first { !table.records.indices.contains($0) }
      if let index = outside ?? ((0...table.records.count).contains(offset) ? nil : offset) {
        throw table.missing(index: index).adding(table: name.text)
      }
      // Each record moves only past records that stay, so the indices of records that still have to move do not change.
      for (distance, index) in indices.filter({ $0 < offset }).reversed().enumerated() {
        try move(fromIndex: index, toIndex: offset - 1 - distance)
      }
      for (distance, index) in indices.filter({ $0 >= offset }).enumerated() {
        try move(fromIndex: index, toIndex: offset + distance)
      }
    }
  }

  /// Copies records and returns the copies' ids. The copies follow one another at `position`. If `position` is `nil`,
  /// each copy is directly below its original.
  /// - Throws: ``StoreError/Code/recordNotFound``, ``StoreError/Code/indexOutOfRange``; then no record is copied.
  /// - Complexity: O(*m*) for *m* records, nearly the same for any *n*; see <doc:Performance>.
  @discardableResult
  public func duplicate(
    _ ids: some Sequence<RecordID<Value>>, to position: Position<Value>? = nil
  ) throws -> [RecordID<Value>] {
    try writing { transaction in
      guard let position else { return try ids.map { try duplicate($0) } }
      let fields = try ids.map { try record(with: $0).fields }
      return try transaction.insert(fields, into: name.text, at: position)
    }
  }

  /// Sets one property of records.
  ///
  ///     try notes.set(\.isDone, to: true, of: [milk, rent])
  ///
  /// - Throws: as `update(_:_:)` for one record; then no record is changed.
  /// - Complexity: *m* times as much as for one record, for *m* records.
  public func set<Property>(
    _ path: WritableKeyPath<Value, Property>, to property: Property, of ids: some Sequence<RecordID<Value>>
  ) throws {
    try update(ids) { $0[keyPath: path] = property }
  }

  /// Sets single fields of records, and keeps their other fields.
  /// - Throws: as `set(_:of:)` for one record; then no record is changed.
  /// - Complexity: *m* times as much as for one record, for *m* records.
  public func set(_ fields: Fields, of ids: some Sequence<RecordID<Value>>) throws {
    try writing { _ in for id in ids { try set(fields, of: id) } }
  }

  /// Removes single fields of records. It is not an error if a field does not exist.
  /// - Throws: as `unset(_:of:)` for one record; then no record is changed.
  /// - Complexity: *m* times as much as for one record, for *m* records.
  public func unset(_ names: [String], of ids: some Sequence<RecordID<Value>>) throws {
    try writing { _ in for id in ids { try unset(names, of: id) } }
  }

  /// Changes records in place, one after another, like `update(_:_:)`.
  /// - Throws: as `update(_:_:)` for one record; then no record is changed.
  /// - Complexity: *m* times as much as for one record, for *m* records.
  public func update(
    _ ids: some Sequence<RecordID<Value>>, _ body: (inout Value) throws -> Void
  ) throws {
    try store.write { _ in for id in ids { try update(id, body) } }
  }

  /// Changes all records in place, in their order.
  /// - Throws: as `update(_:_:)` for one record; then no record is changed.
  /// - Complexity: O(*n*).
  public func updateAll(_ body: (inout Value) throws -> Void) throws {
    try store.write { _ in try update(snapshot().ids, body) }
  }
}

/// For async code; see the synchronous ones.
extension RecordTable {
  /// Moves records; see the synchronous `move`.
  public func move(_ ids: some Sequence<RecordID<Value>> & Sendable, to position: Position<Value>)
    async throws
  {
    try await writing { try $0.move(ids, to: position) }
  }

  /// Moves the records at these indices; see the synchronous `move`.
  public func move(fromOffsets indices: some Sequence<Int> & Sendable, toOffset offset: Int) async throws {
    try await writing { try $0.move(fromOffsets: indices, toOffset: offset) }
  }

  /// Copies records and returns the copies' ids; see the synchronous `duplicate`.
  @discardableResult
  public func duplicate(
    _ ids: some Sequence<RecordID<Value>> & Sendable, to position: Position<Value>? = nil
  ) async throws -> [RecordID<Value>] {
    try await writing { try $0.duplicate(ids, to: position) }
  }

  /// Sets one property of records; see the synchronous `set`.
  public func set<Property: Sendable>(
    _ path: WritableKeyPath<Value, Property> & Sendable, to property: Property,
    of ids: some Sequence<RecordID<Value>> & Sendable
  ) async throws {
    try await writing { try $0.set(path, to: property, of: ids) }
  }

  /// Sets single fields of records; see the synchronous `set`.
  public func set(_ fields: Fields, of ids: some Sequence<RecordID<Value>> & Sendable) async throws {
    try await writing { try $0.set(fields, of: ids) }
  }

  /// Removes single fields of records; see the synchronous `unset`.
  public func unset(_ names: [String], of ids: some Sequence<RecordID<Value>> & Sendable) async throws {
    try await writing { try $0.unset(names, of: ids) }
  }

  /// Changes records in place; see the synchronous `update`.
  public func update(
    _ ids: some Sequence<RecordID<Value>> & Sendable, _ body: @escaping @Sendable (inout Value) throws -> Void
  ) async throws {
    try await writing { try $0.update(ids, body) }
  }

  /// Changes all records; see the synchronous `updateAll`.
  public func updateAll(_ body: @escaping @Sendable (inout Value) throws -> Void) async throws {
    try await writing { try $0.updateAll(body) }
  }
}

extension TransactionState {
  /// The place of the first of several records. The others follow it.
  fileprivate func place<Value>(
    of ids: [RecordID<Value>], at position: Position<Value>, in name: String
  ) throws(StoreError) -> Position<Value> {
    guard case .index(let index) = position, ids.count > 1 else { return position }
    do throws(StoreError) {
      let table = try self.table(name)
      var moving: [Int] = []
      for id in ids { moving.append(try table.index(of: id.plain)) }
      guard (0...table.records.count - ids.count).contains(index) else { throw table.missing(index: index) }
      guard index > 0 else { return .top }
      // The record that will be above them, found among all records.
      var above = index - 1
      for place in moving.sorted() where place <= above { above += 1 }
      return .after(RecordID(table.records[above].id))
    } catch {
      throw error.adding(table: name)
    }
  }
}
