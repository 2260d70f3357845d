import FileDB
import FileDBTables

/// The methods that change records. Each call is a separate commit. It cannot be part of a transaction with other
/// tables, and you cannot undo it.
///
/// The methods work like those of a `RecordTable`, and throw the same errors. In addition, they throw
/// ``StoreError/Code/unreachable``, ``StoreError/Code/outcomeUnknown``, ``StoreError/Code/locked`` if others kept
/// writing to the table for longer than `StoreOptions.lockTimeout`, ``StoreError/Code/tableExists`` for a table that is
/// not paged, and ``StoreError/Code/invalidSchema`` if the table's schema has rules about other records.
extension PagedTable {
  /// Adds a record with this value and returns its new id.
  /// - Throws: as `RecordTable.add(_:at:)`.
  /// - Complexity: nearly independent of the table's size. It takes two requests, and one more for a position next to
  ///   another record.
  @discardableResult
  public func add(_ value: Value, at position: Position<Value> = .bottom) async throws -> RecordID<Value> {
    try await add(contentsOf: CollectionOfOne(value), at: position)[0]
  }

  /// Adds records with these values in their order, the first at `position`, and returns their new ids.
  ///
  /// They are one commit, which is built in memory. For more than a few thousand records, use ``load(_:at:)``.
  /// - Throws: as `RecordTable.add(contentsOf:at:)`. Then no record is added.
  @discardableResult
  public func add(
    contentsOf values: some Sequence<Value> & Sendable, at position: Position<Value> = .bottom
  ) async throws -> [RecordID<Value>] {
    let values = Array(values)
    return try await rows.writing {
      try rows.commit { table in
        let index = try rows.insertionIndex(for: position, of: table)
        let edit = try PagedEdit(of: name, table, in: store).changes(of: table) { edited in
          try edited.add(contentsOf: values)
        }
        return (edit.changes.map { $0.inserting(at: index) }, edit.result)
      }
    }
  }

  /// Changes a record in place. The record keeps its id, and the fields that `Value` does not know. If another writer
  /// was first, `body` runs again.
  /// - Throws: as `RecordTable.update(_:_:)`.
  public func update(
    _ id: RecordID<Value>, _ body: @escaping @Sendable (inout Value) throws -> Void
  ) async throws {
    try await edit(id) { try $0.update(id, body) }
  }

  /// Gives a record a new value.
  /// - Throws: as `RecordTable.update(_:to:)`.
  public func update(_ id: RecordID<Value>, to value: Value) async throws {
    try await edit(id) { try $0.update(id, to: value) }
  }

  /// Sets single fields of a record, and keeps its other fields.
  /// - Throws: as `RecordTable.set(_:of:)`.
  public func set(_ fields: Fields, of id: RecordID<Value>) async throws {
    try await edit(id) { try $0.set(fields, of: id) }
  }

  /// Removes single fields of a record.
  /// - Throws: as `RecordTable.unset(_:of:)`.
  public func unset(_ names: [String], of id: RecordID<Value>) async throws {
    try await edit(id) { try $0.unset(names, of: id) }
  }

  private func edit(
    _ id: RecordID<Value>, _ verb: @escaping @Sendable (RecordTable<Value>) throws -> Void
  ) async throws {
    try await rows.writing {
      try rows.commit { table in
        let record = try rows.record(with: id.plain)
        return try PagedEdit(of: name, table, [record], in: store).changes(of: table, verb)
      }
    }
  }

  /// Moves a record.
  /// - Throws: as `RecordTable.move(_:to:)`.
  public func move(_ id: RecordID<Value>, to position: Position<Value>) async throws {
    try await rows.writing {
      try rows.commit { table in
        let index = try rows.index(of: id.plain)
        let newIndex = try rows.finalIndex(of: index, movedTo: position, in: table)
        return (newIndex == index ? [] : [.move(id.plain, index: newIndex)], ())
      }
    }
  }

  /// Removes a record. No other record gets its id.
  /// - Throws: as `RecordTable.delete(_:)`.
  public func delete(_ id: RecordID<Value>) async throws { try await delete(CollectionOfOne(id)) }

  /// Removes records. `ids` may contain an id twice.
  /// - Throws: ``StoreError/Code/recordNotFound``. Then no record is removed.
  public func delete(_ ids: some Sequence<RecordID<Value>> & Sendable) async throws {
    try await rows.writing {
      var seen: Set<AnyRecordID> = []
      let ids = ids.map(\.plain).filter { seen.insert($0).inserted }
      if ids.isEmpty { return }
      try rows.commit { _ in
        let present = try rows.present(ids)
        if let id = ids.first(where: { !present.contains($0) }) { throw rows.missing(id) }
        return ([.remove(ids)], ())
      }
    }
  }
}

extension Change {
  /// The same change, with its records inserted at `index` of the whole table. The table in memory has no other
  /// records.
  func inserting(at index: Int) -> Change {
    if case .insert(let records, _) = self { .insert(records, index: index) } else { self }
  }
}

extension PagedRows {
  /// The index for new records.
  func insertionIndex(
    for position: Position<some Any>, of table: PostgresTable
  ) throws(StoreError) -> Int {
    switch position {
    case .top: return 0
    case .bottom: return table.count
    case .index(let index):
      guard (0...table.count).contains(index) else { throw missing(index: index) }
      return index
    case .before(let id): return try index(of: id.plain)
    case .after(let id): return try index(of: id.plain) + 1
    }
  }

  /// The new index of the record at `index` after a move to `position`.
  func finalIndex(
    of index: Int, movedTo position: Position<some Any>, in table: PostgresTable
  ) throws(StoreError) -> Int {
    switch position {
    case .top: return 0
    case .bottom: return table.count - 1
    case .index(let newIndex):
      guard (0..<table.count).contains(newIndex) else { throw missing(index: newIndex) }
      return newIndex
    case .before(let id):
      let neighbour = try self.index(of: id.plain)
      return neighbour > index ? neighbour - 1 : neighbour
    case .after(let id):
      let neighbour = try self.index(of: id.plain)
      return neighbour >= index ? neighbour : neighbour + 1
    }
  }
}
