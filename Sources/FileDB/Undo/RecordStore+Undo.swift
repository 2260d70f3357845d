/// The result of `RecordStore.undoableWrite(_:)`.
public struct UndoableWrite<Result> {
  /// What the body returned.
  public let result: Result
  /// The step that undoes the write.
  public let step: UndoStep
}

extension UndoableWrite: Sendable where Result: Sendable {}

extension RecordStore {
  /// The store's undo log. FileDB keeps it in the store's folder, and every program that opens the store can use it.
  public var undoLog: UndoLog { UndoLog(self) }

  /// Runs `body` like `write(_:)`, and also returns a step that undoes the write.
  ///
  ///     let write = try store.undoableWrite { tx in try tx[.notes].duplicate(milk) }
  ///     let redo = try store.undo(write.step)
  ///
  /// You may keep the step for as long as the program runs. It holds the deleted records and the changed fields in
  /// memory. For the Undo and Redo of a menu, see ``UndoStack``. For steps that survive the end of the program, see
  /// ``UndoLog``.
  /// - Throws: as `write(_:)`.
  /// - Complexity: in addition to the write, O(*m* log *m*) in the records near those that changed.
  public func undoableWrite<Result>(
    _ body: (inout StoreTransaction) throws -> Result
  ) throws -> UndoableWrite<Result> {
    try write { transaction in
      let state = transaction.state
      let before = state.states
      let result = try body(&transaction)
      return UndoableWrite(result: result, step: try state.undoStep(since: before))
    }
  }

  /// Takes back what a write did, in one commit.
  ///
  /// Later commits stay: all other records keep their order, and other fields of the same records keep their values. A
  /// new order is undone only if nobody has changed the order since.
  /// The ids that the write gave are not given again.
  /// - Returns: the step that undoes this undo.
  /// - Throws: ``StoreError/Code/undoConflict`` with table and record if a later commit changed the same data, or if
  ///   nothing of the write is left; then nothing changes. Also as `write(_:)`.
  /// - Complexity: for each record that the write changed, nearly the same for any *n*, see <doc:Performance>; O(*n*
  ///   log *n*) if the write moved many records.
  @discardableResult
  public func undo(_ step: UndoStep) throws -> UndoStep {
    try undoableWrite { transaction in try transaction.undo(step) }.step
  }
}

extension RecordStore {
  /// As the synchronous `undoableWrite(_:)`, without blocking the caller's thread.
  public func undoableWrite<Result: Sendable>(
    _ body: @escaping @Sendable (inout StoreTransaction) throws -> Result
  ) async throws -> UndoableWrite<Result> {
    try await write { _ in try self.undoableWrite(body) }
  }

  /// As the synchronous `undo(_:)`, without blocking the caller's thread.
  @discardableResult
  public func undo(_ step: UndoStep) async throws -> UndoStep { try await write { _ in try self.undo(step) } }
}

extension StoreTransaction {
  /// Takes back what a write did, as part of this transaction.
  /// - Throws: ``StoreError/Code/undoConflict``; see `RecordStore.undo(_:)`.
  /// - Complexity: as `RecordStore.undo(_:)`.
  public mutating func undo(_ step: UndoStep) throws {
    var isLeft = step.isEmpty
    for (key, undo) in step.tables.sorted(by: { $0.key < $1.key }) {
      do throws(StoreError) { isLeft = try state.undo(undo, in: key) || isLeft } catch {
        throw error.adding(table: key.text)
      }
    }
    guard isLeft else {
      throw StoreError.undoConflict("nothing of it is left").adding(table: step.tableNames[0])
    }
  }
}
