extension TableSnapshot {
  /// Whether the record comes from the attached store, even if the user has overridden or deleted it.
  /// - Complexity: nearly the same for any *n*; see <doc:Performance>.
  public func isShipped(_ id: RecordID<Value>) -> Bool { state.beneath?.contains(id.plain) ?? false }

  /// Whether the user changed fields of a record of the attached store.
  /// - Complexity: nearly the same for any *n*; see <doc:Performance>.
  public func isOverridden(_ id: RecordID<Value>) -> Bool {
    guard let attached = state.beneath, let index = index(of: id),
      let attachedIndex = attached.index(of: id.plain)
    else { return false }
    return !state.records[index].hasSameBytes(as: attached[attachedIndex])
  }
}

extension RecordTable {
  /// Whether the user has not changed the attached table yet.
  package var isAttachedAlone: Bool {
    lastSnapshot.state.beneath != nil && store.tables.published(TableKey(name.text))?.exists != true
  }

  /// See ``TableSnapshot/isShipped(_:)``.
  /// - Throws: as ``snapshot()``.
  public func isShipped(_ id: RecordID<Value>) throws -> Bool { try snapshot().isShipped(id) }

  /// See ``TableSnapshot/isOverridden(_:)``.
  /// - Throws: as ``snapshot()``.
  public func isOverridden(_ id: RecordID<Value>) throws -> Bool { try snapshot().isOverridden(id) }

  /// Reverts all of the user's changes to a record of the attached store. The record has its shipped fields and its
  /// shipped place again. If the user had deleted it, it comes back.
  /// - Throws: ``StoreError/Code/recordNotFound`` if the attached store has no such record.
  public func revert(_ id: RecordID<Value>) throws {
    try writing { transaction in
      guard let reverted = try transaction.tableReverting(id.plain, in: TableKey(name.text)) else {
        throw StoreError(
          .recordNotFound, "no attached store has such a record", table: name.text, record: id.plain)
      }
      let index = try reverted.index(of: id.plain)
      if try transaction.table(name.text).records.contains(id.plain) {
        try transaction.apply(.replace(reverted.records[index]), to: name.text)
        try transaction.apply(.move(id.plain, index: index), to: name.text)
      } else {
        try transaction.apply(.insert([reverted.records[index]], index: index), to: name.text)
      }
    }
  }
}

extension RecordTable {
  /// Reverts all of the user's changes to a record of the attached store; see the synchronous `revert`.
  public func revert(_ id: RecordID<Value>) async throws { try await writing { try $0.revert(id) } }
}

extension TransactionState {
  /// The table as readers would see it if the user had not changed this record; `nil` if it is not an attached record.
  fileprivate func tableReverting(_ id: AnyRecordID, in key: TableKey) throws(StoreError) -> TableState? {
    let seen = try table(key.text)
    guard let beneath = seen.beneath, beneath.contains(id) else { return nil }
    var own = try ownTable(key, seenAs: seen)
    if own.records.contains(id) { try own.apply(.remove([id])) }
    return try TableState(own, over: beneath, declaring: seen.schemaValue)
  }
}
