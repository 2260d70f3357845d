import FileDBEssentials
import FileDBPlist

/// A log of a store's writes. Any program can undo them, even after a restart. `filedb undo` uses the same log.
///
///     let id = try store.undoLog.write(named: "New note") { tx in try tx[.notes].add(note) }
///     try store.undoLog.undo()
///
/// The log keeps the files of each write in `.filedb/undo`. FileDB writes them before the commit, and uses them only if
/// the commit exists. So a crash cannot leave a write that undo would miss. FileDB does not sync these files, so a
/// logged write needs no extra sync. A power cut may lose the newest ones. The log then ends there, and
/// ``Contents/isCutOff`` is `true`.
///
/// The log holds up to 100 writes. Its files take at most twice as much space as the tables did when they were largest
/// in the last day, or 1 MB if that is more. FileDB removes the oldest writes first. It always keeps the newest one, and
/// the newest whose files take more than 1 MB. If a write deletes more than 1 MB of records, the log does not copy them:
/// it keeps a hard link to the table's old file.
///
/// Undo leaves alone all writes that did not go through the log, including those of other programs. For the undo of a
/// single window, see ``UndoStack``.
public struct UndoLog: Sendable {
  /// A write that can be undone or redone.
  public struct Entry: Hashable, Sendable, Identifiable {
    /// Identifies the write in the log. After it was undone, the write that can be redone has another id.
    public let id: String
    /// What the write did.
    public let name: String
    /// The time of the write, to the second.
    public let date: Date
    /// The tables that it changed, in the order of their names.
    public let tableNames: [String]
  }

  /// The writes that can be undone and redone.
  public struct Contents: Sendable {
    /// The writes that `UndoLog.undo()` would undo, the newest first.
    public let undo: [Entry]
    /// The writes that `UndoLog.redo()` would redo, the next first.
    public let redo: [Entry]
    /// Whether the log has lost steps, for example in a power cut or a repair.
    public let isCutOff: Bool
  }

  /// The direction of a step.
  package enum Direction: String, Sendable {
    case undo, redo

    var reverse: Direction { self == .undo ? .redo : .undo }
  }

  let store: RecordStore

  init(_ store: RecordStore) { self.store = store }

  // MARK: - Writing

  /// Runs `body` like `RecordStore.write(_:)` and logs it as one step. After this, writes that were undone before can
  /// no longer be redone.
  /// - Parameters:
  ///   - name: the name of the step; `nil` for ``UndoStep/summary``.
  ///   - body: what the write does.
  /// - Throws: as `RecordStore.write(_:)`, also if the log cannot keep the step, for example on a full disk; then
  ///   nothing is committed. ``StoreError/Code/insideWrite`` inside another write.
  /// - Complexity: as `RecordStore.undoableWrite(_:)`. If more than 1 MB of records are deleted, FileDB first makes a
  ///   checkpoint.
  @discardableResult
  public func write<Result>(
    named name: String? = nil, _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    try write(named: { _ in name }, unlessKept: { throw $0 }, discarding: { _ in }, body)
  }

  /// Like `write(named:_:)`. Also returns the entry, for ``undo(_:)``.
  /// - Returns: the result of `body`, and the entry; `nil` if the write changed nothing.
  /// - Throws: as `write(named:_:)`.
  /// - Complexity: as `write(named:_:)`.
  public func loggedWrite<Result>(
    named name: String? = nil, _ body: (inout StoreTransaction) throws -> Result
  ) throws -> (result: Result, entry: Entry?) {
    var token: CommitToken?
    let result = try write(named: name) { transaction in
      token = transaction.state.token
      return try body(&transaction)
    }
    // The write is done, so a step that cannot be read is no error.
    let entry = token.flatMap { token in (try? UndoFiles(store).step(token)).map { Entry(token, $0) } }
    return (result, entry)
  }

