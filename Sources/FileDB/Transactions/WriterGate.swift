import FileDBEssentials
import FileDBTables
import Synchronization

/// Lets one thread write at a time, and knows that thread's transaction.
final class WriterGate: Sendable {
  private let lock = Monitor()
  /// Whether any thread is inside. Safe without isolation, because it is used only while ``lock`` is locked.
  nonisolated(unsafe) private var isTaken = false
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
  /// - Throws: ``StoreError/Code/locked`` if another thread is still inside after `timeout`. Two threads that write to
  ///   two stores, one inside the other and in opposite order, would otherwise wait for each other for ever.
  func enter<Result>(timeout: Duration, _ body: () throws -> Result) throws -> Result {
    lock.lock()
    if isTaken { try wait(until: .now + timeout) }
    isTaken = true
    lock.unlock()
    inside.store(Self.currentThread, ordering: .relaxed)
    defer {
      inside.store(0, ordering: .relaxed)
      lock.lock()
      isTaken = false
      lock.wakeOne()
      lock.unlock()
    }
    return try body()
  }

  /// Must be called with the lock, and keeps it.
  private func wait(until deadline: ContinuousClock.Instant) throws(StoreError) {
    while isTaken {
      let rest = deadline - .now
      guard rest > .zero else {
        lock.unlock()
        throw StoreError(.locked, "another write of this program did not end in time")
      }
      lock.wait(upTo: rest)
    }
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
