import FileDBEssentials
import Synchronization

/// The files whose locks this process had, still open: to lock one of them again takes no more calls than the lock.
///
/// Whoever locks takes the file out, so two threads never share one. In a child that was forked, the file would share
/// its lock with the parent's, so the child opens its own.
final class LockFiles: Sendable {
  private struct Kept {
    var path: String
    var file: SystemFile
  }

  private static let mostKept = 4

  private let state = Mutex((process: getpid(), kept: [Kept]()))

  /// - Returns: `nil` where none is kept, or another thread has it.
  func take(_ path: String) -> SystemFile? {
    state.withLock { state in
      if state.process != getpid() { state = (getpid(), []) }
      guard let place = state.kept.firstIndex(where: { $0.path == path }) else { return nil }
      return state.kept.remove(at: place).file
    }
  }

  func keep(_ file: SystemFile, for path: String) {
    state.withLock { state in
      guard state.process == getpid(), !state.kept.contains(where: { $0.path == path }) else { return }
      state.kept = [Kept(path: path, file: file)] + state.kept.prefix(Self.mostKept - 1)
    }
  }
}
