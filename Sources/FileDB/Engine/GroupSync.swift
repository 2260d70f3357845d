/// Lets threads that wait for the disk at the same time share its work.
final class GroupSync: Sendable {
  private let monitor = Monitor()
  // Safe: touched only while ``monitor`` is locked, which the compiler cannot see.
  nonisolated(unsafe) private var isBusy = false

  /// Runs `work` until `isDone`, in one thread at a time. The work of one thread may be enough for those that wait.
  func run(until isDone: () -> Bool, work: () -> Void) {
    monitor.lock()
    defer { monitor.unlock() }
    while !isDone() {
      if isBusy {
        monitor.wait()
        continue
      }
      isBusy = true
      monitor.unlock()
      work()
      monitor.lock()
      isBusy = false
      monitor.wakeAll()
    }
  }
}
