import CFileDB
import FileDBEssentials
import Synchronization

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
