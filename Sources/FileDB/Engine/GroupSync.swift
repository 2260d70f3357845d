/// Lets threads that wait for the disk at the same time share its work.
///
/// Threads that write one commit after another would fall into two groups: one group would write while the disk works
/// for the other, and each would get only every second sync. So before a thread begins, it waits a little for the
/// threads that the last work was for.
final class GroupSync: Sendable {
  private let monitor = Monitor()
  /// How long to wait for the others, given how long the last work took.
  private let patience: @Sendable (Duration) -> Duration
  // Safe: touched only while ``monitor`` is locked, which the compiler cannot see.
  nonisolated(unsafe) private var state = State()

  private struct State {
    var isBusy = false
    /// How many threads have come since the last work began, which therefore was not for them.
    var waiting = 0
    /// How many waited when the last work ended, together with those that it was for.
    var expected = 0
    var lastWork = Duration.zero
  }

  init(patience: @escaping @Sendable (Duration) -> Duration = GroupSync.patience) { self.patience = patience }

  /// With a fast disk, waiting would take longer than it saves.
  private static func patience(_ work: Duration) -> Duration {
    work < .microseconds(500) ? .zero : work / 8
  }

  /// Runs `work` until `isDone`, in one thread at a time. The work of one thread may be enough for those that wait.
  func run(until isDone: () -> Bool, work: () -> Void) {
    monitor.lock()
    defer { monitor.unlock() }
    if isDone() { return }
    state.waiting += 1
    if state.waiting == state.expected { monitor.wakeAll() }
    while !isDone() {
      if state.isBusy {
        monitor.wait()
        continue
      }
      state.isBusy = true
      gather()
      let served = state.waiting
      state.waiting = 0
      monitor.unlock()
      let time = ContinuousClock().measure(work)
      monitor.lock()
      (state.isBusy, state.lastWork, state.expected) = (false, time, served + state.waiting)
      monitor.wakeAll()
    }
  }

  private func gather() {
    guard state.waiting < state.expected else { return }
    let end = ContinuousClock.now + patience(state.lastWork)
    while state.waiting < state.expected, case let rest = end - .now, rest > .zero {
      monitor.wait(upTo: rest)
    }
  }
}
