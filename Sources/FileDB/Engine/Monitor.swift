import FileDBEssentials

/// A lock with a condition: threads can wait at it until another thread wakes them.
///
/// Foundation has one as well, but in the part that `filedb` does without; see Decisions/027.
final class Monitor: Sendable {
  // Safe: the pointer never changes, and a mutex is made for use by several threads.
  nonisolated(unsafe) private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  // Safe for the same reason.
  nonisolated(unsafe) private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    pthread_mutex_init(mutex, nil)
    #if canImport(Darwin)
      pthread_cond_init(condition, nil)
    #else
      // The clock of ``wait(upTo:)``, which nobody sets.
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(condition, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }

  /// Unlocks, waits for ``wakeAll()``, and locks again. It may return earlier.
  func wait() { pthread_cond_wait(condition, mutex) }

  /// The same, but returns after `timeout` at the latest.
  func wait(upTo timeout: Duration) {
    let (seconds, attoseconds) = timeout.components
    var rest = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    #if canImport(Darwin)
      pthread_cond_timedwait_relative_np(condition, mutex, &rest)
    #else
      var end = timespec()
      clock_gettime(CLOCK_MONOTONIC, &end)
      rest.tv_nsec += end.tv_nsec
      rest.tv_sec += end.tv_sec + rest.tv_nsec / 1_000_000_000
      rest.tv_nsec %= 1_000_000_000
      pthread_cond_timedwait(condition, mutex, &rest)
    #endif
  }

  /// Wakes one of the threads that wait, if any do.
  func wakeOne() { pthread_cond_signal(condition) }

  func wakeAll() { pthread_cond_broadcast(condition) }
}
