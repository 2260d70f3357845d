import FileDBEssentials
import Synchronization

/// Decides when the next automatic checkpoint is due.
final class CheckpointClock: Sendable {
  private struct State {
    var hasCommits = false
    var lastCommit = ContinuousClock.now
    var isScheduled = false
    /// If a checkpoint leaves a long journal, the next one is due when the journal has this size, not with the next
    /// commit.
    var nextSize = 0
    /// Whether one is being made because the journal is long.
    var isRunning = false
  }

  /// A journal shorter than this never causes a checkpoint, whatever the size of the files.
  static let smallestSize = 1 << 20

  private let state = Mutex(State())

  /// Whether this process has committed anything since the last checkpoint.
  var hasCommits: Bool { state.withLock { $0.hasCommits } }

  /// Must be called after each commit.
  /// - Returns: whether the caller must arrange for another look.
  func commitWasMade() -> Bool {
    state.withLock { state in
      state.hasCommits = true
      state.lastCommit = .now
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
  }

  /// Whether the store has been without commits for `pause`. If not, somebody must look again later.
  func isQuiet(for pause: Duration) -> Bool {
    state.withLock { state in
      let isQuiet = ContinuousClock.now - state.lastCommit >= pause
      state.isScheduled = !isQuiet
      return isQuiet
    }
  }

  /// Whether to make a checkpoint because the journal is too long for the files that it changes.
  /// - Returns: true only once, until ``endRun()``.
  func beginRun(_ sizes: JournalSizes) -> Bool {
    state.withLock { state in
      let size = max(Self.smallestSize, min(sizes.files / 2, sizes.limit), state.nextSize)
      guard !state.isRunning, sizes.journal >= size else { return false }
      state.isRunning = true
      return true
    }
  }

  func endRun() { state.withLock { $0.isRunning = false } }

  /// Must be called before a checkpoint. The checkpoint need not include the commits that follow.
  func checkpointBegan() { state.withLock { $0.hasCommits = false } }

  /// Must be called after a checkpoint. If the journal is still long, the next run waits until it is twice as long.
  func checkpointEnded(_ sizes: JournalSizes) {
    state.withLock { $0.nextSize = sizes.journal >= Self.smallestSize ? 2 * sizes.journal : 0 }
  }

  /// Must be called if the checkpoint failed.
  func checkpointFailed() { state.withLock { $0.hasCommits = true } }
}
