import CFileDB
import FileDBEssentials
import Synchronization

/// The disk of the operating system.
package struct SystemDisk: Disk {
  package let machine: String?
  private let lockFiles = LockFiles()

  package init(machine: String? = SystemDisk.thisMachine) { self.machine = machine }

  /// A checksum of what the system calls this machine, because that itself may be a secret: see machine-id(5).
  package static let thisMachine: String? = {
    #if os(macOS)
      var (name, noWait) = ([UInt8](repeating: 0, count: 16), timespec())
      guard gethostuuid(&name, &noWait) == 0 else { return nil }
    #else
      var name = (try? SystemFile("/etc/machine-id", O_RDONLY).read(atMost: 32)) ?? []
      if UInt64(hexadecimal: name.prefix(16)) == nil { name = [] }  // A new system may have `uninitialized` there.
    #endif
    return name.isEmpty ? nil : String(hexadecimal: Checksum.of(Array("FileDB".utf8) + name), width: 8)
  }()

  package func read(_ path: String) throws(DiskError) -> (bytes: [UInt8], stamp: FileStamp) {
    let (file, status) = try openFile(path)
    // Ask for one byte more than the size, so that the end of the file shows without another buffer.
    var bytes = try file.read(atMost: status.stamp.size + 1)
    if bytes.count > status.stamp.size {
      // The file grew, or it is one that does not know its size.
      while case let more = try file.read(atMost: 64 << 10), !more.isEmpty { bytes += more }
    }
    return (bytes, status.stamp)
  }

  package func readPrefix(_ path: String, count: Int) throws(DiskError) -> [UInt8] {
    try openFile(path).file.read(atMost: count)
  }

  private func openFile(_ path: String) throws(DiskError) -> (file: SystemFile, status: FileStatus) {
    let file = try SystemFile(path, O_RDONLY | O_NONBLOCK)  // Do not wait for the writer of a pipe.
    let status = try file.status()
    guard status.kind == .file else { throw .notAFile("read", path, status.kind) }
    return (file, status)
  }

  package func status(_ path: String) throws(DiskError) -> FileStatus? {
    var link = stat()
    let isOwn: Bool
    do throws(DiskError) {
      let resolved = try SystemPath(path)
      isOwn = resolved.isOwn
      guard resolved.call({ fstatat($0, $1, &link, AT_SYMLINK_NOFOLLOW) }) == 0 else {
        return try Self.nilIfMissing("lstat", path)
      }
    } catch {
      if error.kind == .notFound { return nil }
      throw error
    }
    guard link.st_mode & S_IFMT == S_IFLNK else { return FileStatus(link, isLink: false, at: path) }
    if isOwn { return FileStatus(link, isLink: true, at: path) }
    var target = stat()
    guard stat(path, &target) == 0 else { return try Self.nilIfMissing("stat", path) }
    return FileStatus(target, isLink: true, at: path)
  }

  package func extent(_ path: String) throws(DiskError) -> FileExtent? {
    var found = filedb_extent()
    guard filedb_extent(AT_FDCWD, path, &found) == 0 else { return try Self.nilIfMissing("lstat", path) }
    return FileExtent(found)
  }

  package func identity(ofFolder path: String) throws(DiskError) -> String {
    var (inode, created): (UInt64, Int64) = (0, 0)
    guard filedb_birth(path, &inode, &created) == 0 else { throw DiskError("stat", path, errno: errno) }
    let rest = created == 0 ? Int64(Checksum.of(try resolve(path).utf8)) : created
    return "\(inode)-\(rest)"
  }

  package func checkRoom(for count: Int, at path: String) throws(DiskError) {
    let room = filedb_room(path)
    guard room >= 0 else { throw DiskError("statvfs", path, errno: errno) }
    guard room >= count else { throw DiskError("write", path, errno: ENOSPC) }
  }

  private static func nilIfMissing<Answer>(_ call: String, _ path: String) throws(DiskError) -> Answer? {
    let error = DiskError(call, path, errno: errno)
    if error.kind == .notFound { return nil }
    throw error
  }

  package func makeWatch() throws(DiskError) -> FolderWatch? { try FolderWatch() }

  package func list(_ folder: String) throws(DiskError) -> [String] {
    let resolved = try SystemPath(folder)
    let opened: Int
    do throws(DiskError) {
      opened = try retryingInterrupts("opendir", folder) {
        resolved.call { openat($0, $1, O_RDONLY | O_DIRECTORY | resolved.flags) }
      }
    } catch {
      throw resolved.isRefusedLink ? DiskError("opendir", folder, errno: ELOOP) : error
    }
    guard let stream = fdopendir(CInt(opened)) else {
      let reason = errno
      close(CInt(opened))
      throw DiskError("opendir", folder, errno: reason)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw DiskError("readdir", folder, errno: errno) }
        return names
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
  }

  package func resolve(_ path: String) throws(DiskError) -> String {
    if let (parent, own) = SystemPath.beforeOwnFolder(path) { return try resolve(parent) + own }
    if let resolved = Self.realPath(path) { return resolved }
    guard errno == ENOENT else { throw DiskError("realpath", path, errno: errno) }
    // Nothing is at the path. If it is a link, follow it. It is an error if another part of the path is missing.
    let parent = parentFolder(of: path)
    guard let folder = Self.realPath(parent) else { throw DiskError("realpath", parent, errno: errno) }
    let place = "\(folder == "/" ? "" : folder)/\(fileName(of: path))"
    guard let target = Self.target(ofLink: place) else { return place }
    return try resolve(target.hasPrefix("/") ? target : "\(folder)/\(target)")
  }

  static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// The text of a link; `nil` if `path` is not a link.
  static func target(ofLink path: String) -> String? {
    var characters = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink(path, &characters, characters.count)
    return length < 0
      ? nil : String(decoding: characters.prefix(length).lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  package func makeFolder(_ path: String) throws(DiskError) {
    let resolved = try SystemPath(path)
    guard resolved.call({ mkdirat($0, $1, 0o777) }) == 0 else { throw DiskError("mkdir", path, errno: errno) }
    if let folder = resolved.statusOfOwnFolder() { try setMode(path, folder.mode) }
  }

  package func create(_ path: String, as file: CreatedFile) throws(DiskError) -> any WritableFile {
    try SystemFile(path, creating: file)
  }

  package func setMode(_ path: String, _ mode: UInt32) throws(DiskError) {
    // Use a descriptor, so that nobody can put a link there in between.
    try SystemFile(path, O_RDONLY | O_NONBLOCK).setMode(mode)
  }

  package func open(_ path: String) throws(DiskError) -> any OpenFile {
    let file: SystemFile
    do throws(DiskError) {
      file = try SystemFile(path, O_RDWR | O_NONBLOCK)
    } catch  where error.kind == .permissionDenied || error.kind == .readOnly {
      file = try SystemFile(path, O_RDONLY | O_NONBLOCK, refusal: error.errno)
    }
    let kind = try file.status().kind
    guard kind == .file else { throw .notAFile("open", path, kind) }
    return file
  }

  package func rename(_ path: String, to newPath: String) throws(DiskError) {
    let old = try SystemPath(path)
    let new = try SystemPath(newPath)
    guard old.call({ folder, name in new.call { renameat(folder, name, $0, $1) } }) == 0 else {
      throw DiskError("rename", newPath, errno: errno)
    }
  }

  package func rename(_ path: String, toFree newPath: String) throws(DiskError) {
    let old = try SystemPath(path)
    let new = try SystemPath(newPath)
    if old.call({ folder, name in new.call { filedb_rename_to_free(folder, name, $0, $1) } }) == 0 { return }
    guard Self.isUnsupported(errno) else { throw DiskError("rename", newPath, errno: errno) }
    guard try status(newPath) == nil else { throw DiskError("rename", newPath, errno: EEXIST) }
    try rename(path, to: newPath)
  }

  package func exchange(_ path: String, with other: String) throws(DiskError) {
    let one = try SystemPath(path)
    let two = try SystemPath(other)
    if one.call({ folder, name in two.call { filedb_exchange(folder, name, $0, $1) } }) == 0 { return }
    throw DiskError("rename", other, errno: Self.isUnsupported(errno) ? ENOSYS : errno)
  }

  /// The errors of a file system that does not have this kind of rename.
  private static func isUnsupported(_ errno: CInt) -> Bool { [EINVAL, ENOSYS, ENOTSUP].contains(errno) }

  package func link(_ path: String, to newPath: String) throws(DiskError) {
    let old = try SystemPath(path)
    let new = try SystemPath(newPath)
    if old.call({ folder, name in new.call { linkat(folder, name, $0, $1, 0) } }) == 0 { return }
    // Another disk, a file system without links, a file of another user, or too many names.
    let isImpossible = Self.isUnsupported(errno) || [EXDEV, EPERM, EMLINK].contains(errno)
    throw DiskError("link", newPath, errno: isImpossible ? ENOSYS : errno)
  }

  package func remove(_ path: String) throws(DiskError) {
    let resolved = try SystemPath(path)
    guard resolved.call({ unlinkat($0, $1, 0) }) == 0 else { throw DiskError("unlink", path, errno: errno) }
  }

  package func removeFolder(_ path: String) throws(DiskError) {
    let resolved = try SystemPath(path)
    guard resolved.call({ unlinkat($0, $1, AT_REMOVEDIR) }) == 0 else {
      throw DiskError("rmdir", path, errno: errno)
    }
  }

  package func syncFolder(_ path: String) throws(DiskError) {
    do {
      try SystemFile(path, O_RDONLY | O_DIRECTORY).flush()
    } catch  where error.errno == EINVAL {
      // This is the answer of a file system without such a call. There is nothing more to do.
    }
  }

  package func tryLock(_ path: String) throws(DiskError) -> FileLock? {
    while true {
      let kept = if let kept = lockFiles.take(path) { kept } else { try LockFile(openOrCreate(path), path) }
      guard try kept.file.tryLock() else {
        lockFiles.keep(kept)
        return nil
      }
      // If the file was removed in between, nobody else will ask for the lock that we have.
      if kept.isPresent {
        return FileLock {
          if kept.file.unlock() { lockFiles.keep(kept) }
        }
      }
    }
  }

  private func openOrCreate(_ path: String) throws(DiskError) -> SystemFile {
    while true {
      do throws(DiskError) { return try SystemFile(path, O_RDWR) } catch  where error.kind == .notFound {}
      do throws(DiskError) { return try SystemFile(path, creating: .usual) } catch
        where error.kind == .exists
      {}
    }
  }
}

/// The folder that contains `path`; `/` for the root itself.
package func parentFolder(of path: String) -> String {
  guard let slash = path.utf8.lastIndex(of: separator), slash != path.startIndex else { return "/" }
  return String(path[..<slash])
}

/// The last part of a path.
package func fileName(of path: String) -> String {
  path.utf8.lastIndex(of: separator).map { String(path[path.utf8.index(after: $0)...]) } ?? path
}

/// Searched for as a byte, as the system does: `/` and a combining mark after it are one `Character`.
private let separator = UInt8(ascii: "/")

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