  /// Like ``write(named:_:)``, for callers that can continue without a step.
  /// - Parameters:
  ///   - name: makes the step's name from the result of `body`.
  ///   - unlessKept: called before the commit if the step cannot be kept. If it returns, the write is done, and the
  ///     undo log ends with it.
  ///   - discarding: called after the commit with the writes that can no longer be undone, because the files of the log
  ///     would take too much space.
  @discardableResult
  package func write<Result>(
    named name: (Result) -> String?, unlessKept: (any Error) throws -> Void,
    discarding: ([Entry]) -> Void, _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    var discarded: [Entry] = []
    let result = try writing { transaction, keeping in
      let result = try body(&transaction)
      let step = try transaction.state.undoStep()
      if step.isEmpty { return result }
      do {
        let files = try UndoFiles(store)
        var history: UndoHistory
        (history, discarded) = try files.historyWithRoom(for: step)
        history.undo.append(transaction.state.token)
        try files.keep(
          step, named: name(result) ?? step.summary, with: history, in: transaction.state, keeping)
      } catch let signal as FileIsBehind {
        throw signal
      } catch {
        try unlessKept(error)
        try? store.folder.removeUndoFiles(of: transaction.state.token)
        transaction.state.undo = .end
        discarded = []
      }
      return result
    }
    if !discarded.isEmpty { discarding(discarded) }
    return result
  }

  /// Runs `body` like ``write(named:unlessKept:_:)``, and discards its changes.
  /// - Parameters:
  ///   - unlessKept: called if there is no space for the step.
  ///   - discarding: called with the writes that could no longer be undone.
  package func dryRun<Result>(
    unlessKept: (any Error) -> Void, discarding: ([Entry]) -> Void,
    _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    try store.dryRun { transaction in
      let result = try body(&transaction)
      let step = try transaction.state.undoStep()
      if step.isEmpty { return result }
      let files = try UndoFiles(store)
      do { try files.checkRoom(for: step) } catch { unlessKept(error) }
      let discarded = try files.historyWithRoom(for: step).discarded
      if !discarded.isEmpty { discarding(discarded) }
      return result
    }
  }

  /// Ends the log: what was done before can no longer be undone. Its files are removed.
  package func end() throws {
    guard try store.fileLog.undoHead != nil else { return }
    try writing { transaction, _ in transaction.state.undo = .end }
    // Another writer may have made a commit since, or is about to. What stays is removed by the next logged write.
    let timeout = store.options.lockTimeout
    try? store.writers.enter(timeout: timeout) {
      try store.fileLog.whileLocked(timeout: timeout) { try UndoFiles(store).removeNeedless() }
    }
  }

  // MARK: - Undoing

  /// The writes that can be undone and redone.
  /// - Throws: ``StoreError/Code/damagedJournal``, and the disk's errors.
  public func contents() throws -> Contents {
    let files = try newestFiles()
    let entries = { (tokens: [CommitToken]) in try tokens.reversed().map(files.entry) }
    return Contents(
      undo: try entries(files.history.undo), redo: try entries(files.history.redo),
      isCutOff: files.history.isCutOff)
  }

  /// Whether there is a write to undo.
  /// - Throws: as ``contents()``.
  public var canUndo: Bool { get throws { try !newestFiles().history.undo.isEmpty } }

  /// Whether there is a write to redo.
  /// - Throws: as ``contents()``.
  public var canRedo: Bool { get throws { try !newestFiles().history.redo.isEmpty } }

  /// Undoes the last write that has not been undone yet.
  /// - Returns: the write; `nil` if there is nothing to undo.
  /// - Throws: ``StoreError/Code/undoConflict`` with table and record if a later write changed the same data, or if
  ///   nothing of the write is left; ``StoreError/Code/undoStepLost`` if a file of the step is missing or was changed;
  ///   what breaks a rule of a schema. Then the write stays the next one to undo, and `skip()` skips it.
  ///   ``StoreError/Code/insideWrite`` inside another write, and as `RecordStore.write(_:)`.
  @discardableResult
  public func undo() throws -> Entry? { try takeBack(.undo) }

