import FileDBEssentials

/// A system call that failed: which, on what, and why.
package struct DiskError: Error, Equatable, Sendable {
  package enum Kind: Sendable {
    case notFound, exists, permissionDenied, readOnly, full, linkLoop, isFolder, timedOut, unsupported, other
  }

  package let call: String
  package let path: String
  package let errno: CInt

  package init(_ call: String, _ path: String, errno: CInt) {
    self.call = call
    self.path = path
    self.errno = errno
  }

  /// Whether a sync failed. The system reports this once and may have dropped the bytes, so a later sync that succeeds
  /// proves nothing: see https://wiki.postgresql.org/wiki/Fsync_Errors.
  package var isOfSync: Bool { ["fsync", "fdatasync"].contains(call) && kind != .notFound }

  package var kind: Kind {
    switch errno {
    case ENOENT, ENOTDIR: .notFound
    case EEXIST: .exists
    case EACCES, EPERM: .permissionDenied
    case EROFS: .readOnly
    case EFBIG where ["read", "pread"].contains(call): .other
    case ENOSPC, EDQUOT, EFBIG: .full
    case ELOOP: .linkLoop
    case EISDIR: .isFolder
    case ETIMEDOUT: .timedOut
    case ENOSYS: .unsupported
    default: .other
    }
  }

  /// The system's text for the error, such as `No space left on device`.
  package var reason: String {
    errno == ELOOP
      ? "a symbolic link is where a store may not have one, or too many links follow each other"
      : String(cString: strerror(errno))
  }
}

extension DiskError {
  static func missing(_ call: String, _ path: String) -> DiskError { DiskError(call, path, errno: ENOENT) }

  /// The error for a folder, a pipe, a device or the like at a path that must be a file.
  static func notAFile(_ call: String, _ path: String, _ kind: FileStatus.Kind) -> DiskError {
    DiskError(call, path, errno: kind == .folder ? EISDIR : ENOTSUP)
  }
}

extension DiskError: CustomStringConvertible {
  package var description: String { "\(path): \(call): \(reason)" }
}
