import FileDBEssentials
import Synchronization

/// When the next checkpoint of an automatic kind is due.
final class CheckpointClock: Sendable {
  private struct State {
    var hasCommits = false
    var lastCommit = ContinuousClock.now
    var isScheduled = false
    /// A checkpoint that failed is not tried again with every commit.
    var nextSize = 0
  }

  /// How long a store must be quiet.
  static let pause = Duration.seconds(1)
  /// A journal shorter than this is not a burden, whatever the files are.
  static let smallestSize = 1 << 20

  private let state = Mutex(State())

  /// Whether this process has committed anything since the last checkpoint.
  var hasCommits: Bool { state.withLock { $0.hasCommits } }

  /// Remembers a commit.
  /// - Returns: whether the caller must see to it that somebody looks again after ``pause``.
  func noteCommit() -> Bool {
    state.withLock { state in
      state.hasCommits = true
      state.lastCommit = .now
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
  }

  /// Whether a pause without commits is over. Where it is not, somebody must look again.
  func isQuiet() -> Bool {
    state.withLock { state in
      let isQuiet = ContinuousClock.now - state.lastCommit >= Self.pause
      state.isScheduled = !isQuiet
      return isQuiet
    }
  }

  /// Whether a journal of `size` bytes has outgrown files of `fileSize`.
  func isOutgrown(_ size: Int, files fileSize: Int) -> Bool {
    size >= max(Self.smallestSize, fileSize / 2, state.withLock(\.nextSize))
  }

  func noteCheckpoint() {
    state.withLock { state in
      state.hasCommits = false
      state.nextSize = 0
    }
  }

  /// Remembers that a checkpoint failed with a journal of this size.
  func noteFailure(size: Int) { state.withLock { $0.nextSize = 2 * size } }
}
