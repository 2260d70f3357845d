import FileDBEssentials
import FileDBTables

extension RecordStore {
  /// Runs `body` as one transaction and commits what it changed.
  ///
  /// `body` sees its own changes. Nobody else sees them before it returns. If `body` throws, nothing is changed. When
  /// `write` returns, the commit survives a power cut (see ``StoreOptions/durability``), in all of its tables. If
  /// several threads write at the same time, they share one sync of the disk. If another writer commits first, `body`
  /// runs again, so it should change nothing outside the store.
  ///
  /// A `write` inside a `write` joins the outer one, and so does a method of a ``RecordTable`` that changes the table.
  /// So objects that share only the store also share the transaction. If the inner `write` throws, only its own changes
  /// are undone. The outer one commits all or nothing.
  ///
  /// In async code, call the async `write`, which does not block the caller's thread.
  ///
  /// - Throws: what `body` throws; ``StoreError/Code/locked``; ``StoreError/Code/damagedJournal``;
  ///   ``StoreError/Code/conflict`` for a table whose file another program changed while commits were waiting for it;
  ///   what `table(_:)` throws for a table that another program damaged; if a change breaks a table's schema,
  ///   ``StoreError/Code/requiredField``, ``StoreError/Code/wrongType``, ``StoreError/Code/valueNotAllowed``,
  ///   ``StoreError/Code/notUnique``, ``StoreError/Code/missingReference``, ``StoreError/Code/stillReferenced`` or
  ///   ``StoreError/Code/invalidSchema``, see <doc:Schemas>; the disk's errors; ``StoreError/Code/outcomeUnknown`` if
  ///   the disk could not say whether the commit will survive, and ``StoreError/Code/closed`` from then on.
  /// - Complexity: that of `body`. On the disk, one write of the changes and one sync, whatever the size of the tables.
  ///   A checkpoint updates the files later; see ``StoreOptions/checkpoints``.
  @discardableResult
  public func write<Result>(_ body: (inout StoreTransaction) throws -> Result) throws -> Result {
    if let outer = writers.currentTransaction { return try join(outer, body) }
    var failures = 0
    while true {
      switch try attempt(body) {
      case .done(let result): return result
      case .absent(let error):
        failures += 1
        guard failures < Self.mostAttempts else { throw error.ofAbsentCommit }
      }
    }
  }

  /// Runs `body` and checks its changes as `write(_:)` would, and then discards them. It does not lock, write or sync,
  /// so it does not find errors of these.
  /// - Throws: as `write(_:)`, except for those errors.
  /// - Complexity: that of `body`.
  @discardableResult
  public func dryRun<Result>(_ body: (inout StoreTransaction) throws -> Result) throws -> Result {
    if let outer = writers.currentTransaction { return try outer.dryRun { try run(body, in: outer) } }
    return try writers.enter(timeout: options.lockTimeout) {
      try tables.catchUp()
      let ended = try run(body)
      if let commit = ended.commit { try files?.validate(commit) }
      return ended.result
    }
  }
}

extension RecordStore {
  /// What became of a commit.
  enum Attempt<Result> {
    case done(Result)
    /// The log does not have the commit, so the write must be tried again. The error says why its outcome was unknown.
    case absent(StoreError)
  }

  /// How often a write is tried if the log keeps losing its commit.
  private static let mostAttempts = 10

  /// Runs one transaction: it catches up with the log, and ends with a durable commit that readers see.
  private func attempt<Result>(_ body: (inout StoreTransaction) throws -> Result) throws -> Attempt<Result> {
    switch try begin(body) {
    case .done(let write): try write.finish()
    case .absent(let error): .absent(error)
    }
  }