  /// Undoes one write, and leaves alone those that were made after it.
  /// - Parameter id: the write, as in ``contents()`` or from ``loggedWrite(named:_:)``.
  /// - Returns: the write, with the id by which `redo(_:)` finds it.
  /// - Throws: as `undo()`; ``StoreError/Code/undoStepLost`` if the log does not have the write, because it was undone
  ///   already or is too old.
  /// - Complexity: as `RecordStore.undo(_:)`.
  @discardableResult
  public func undo(_ id: Entry.ID) throws -> Entry { try required(takeBack(.undo, id), .undo) }

  /// Redoes the write that was undone last.
  /// - Returns: the write; `nil` if nothing was undone since the last write.
  /// - Throws: as `undo()`.
  @discardableResult
  public func redo() throws -> Entry? { try takeBack(.redo) }

  /// Redoes one of the writes that were undone.
  /// - Parameter id: the write, as in ``contents()`` or from `undo()`.
  /// - Returns: the write, with the id by which `undo(_:)` finds it.
  /// - Throws: as `undo(_:)`.
  /// - Complexity: as `RecordStore.undo(_:)`.
  @discardableResult
  public func redo(_ id: Entry.ID) throws -> Entry { try required(takeBack(.redo, id), .redo) }

  /// Skips the write that `undo()` would undo next: it leaves the log. The tables stay as they are.
  /// - Returns: the write; `nil` if there is nothing to skip.
  /// - Throws: as `RecordStore.write(_:)`.
  @discardableResult
  public func skip() throws -> Entry? { try skip(.undo) }

  /// Takes back one write.
  /// - Parameter id: `nil` for the next one.
  /// - Returns: the write, as it can be taken back again; `nil` if there is none.
  package func takeBack(_ direction: Direction, _ id: Entry.ID? = nil) throws -> Entry? {
    guard try hasStep(direction) else { return nil }
    return try writing { transaction, keeping in
      let files = try UndoFiles(store)
      var history = files.history
      guard let token = history[direction].last(where: { id == nil || $0.text == id }) else { return nil }
      let entry = Entry(transaction.state.token, try files.step(token))
      try transaction.undo(files.changes(token))
      history[direction].removeAll { $0 == token }
      history[direction.reverse].append(transaction.state.token)
      try files.keep(
        transaction.state.undoStep(), named: entry.name, with: history, in: transaction.state, keeping)
      return entry
    }
  }

  private func required(_ entry: Entry?, _ direction: Direction) throws(StoreError) -> Entry {
    if let entry { return entry }
    throw StoreError(.undoStepLost, "the step is no longer among those to \(direction.rawValue)")
  }

  package func skip(_ direction: Direction) throws -> Entry? {
    guard try hasStep(direction) else { return nil }
    return try writing { transaction, keeping in
      let files = try UndoFiles(store)
      var history = files.history
      guard let token = history[direction].popLast() else { return nil }
      let entry = try files.entry(token)
      // Only the history is kept, because there is nothing to redo.
      try files.keep(
        UndoStep(tables: [:]), named: entry.name, with: history, in: transaction.state, keeping)
      return entry
    }
  }

  private func newestFiles() throws -> UndoFiles {
    while true {
      try store.fileLog.readOn()
      let head = try store.fileLog.undoHead
      let files = try UndoFiles(store)
      if !files.history.isCutOff { return files }
      // Another process may have undone the newest step in between, and removed its files with the next write.
      try store.fileLog.readOn()
      if try store.fileLog.undoHead == head { return files }
    }
  }

  /// If there is no step, nothing is written, not even the folder `.filedb`.
  private func hasStep(_ direction: Direction) throws -> Bool {
    try refuseInsideWrite()
    return try !newestFiles().history[direction].isEmpty
  }

