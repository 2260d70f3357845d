import Synchronization

/// The turn of an async write. The write waits for it, and may be cancelled until then.
final class WriteTurn<Result: Sendable>: Sendable {
  private enum State {
    case new, begun, cancelled
    case waiting(CheckedContinuation<Result, any Error>)
  }

  private let state = Mutex(State.new)

  /// - Returns: false if the write was cancelled already. Then the task continues at once.
  func wait(_ continuation: CheckedContinuation<Result, any Error>) -> Bool {
    let isWaiting = state.withLock { state in
      guard case .new = state else { return false }
      state = .waiting(continuation)
      return true
    }
    if !isWaiting { continuation.resume(throwing: CancellationError()) }
    return isWaiting
  }

  /// - Returns: the waiting task; `nil` if it was cancelled.
  func begin() -> CheckedContinuation<Result, any Error>? { leave(for: .begun) }

  /// Ends the wait immediately. A write that has begun is not cancelled.
  func cancel() { leave(for: .cancelled)?.resume(throwing: CancellationError()) }

  private func leave(for next: State) -> CheckedContinuation<Result, any Error>? {
    state.withLock { state in
      switch state {
      case .begun, .cancelled: return nil
      case .new:
        state = next
        return nil
      case .waiting(let continuation):
        state = next
        return continuation
      }
    }
  }
}
