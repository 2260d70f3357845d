extension RecordStore {
  /// The store's undo log. It is kept in the store's folder, and every program that opens the store can use it.
  public var undoLog: UndoLog { UndoLog(self) }

  /// Runs `body` as ``write(_:)`` would, and tells how to take back what it did.
  ///
  ///     let (id, step) = try store.undoableWrite { tx in try tx.duplicate(milk, in: .notes) }
  ///     let redo = try store.undo(step)
  ///
  /// The step may be kept for as long as the program runs, and costs the memory of the records that were deleted and the
  /// fields that changed. For a menu's Undo and Redo see ``UndoStack``; for steps that outlive the program, ``UndoLog``.
  /// - Throws: as ``write(_:)``.
  /// - Complexity: beyond that of the write, O(*m* log *m*) in the records near those that changed.
  public func undoableWrite<Result>(
    _ body: (inout StoreTransaction) throws -> Result
  ) throws -> (result: Result, step: UndoStep) {
    try write { transaction in
      let state = transaction.state
      let before = state.states
      let result = try body(&transaction)
      return (result, try state.undoStep(since: before))
    }
  }

  /// Takes back what a write did, in one commit.
  ///
  /// What was committed since stays: other records keep their places beside each other, other fields of the same records
  /// their values. Ids that the write gave are not given again.
  /// - Returns: what takes the undoing back.
  /// - Throws: ``StoreError/undoConflict`` with table and record where a later commit changed the very thing that is to be
  ///   undone; then nothing happened. And as ``write(_:)``.
  /// - Complexity: O(√*n*) at worst for each record that the write changed; O(*n* log *n*) where it moved many.
  @discardableResult
  public func undo(_ step: UndoStep) throws -> UndoStep {
    try undoableWrite { transaction in try transaction.undo(step) }.step
  }
}

extension StoreTransaction {
  /// Takes back what a write did, as a part of this transaction; see ``RecordStore/undo(_:)``.
  public mutating func undo(_ step: UndoStep) throws {
    for (key, undo) in step.tables.sorted(by: { $0.key < $1.key }) {
      do throws(StoreError) { try state.undo(undo, in: key) } catch { throw error.adding(table: key.text) }
    }
  }
}
