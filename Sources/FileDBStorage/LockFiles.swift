import CFileDB
import FileDBEssentials
import Synchronization

extension Disk {
  /// Waits for the exclusive lock on the file at `path`, and creates the file if it is missing.
  ///
  /// `flock` has no timeout, so this tries again and again, at longer and longer intervals.
  /// - Throws: `timedOut` once `timeout` has passed.
  package func lock(_ path: String, timeout: Duration) throws(DiskError) -> FileLock {
    let deadline = ContinuousClock.now + timeout
    var pause: UInt32 = 200
    while true {
      if let lock = try tryLock(path) { return lock }
      guard ContinuousClock.now < deadline else { throw DiskError("flock", path, errno: ETIMEDOUT) }
      usleep(pause)
      pause = min(pause * 2, 2_000)
    }
  }
}

/// A file that is open so that it can be locked.
struct LockFile {
  let file: SystemFile
  let path: String
  private let extent: FileExtent

  init(_ file: SystemFile, _ path: String) throws(DiskError) {
    (self.file, self.path, extent) = (file, path, try file.extent())
  }

  /// Whether the path still leads to this file. It follows links on the way, because it only compares.
  var isPresent: Bool {
    var present = filedb_extent()
    return filedb_extent(AT_FDCWD, path, &present) == 0 && extent.isSameFile(as: FileExtent(present))
  }
}

/// The files that this process has locked before, still open. Locking one of them again takes a single call.
///
/// A thread that locks takes the file out, so two threads never share one. A forked child opens its own files, because
/// an inherited one would share its lock with the parent.
final class LockFiles: Sendable {
  private static let mostKept = 4

  private let state = Mutex((forks: filedb_fork_count(), kept: [LockFile]()))

  /// - Returns: `nil` if no file is kept, or if another thread has it.
  func take(_ path: String) -> LockFile? {
    state.withLock { state in
      if state.forks != filedb_fork_count() { state = (filedb_fork_count(), []) }
      guard let place = state.kept.firstIndex(where: { $0.path == path }) else { return nil }
      return state.kept.remove(at: place)
    }
  }

  func keep(_ file: LockFile) {
    state.withLock { state in
      guard state.forks == filedb_fork_count(), !state.kept.contains(where: { $0.path == file.path }) else {
        return
      }
      state.kept = [file] + state.kept.prefix(Self.mostKept - 1)
    }
  }
}