  /// What ``undo()`` or ``redo()`` would reverse if it were called this many times, and its errors. Writes nothing.
  package func dryRun(_ direction: Direction, count: Int) throws -> [Entry] {
    try store.dryRun { transaction in
      let files = try UndoFiles(store)
      return try files.history[direction].suffix(count).reversed().map { token in
        try transaction.undo(files.changes(token))
        return try files.entry(token)
      }
    }
  }

  /// What the write of a commit was called; `nil` if the log does not know.
  package func name(of token: CommitToken) -> String? { (try? UndoFiles(store).step(token))?.name }

  /// The fields that undoing and redoing could restore in the records of a table: all fields of a deleted record, and
  /// the changed fields of a changed one.
  package func restorableFields(in table: String) throws -> [PlistDictionary] {
    let files = try UndoFiles(store)
    var fields: [PlistDictionary] = []
    for token in files.history.undo + files.history.redo {
      guard try files.entry(token).tableNames.contains(table),
        let changes = try files.changes(token).tables[TableKey(table)]
      else { continue }
      fields += changes.removed.map(\.record.fields.dictionary)
      fields += changes.updated.map { $0.values { $0.before } }
    }
    return fields
  }

  /// Runs `body` as a separate write. If a table's old file must be kept and some commits are missing in it, this makes
  /// a checkpoint and runs `body` again.
  private func writing<Result>(
    _ body: (inout StoreTransaction, UndoFiles.Keeping) throws -> Result
  ) throws -> Result {
    try refuseInsideWrite()
    for _ in 0..<(store.options.checkpoints == .manual ? 0 : 3) {
      do { return try attempt(.oldFiles, body) } catch is FileIsBehind { try store.checkpoint() }
    }
    return try attempt(.copies, body)
  }

  private func refuseInsideWrite() throws(StoreError) {
    guard store.writers.currentTransaction == nil else {
      throw StoreError(
        .insideWrite, "a write of the undo log cannot be part of another transaction",
        file: store.url.path)
    }
  }

  /// If the write fails, this removes its step. On a full disk, the step may be what takes the space.
  private func attempt<Result>(
    _ keeping: UndoFiles.Keeping, _ body: (inout StoreTransaction, UndoFiles.Keeping) throws -> Result
  ) throws -> Result {
    var token: CommitToken?
    do {
      return try store.write { transaction in
        token = transaction.state.token
        return try body(&transaction, keeping)
      }
    } catch {
      // If the outcome of a commit is unknown, the commit may exist.
      if let token, (error as? StoreError)?.code != .outcomeUnknown {
        try? store.folder.removeUndoFiles(of: token)
      }
      throw error
    }
  }
}

/// For async code: as the synchronous ones, without blocking the caller's thread.
extension UndoLog {
  /// Runs `body` and logs it as one step; see the synchronous `write`.
  @discardableResult
  public func write<Result: Sendable>(
    named name: String? = nil, _ body: @escaping @Sendable (inout StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await store.writing { try self.write(named: name, body) }
  }

  /// Undoes the last write that has not been undone yet; see the synchronous `undo`.
  @discardableResult
  public func undo() async throws -> Entry? { try await store.writing { try self.undo() } }

  /// Redoes the write that was undone last; see the synchronous `redo`.
  @discardableResult
  public func redo() async throws -> Entry? { try await store.writing { try self.redo() } }

  /// Skips the write that would be undone next; see the synchronous `skip`.
  @discardableResult
  public func skip() async throws -> Entry? { try await store.writing { try self.skip() } }
}

extension UndoLog.Entry {
  /// - Parameter kept: `nil` for a step that cannot be read.
  init(_ token: CommitToken, _ kept: KeptStep?) {
    self.init(
      id: token.text, name: kept?.name ?? "a step that cannot be read", date: kept?.date ?? .distantPast,
      tableNames: kept?.tables ?? [])
  }
}
