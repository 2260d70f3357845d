import Foundation
import Synchronization

/// Lets one thread at a time through, and tells a thread that is already inside instead of waiting for itself.
final class WriterGate: Sendable {
  private let lock = NSLock()
  /// The thread inside; 0 for none.
  private let inside = Atomic<UInt>(0)

  /// - Throws: ``StoreError/nestedWrite`` for the thread that is inside, and what `body` throws.
  func enter<Result>(_ body: () throws -> Result) throws -> Result {
    let thread = currentThread()
    guard inside.load(ordering: .relaxed) != thread else {
      throw StoreError(
        StoreError.nestedWrite, "a write inside a write of the same store; use the transaction you were given"
      )
    }
    lock.lock()
    inside.store(thread, ordering: .relaxed)
    defer {
      inside.store(0, ordering: .relaxed)
      lock.unlock()
    }
    return try body()
  }

  /// No two running threads have the same number, and only this thread can have stored its own.
  private func currentThread() -> UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
