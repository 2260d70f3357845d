import FileDBEssentials

/// A lock with a condition: threads can wait at it until another thread wakes them.
///
/// Foundation has one as well, but in the part that `filedb` does without; see Decisions/027.
final class Monitor: Sendable {
  // Safe: the pointers never change, and what they point to is made for use by several threads.
  nonisolated(unsafe) private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  nonisolated(unsafe) private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }

  /// - Returns: false if any thread has the lock, even this one.
  func lockIfFree() -> Bool { pthread_mutex_trylock(mutex) == 0 }

  /// Unlocks, waits for ``wakeAll()``, and locks again. It may return earlier.
  func wait() { pthread_cond_wait(condition, mutex) }

  func wakeAll() { pthread_cond_broadcast(condition) }
}
