import FileDBEssentials
import Synchronization

/// Decides when the next automatic checkpoint is due.
final class CheckpointClock: Sendable {
  private struct State {
    var hasCommits = false
    var lastCommit = ContinuousClock.now
    var isScheduled = false
    /// After a checkpoint fails, not every commit tries again, but only a journal of this size.
    var nextSize = 0
  }

  /// A journal shorter than this never causes a checkpoint, whatever the size of the files.
  static let smallestSize = 1 << 20

  private let state = Mutex(State())

  /// Whether this process has committed anything since the last checkpoint.
  var hasCommits: Bool { state.withLock { $0.hasCommits } }

  /// Records a commit.
  /// - Returns: whether the caller must arrange for another look.
  func noteCommit() -> Bool {
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

  /// Whether a journal of `size` bytes is too long for files of `fileSize` bytes.
  func isOutgrown(_ size: Int, files fileSize: Int) -> Bool {
    size >= max(Self.smallestSize, fileSize / 2, state.withLock(\.nextSize))
  }

  func noteCheckpoint() {
    state.withLock { state in
      state.hasCommits = false
      state.nextSize = 0
    }
  }

  /// Records that a checkpoint failed with a journal of this size.
  func noteFailure(size: Int) { state.withLock { $0.nextSize = 2 * size } }
}
