import FileDBEssentials
import Synchronization

/// Lets one thread write at a time, and knows that thread's transaction.
final class WriterGate: Sendable {
  private let lock = Monitor()
  /// The thread inside; 0 for none.
  private let inside = Atomic<UInt>(0)
  /// Safe without isolation, because only the thread inside uses it. That thread sets ``inside`` first and clears it
  /// last, and no other thread can find its own number there.
  nonisolated(unsafe) private var transaction: TransactionState?

  /// The transaction that this thread is in, if any.
  var currentTransaction: TransactionState? {
    inside.load(ordering: .relaxed) == Self.currentThread ? transaction : nil
  }

  /// Runs `body` when no other thread is inside.
  func enter<Result>(_ body: () throws -> Result) rethrows -> Result {
    lock.lock()
    return try runInside(body)
  }

  /// Runs `body` unless any thread is inside, even this one.
  func enterIfFree(_ body: () throws -> Void) rethrows { if lock.lockIfFree() { try runInside(body) } }

  /// Must be called by the thread that has the lock.
  private func runInside<Result>(_ body: () throws -> Result) rethrows -> Result {
    inside.store(Self.currentThread, ordering: .relaxed)
    defer {
      inside.store(0, ordering: .relaxed)
      lock.unlock()
    }
    return try body()
  }

  /// Runs `body` with `transaction` as the ``currentTransaction``, for the thread inside.
  func with<Result>(_ transaction: TransactionState, _ body: () throws -> Result) rethrows -> Result {
    self.transaction = transaction
    defer { self.transaction = nil }
    return try body()
  }

  private static var currentThread: UInt {
    #if canImport(Glibc)
      UInt(pthread_self())
    #else
      UInt(bitPattern: pthread_self())
    #endif
  }
}