  /// The first half of a write: runs `body`, and appends its commit to the log. Writes that begin later see the commit.
  func begin<Result>(
    _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Attempt<AppendedWrite<Result>> {
    var (last, appended): (EndedTransaction<Result>?, AppendedCommit?) = (nil, nil)
    do {
      appended = try writers.enter(timeout: options.lockTimeout) {
        try checkOpen()
        return try tables.append(timeout: options.lockTimeout) {
          let ended = try run(body)
          last = ended
          return ended.commit
        }
      }
    } catch let error as StoreError where error.code == .outcomeUnknown {
      guard try log.isCommitted(last?.commit?.token, or: error) else { return .absent(error) }
    }
    guard let last else { preconditionFailure("a write that ends has run its body") }
    return .done(AppendedWrite(ended: last, appended: appended, store: self))
  }

  /// Runs `body` as part of a transaction. If it throws, only what it did is undone.
  func join<Result>(
    _ state: TransactionState, _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    try state.join { try run(body, in: state) }
  }

  private func run<Result>(
    _ body: (inout StoreTransaction) throws -> Result, in state: TransactionState
  ) throws -> Result {
    var transaction = StoreTransaction(store: self, state: state)
    return try body(&transaction)
  }

  /// Runs `body` as a transaction of this thread, while no other thread writes.
  private func run<Result>(
    _ body: (inout StoreTransaction) throws -> Result
  ) throws -> EndedTransaction<Result> {
    let transaction = TransactionState(on: tables, of: log, source: source, at: url)
    return try writers.with(transaction) {
      defer { transaction.end() }
      let result = try join(transaction, body)
      return EndedTransaction(result: result, transaction: transaction, commit: try transaction.makeCommit())
    }
  }
}

/// What a transaction has come to.
private struct EndedTransaction<Result> {
  let result: Result
  let transaction: TransactionState
  /// `nil` if nothing was changed.
  let commit: NewCommit?
}

extension CommitLog {
  /// Asks the log what happened to a commit whose outcome was unknown: it may know by now.
  /// - Throws: `error` if the log does not know, or cannot be asked.
  package func isCommitted(_ token: CommitToken?, or error: StoreError) throws(StoreError) -> Bool {
    switch token.flatMap({ try? outcome(of: $0) }) ?? .unknown {
    case .committed: return true
    case .absent: return false
    case .unknown: throw error
    }
  }
}

extension StoreError {
  private static let unknownOutcome = "; it is not known whether the commit succeeded"

  /// The error for a commit that the log may have, or may still receive.
  package static func outcomeUnknown(_ cause: String) -> StoreError {
    StoreError(.outcomeUnknown, cause + unknownOutcome)
  }

  /// The error for a commit whose outcome was unknown at first, and which the log does not have.
  package var ofAbsentCommit: StoreError {
    let cause = message.firstRange(of: Self.unknownOutcome).map { message[..<$0.lowerBound] } ?? message[...]
    return StoreError(
      .unreachable, "the log never took the commit, although it was sent several times: \(cause)")
  }

  /// The same error for a commit that is written down in the folder.
  package func naming(_ token: CommitToken) -> StoreError {
    StoreError(code, "\(message) (\(token.text)); 'filedb shared sync' finds out")
  }
}

/// A write whose commit is in the log, but may not be durable yet.
struct AppendedWrite<Result> {
  fileprivate let ended: EndedTransaction<Result>
  /// `nil` if nothing was changed, or if the log took the commit and could not say so at first. Then it is durable.
  fileprivate let appended: AppendedCommit?
  fileprivate let store: RecordStore

  /// The second half of a write: waits until its commit is durable. Writes that wait at the same time share a sync.
  func finish() throws -> RecordStore.Attempt<Result> {
    if let appended {
      do { try store.tables.wait(for: appended) } catch  where error.code == .outcomeUnknown {
        guard try store.log.isCommitted(ended.commit?.token, or: error) else { return .absent(error) }
      }
    }
    ended.transaction.complete()
    if ended.commit != nil { store.checkpointWhenDue() }
    return .done(ended.result)
  }
}
