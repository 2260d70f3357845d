import FileDBTables
import Synchronization

/// The async writes that wait for their turn. Writes that wait at the same time become one commit, with one lock, one
/// frame in the journal and one sync. Each body still succeeds or fails on its own.
final class QueuedWrites: Sendable {
  private static let mostInCommit = 64
  /// When the bodies of a commit have taken this long, the other writes wait for the next commit. So no write waits for
  /// many others.
  private let mostTime: Duration
  private let waiting = Mutex<[any QueuedWrite]>([])

  init(mostTime: Duration = .milliseconds(2)) { self.mostTime = mostTime }

  func add(_ write: any QueuedWrite) { waiting.withLock { $0.append(write) } }

  private func take() -> [any QueuedWrite] {
    waiting.withLock { waiting in
      let taken = Array(waiting.prefix(Self.mostInCommit))
      waiting.removeFirst(taken.count)
      return taken
    }
  }

  private func putBack(_ writes: some Collection<any QueuedWrite>) {
    if !writes.isEmpty { waiting.withLock { $0.insert(contentsOf: writes, at: 0) } }
  }

  /// Makes one commit of the writes that are waiting now. Another thread waits for the disk, so that the next commit
  /// need not.
  func commit(to store: RecordStore) {
    let all = take()
    if all.isEmpty { return }
    var writes = all
    do {
      // Safe: this thread does not use it again.
      nonisolated(unsafe) let attempt = try store.begin { transaction in
        let end = ContinuousClock.now + mostTime
        let count = all.firstIndex { write in
          write.run(in: transaction)
          return ContinuousClock.now >= end
        }
        writes = Array(all.prefix((count ?? all.count) + 1))
      }
      putBack(all.dropFirst(writes.count))
      store.queues.finishing.async { [writes] in
        do {
          // If the log does not have the commit, each write is tried again.
          let isCommitted = try attempt.isCommitted()
          for write in writes { if isCommitted { write.finish() } else { write.runAlone(in: store) } }
        } catch {
          for write in writes { write.fail(error) }
        }
      }
    } catch {
      putBack(all.dropFirst(writes.count))
      // One write may be too large for the disk. That must not concern the others.
      let isOfAll =
        writes.count == 1 || (error as? StoreError).map { Self.ofTheStore.contains($0.code) } ?? false
      store.queues.finishing.async { [writes] in
        for write in writes { if isOfAll { write.fail(error) } else { write.runAlone(in: store) } }
      }
    }
  }

  /// Errors that every write would get.
  private static let ofTheStore: Set<StoreError.Code> = [.locked, .closed, .outcomeUnknown, .unreachable]
}

extension RecordStore.Attempt {
  /// Waits until the commit is durable.
  fileprivate func isCommitted<Body>() throws -> Bool where Result == AppendedWrite<Body> {
    guard case .done(let write) = self, case .done = try write.finish() else { return false }
    return true
  }
}

/// A write, without the type of its result.
protocol QueuedWrite: Sendable {
  /// Runs the body as part of a transaction, unless its task was cancelled. It may run more than once.
  func run(in transaction: borrowing StoreTransaction)

  /// Ends the task's wait with what the body returned or threw.
  func finish()

  /// Ends the task's wait with an error: there is no commit.
  func fail(_ error: any Error)

  /// Runs the body as a separate transaction, and ends the task's wait.
  func runAlone(in store: RecordStore)
}

/// An async write. It waits for its turn, and may be cancelled until then.
final class AsyncWrite<Result: Sendable>: QueuedWrite {
  private typealias Outcome = Swift.Result<Result, any Error>

  private enum State {
    case new, cancelled, ended
    case waiting(CheckedContinuation<Result, any Error>)
    /// With what the body returned or threw when it ran last.
    case begun(CheckedContinuation<Result, any Error>, Outcome?)
  }

  private let body: @Sendable (inout StoreTransaction) throws -> Result
  private let state = Mutex(State.new)

  init(_ body: @escaping @Sendable (inout StoreTransaction) throws -> Result) { self.body = body }

  /// - Returns: false if the write was cancelled already. Then the task continues at once.
  func wait(_ task: CheckedContinuation<Result, any Error>) -> Bool {
    let isWaiting = state.withLock { state in
      guard case .new = state else { return false }
      state = .waiting(task)
      return true
    }
    if !isWaiting { task.resume(throwing: CancellationError()) }
    return isWaiting
  }

  /// Ends the wait immediately. A write that has begun is not cancelled.
  func cancel() {
    let task: CheckedContinuation<Result, any Error>? = state.withLock { state in
      switch state {
      case .cancelled, .begun, .ended: return nil
      case .new:
        state = .cancelled
        return nil
      case .waiting(let task):
        state = .cancelled
        return task
      }
    }
    task?.resume(throwing: CancellationError())
  }

  /// - Returns: false if the write was cancelled, or has ended.
  private func begin() -> Bool {
    state.withLock { state in
      switch state {
      case .new, .cancelled, .ended: return false
      case .begun: return true
      case .waiting(let task):
        state = .begun(task, nil)
        return true
      }
    }
  }

  func run(in transaction: borrowing StoreTransaction) {
    guard begin() else { return }
    let outcome = Outcome { try transaction.store.join(transaction.state, body) }
    state.withLock { if case .begun(let task, _) = $0 { $0 = .begun(task, outcome) } }
  }

  func finish() { end { $0 } }

  func fail(_ error: any Error) {
    guard begin() else { return }
    end { if case .failure = $0 { $0 } else { .failure(error) } }
  }

  func runAlone(in store: RecordStore) {
    guard begin() else { return }
    let outcome = Outcome { try store.write(body) }
    end { _ in outcome }
  }

  private func end(_ outcome: (Outcome?) -> Outcome?) {
    let begun: (task: CheckedContinuation<Result, any Error>, outcome: Outcome?)? = state.withLock { state in
      guard case .begun(let task, let outcome) = state else { return nil }
      state = .ended
      return (task, outcome)
    }
    if let begun, let result = outcome(begun.outcome) { begun.task.resume(with: result) }
  }
}
