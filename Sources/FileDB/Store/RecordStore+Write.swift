import FileDBTables
import Foundation
import Synchronization

extension RecordStore {
  /// Runs `body` as one transaction and commits what it changed.
  ///
  /// `body` sees its own changes. Nobody else sees them before it returns. If `body` throws, nothing is changed. When
  /// `write` returns, the commit survives a power cut (see ``StoreOptions/durability``), in all of its tables. Writers
  /// on several threads share the disk's syncs. `body` may run more than once, if another writer commits first.
  ///
  /// A `write` inside a `write` joins the outer one, and so does a verb of a ``RecordTable``. So objects that share
  /// only the store also share the transaction. If the inner `write` throws, only its own changes are undone. The outer
  /// one commits all or nothing.
  ///
  /// - Throws: what `body` throws; ``StoreError/locked``; ``StoreError/damagedJournal``; ``StoreError/conflict`` for a
  ///   table whose file another program changed while commits were waiting for it; what ``table(_:)-(TableName<_>)``
  ///   throws for a table that another program damaged; the disk's errors; ``StoreError/outcomeUnknown`` if the disk
  ///   could not say whether the commit will survive, and ``StoreError/closed`` from then on.
  /// - Complexity: that of `body`. On the disk, one write of the changes and one sync, whatever the size of the tables.
  ///   A checkpoint updates the files later; see ``StoreOptions/checkpoints``.
  @discardableResult
  public func write<Result>(_ body: (inout StoreTransaction) throws -> Result) throws -> Result {
    if let outer = writers.currentTransaction { return try outer.join(body) }
    while true { if let result = try attempt(body) { return result } }
  }

  /// Runs `body` like ``write(_:)``, with the same result and errors, but changes nothing.
  @discardableResult
  public func rehearse<Result>(_ body: (inout StoreTransaction) throws -> Result) throws -> Result {
    if let outer = writers.currentTransaction { return try outer.rehearse(body) }
    return try writers.enter {
      let transaction = TransactionState(store: self)
      return try writers.with(transaction) {
        try tables.catchUp()
        defer { transaction.end() }
        let result = try transaction.join(body)
        if let commit = try transaction.makeCommit() { try files?.validate(commit) }
        return result
      }
    }
  }

  /// Runs `body` like ``write(_:)``, but on a thread of its own, so that waiting for the disk and for other writers
  /// blocks no task. `body` runs completely or not at all: if the task is cancelled before `body` begins, this throws
  /// `CancellationError`.
  /// - Throws: as ``write(_:)``.
  @discardableResult
  public func asyncWrite<Result: Sendable>(
    _ body: @escaping @Sendable (inout StoreTransaction) throws -> Result
  ) async throws -> Result {
    let isCancelled = Atomic<Bool>(false)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        self.background.async {
          continuation.resume(
            with: Swift.Result {
              try self.write { transaction in
                if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
                return try body(&transaction)
              }
            })
        }
      }
    } onCancel: {
      isCancelled.store(true, ordering: .relaxed)
    }
  }

  /// One transaction: from the log's end to a durable commit that readers see.
  /// - Returns: `nil` where the log has no such commit, and it is to be tried again.
  private func attempt<Result>(_ body: (inout StoreTransaction) throws -> Result) throws -> Result? {
    var (result, commit, sequence): (Result?, NewCommit?, UInt64) = (nil, nil, 0)
    var committed: TransactionState?
    do {
      let ticket = try writers.enter {
        try checkOpen()
        return try log.append(timeout: options.lockTimeout) {
          let transaction = TransactionState(store: self)
          return try writers.with(transaction) {
            try tables.catchUp()
            defer { transaction.end() }
            result = try transaction.join(body)
            commit = try transaction.makeCommit()
            committed = transaction
            return commit
          }
        } taking: { logged in
          sequence = logged.sequence
          tables.add(logged, states: commit?.states ?? [:])
        }
      }
      guard let ticket else {
        committed?.complete()
        return result
      }
      // Readers see it also where nobody knows whether a power cut would take it: it is there now.
      defer { tables.publish(through: sequence) }
      try ticket.wait()
    } catch let error as StoreError where error.code == StoreError.outcomeUnknown {
      // The log may know by now.
      switch try commit.map({ try log.outcome(of: $0.token) }) ?? .unknown {
      case .committed: break
      case .absent: return nil
      case .unknown: throw error
      }
    }
    committed?.complete()
    checkpointWhenDue()
    return result
  }
}
