extension TableSnapshot {
  /// Whether the record is one of the attached store, be it as that has it, overridden or deleted by the user.
  /// - Complexity: O(√*n*) at worst.
  public func isShipped(_ id: RecordID) -> Bool { state.attached?.contains(id) ?? false }

  /// Whether the user changed fields of a record of the attached store.
  /// - Complexity: O(√*n*) at worst.
  public func isOverridden(_ id: RecordID) -> Bool {
    guard let attached = state.attached, let row = state.records.row(of: id),
      let attachedRow = attached.row(of: id)
    else { return false }
    return !state.records[row].hasSameBytes(as: attached[attachedRow])
  }
}

extension RecordTable {
  /// Whether the user did nothing to the attached table yet.
  package var isAttachedAlone: Bool {
    snapshot.state.attached != nil && store.log.published(TableKey(name.text))?.state.exists != true
  }

  /// See ``TableSnapshot/isShipped(_:)``.
  public func isShipped(_ id: RecordID) -> Bool { snapshot.isShipped(id) }

  /// See ``TableSnapshot/isOverridden(_:)``.
  public func isOverridden(_ id: RecordID) -> Bool { snapshot.isOverridden(id) }

  /// See ``StoreTransaction/revert(_:in:)``.
  public func revert(_ id: RecordID) throws { try store.write { tx in try tx.revert(id, in: name) } }
}

extension StoreTransaction {
  /// Takes back what the user did to a record of the attached store: it has its fields and its place again, also where it was
  /// deleted.
  /// - Throws: ``StoreError/recordNotFound`` where the attached store has no such record.
  public mutating func revert<Row>(_ id: RecordID, in table: TableName<Row>) throws {
    guard let reverted = try state.tableReverting(id, in: table.text) else {
      throw StoreError(
        StoreError.recordNotFound, "no attached store has such a record", table: table.text, record: id)
    }
    let row = try reverted.row(of: id)
    if try state.table(table.text).records.contains(id) {
      try state.apply(.replace(reverted.records[row]), to: table.text)
      try state.apply(.move(id, row: row), to: table.text)
    } else {
      try state.apply(.insert([reverted.records[row]], row: row), to: table.text)
    }
  }
}
