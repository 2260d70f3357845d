import Foundation

/// Lets those that wait for the disk at the same time share its work.
final class GroupSync: Sendable {
  private let condition = NSCondition()
  // Safe: touched only while ``condition`` is locked, which the compiler cannot see.
  nonisolated(unsafe) private var isBusy = false

  /// Runs `work` again and again until `isDone`, one thread at a time: what one thread does may do for those that wait.
  func run(until isDone: () -> Bool, work: () -> Void) {
    condition.lock()
    defer { condition.unlock() }
    while !isDone() {
      if isBusy {
        condition.wait()
        continue
      }
      isBusy = true
      condition.unlock()
      work()
      condition.lock()
      isBusy = false
      condition.broadcast()
    }
  }
}
