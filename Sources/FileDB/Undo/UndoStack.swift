import Synchronization

/// The writes of one window or one user, to be taken back one after another: Undo and Redo.
///
///     let edits = UndoStack(store: store)
///     try edits.write(named: "Move") { tx in try tx.move(milk, in: .notes, to: .top) }
///     try edits.undo()
///     try edits.redo()
///
/// Writes that do not go through the stack, those of other windows and other processes included, are not taken back, and
/// what they did is kept. May be used from any thread. On Apple platforms an `UndoManager` can take its place; see
/// ``RecordStore/registerUndo(_:with:onError:)``.
public final class UndoStack: Sendable {
  private struct Item {
    let name: String
    let step: UndoStep
  }

  private struct State {
    var undo: [Item] = []
    var redo: [Item] = []
  }

  public let store: RecordStore
  /// How many writes it holds at most; the oldest go first.
  public let limit: Int
  private let state = Mutex(State())

  public init(store: RecordStore, limit: Int = 100) {
    self.store = store
    self.limit = limit
  }

  /// The name of the write that ``undo()`` would take back; `nil` where there is none.
  public var undoName: String? { state.withLock { $0.undo.last?.name } }

  /// The name of the write that ``redo()`` would do again; `nil` where there is none.
  public var redoName: String? { state.withLock { $0.redo.last?.name } }

  /// Runs `body` as ``RecordStore/write(_:)`` would, to be taken back later. There is nothing to redo then.
  /// - Throws: as ``RecordStore/write(_:)``.
  @discardableResult
  public func write<Result>(
    named name: String = "", _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    try store.write { transaction in
      let (result, step) = try store.undoableWrite(body)
      // Where this is a part of another write, that may still be undone.
      if !step.isEmpty { transaction.state.afterCommit { self.keep(Item(name: name, step: step)) } }
      return result
    }
  }

  private func keep(_ item: Item) {
    state.withLock { state in
      state.undo.append(item)
      if state.undo.count > limit { state.undo.removeFirst() }
      state.redo = []
    }
  }

  /// Takes back the last write that was not taken back yet.
  /// - Returns: false where there is none.
  /// - Throws: as ``RecordStore/undo(_:)``; the write stays the next to be taken back, unless ``skipUndo()`` leaves it out.
  @discardableResult
  public func undo() throws -> Bool {
    try pass(from: \.undo, to: \.redo)
  }

  /// Does again what was taken back last.
  /// - Returns: false where nothing was taken back since the last write.
  /// - Throws: as ``undo()``; ``skipRedo()`` leaves the write out.
  @discardableResult
  public func redo() throws -> Bool {
    try pass(from: \.redo, to: \.undo)
  }

  /// Leaves out the write that ``undo()`` would take back next; the tables stay as they are.
  /// - Returns: false where there is none.
  @discardableResult
  public func skipUndo() -> Bool { state.withLock { $0.undo.popLast() != nil } }

  /// Leaves out the write that ``redo()`` would do again next; the tables stay as they are.
  /// - Returns: false where there is none.
  @discardableResult
  public func skipRedo() -> Bool { state.withLock { $0.redo.popLast() != nil } }

  /// Forgets all writes.
  public func removeAll() { state.withLock { $0 = State() } }

  private func pass(
    from source: WritableKeyPath<State, [Item]> & Sendable,
    to target: WritableKeyPath<State, [Item]> & Sendable
  ) throws -> Bool {
    guard let item = state.withLock({ $0[keyPath: source].popLast() }) else { return false }
    do {
      let inverse = try store.undo(item.step)
      state.withLock { $0[keyPath: target].append(Item(name: item.name, step: inverse)) }
      return true
    } catch {
      state.withLock { $0[keyPath: source].append(item) }
      throw error
    }
  }
}
