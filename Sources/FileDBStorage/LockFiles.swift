import CFileDB
import FileDBEssentials
import Synchronization

/// A file that is open so that it can be locked.
struct LockFile {
  let file: SystemFile
  let path: String
  private let device: UInt64
  private let inode: UInt64

  init(_ file: SystemFile, _ path: String) throws(DiskError) {
    let stamp = try file.status().stamp
    (self.file, self.path, device, inode) = (file, path, stamp.device, stamp.inode)
  }

  /// Whether the path still leads to this file. It follows links on the way, because it only compares.
  var isPresent: Bool {
    var present = stat()
    return lstat(path, &present) == 0 && UInt64(present.st_ino) == inode
      && UInt64(truncatingIfNeeded: present.st_dev) == device
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
