import Synchronization

/// The undo and redo of one window or one user.
///
///     let edits = UndoStack(store: store)
///     try edits.write(named: "Move") { tx in try tx[.notes].move(milk, to: .top) }
///     try edits.undo()
///     try edits.redo()
///
/// The stack undoes only its own writes. It keeps the changes of all others, including those of other windows and
/// other processes. You may use it from any thread. On Apple platforms you can use an `UndoManager` instead; see
/// `RecordStore.registerUndo(_:with:onError:)`.
public final class UndoStack: Sendable {
  private final class Item: Sendable {
    let name: String
    let step: UndoStep

    init(name: String, step: UndoStep) { (self.name, self.step) = (name, step) }
  }

  private struct State {
    var undo: [Item] = []
    var redo: [Item] = []
  }

  /// The store whose writes the stack holds.
  public let store: RecordStore
  /// The largest number of writes that the stack holds. It drops the oldest first.
  public let limit: Int
  private let state = Mutex(State())

  /// A stack without writes. It holds up to `limit` of them.
  public init(store: RecordStore, limit: Int = 100) {
    self.store = store
    self.limit = limit
  }

  /// Whether there is a write to undo.
  public var canUndo: Bool { undoName != nil }

  /// Whether there is a write to redo.
  public var canRedo: Bool { redoName != nil }

  /// The name of the write that `undo()` would undo; `nil` if there is nothing to undo.
  public var undoName: String? { state.withLock { $0.undo.last?.name } }

  /// The name of the write that `redo()` would redo; `nil` if there is nothing to redo.
  public var redoName: String? { state.withLock { $0.redo.last?.name } }

  /// Runs `body` like `RecordStore.write(_:)`, so that it can be undone later. After this, writes that were undone
  /// before can no longer be redone.
  /// - Throws: as `RecordStore.write(_:)`.
  @discardableResult
  public func write<Result>(
    named name: String = "", _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    try store.write { transaction in
      let write = try store.undoableWrite(body)
      let item = Item(name: name, step: write.step)
      // If this is part of another write, it may still be undone.
      if !write.step.isEmpty { transaction.state.whenEnded(committed: { self.keep(item) }) }
      return write.result
    }
  }

  private func keep(_ item: Item) {
    state.withLock { state in
      state.undo.append(item)
      if state.undo.count > limit { state.undo.removeFirst() }
      state.redo = []
    }
  }

  /// Undoes the last write that has not been undone yet.
  /// - Returns: `false` if there is nothing to undo.
  /// - Throws: as `RecordStore.undo(_:)`. The write then stays the next to be undone, unless you call
  ///   ``skipUndo()``.
  @discardableResult
  public func undo() throws -> Bool {
    try pass(from: \.undo, to: \.redo)
  }

  /// Redoes the write that was undone last.
  /// - Returns: `false` if nothing was undone since the last write.
  /// - Throws: as `undo()`; then ``skipRedo()`` skips the write.
  @discardableResult
  public func redo() throws -> Bool {
    try pass(from: \.redo, to: \.undo)
  }

  /// Skips the write that `undo()` would undo next. The tables stay as they are.
  /// - Returns: `false` if there is nothing to skip.
  @discardableResult
  public func skipUndo() -> Bool { state.withLock { $0.undo.popLast() != nil } }

  /// Skips the write that `redo()` would redo next. The tables stay as they are.
  /// - Returns: `false` if there is nothing to skip.
  @discardableResult
  public func skipRedo() -> Bool { state.withLock { $0.redo.popLast() != nil } }

  /// Forgets all writes.
  public func removeAll() { state.withLock { $0 = State() } }

  private func pass(
    from source: WritableKeyPath<State, [Item]> & Sendable,
    to target: WritableKeyPath<State, [Item]> & Sendable
  ) throws -> Bool {
    if state.withLock({ $0[keyPath: source].isEmpty }) { return false }
    return try store.write { transaction in
      guard let item = state.withLock({ $0[keyPath: source].popLast() }) else { return false }
      let inverse: Item
      do { inverse = Item(name: item.name, step: try store.undo(item.step)) } catch {
        state.withLock { $0[keyPath: source].append(item) }
        throw error
      }
      state.withLock { $0[keyPath: target].append(inverse) }
      // This may be part of another write, which fails later.
      transaction.state.whenEnded(undone: {
        self.state.withLock { state in
          state[keyPath: target].removeAll { $0 === inverse }
          state[keyPath: source].append(item)
        }
      })
      return true
    }
  }
}

/// For async code: as the synchronous ones, without blocking the caller's thread.
extension UndoStack {
  /// Runs `body` so that it can be undone later; see the synchronous `write`.
  @discardableResult
  public func write<Result: Sendable>(
    named name: String = "", _ body: @escaping @Sendable (inout StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await store.write { _ in try self.write(named: name, body) }
  }

  /// Undoes the last write that has not been undone yet; see the synchronous `undo`.
  @discardableResult
  public func undo() async throws -> Bool { try await store.writing { try self.undo() } }

  /// Redoes the write that was undone last; see the synchronous `redo`.
  @discardableResult
  public func redo() async throws -> Bool { try await store.writing { try self.redo() } }
}
