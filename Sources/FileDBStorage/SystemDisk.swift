#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The disk of the operating system.
package struct SystemDisk: Disk {
  package init() {}

  package func read(_ path: String) throws(DiskError) -> (bytes: [UInt8], stamp: FileStamp) {
    let file = try Descriptor(path, O_RDONLY)
    let status = try file.status()
    guard status.kind != .folder else { throw DiskError("read", path, errno: EISDIR) }
    var bytes = [UInt8]()
    // One byte more than the size, so that the end of the file shows without another buffer.
    bytes.reserveCapacity(status.stamp.size + 1)
    while try file.read(into: &bytes, atMost: max(bytes.capacity - bytes.count, 64 << 10)) > 0 {}
    return (bytes, status.stamp)
  }

  package func readPrefix(_ path: String, count: Int) throws(DiskError) -> [UInt8] {
    let file = try Descriptor(path, O_RDONLY)
    var bytes = [UInt8]()
    while bytes.count < count, try file.read(into: &bytes, atMost: count - bytes.count) > 0 {}
    return bytes
  }

  package func status(_ path: String) throws(DiskError) -> FileStatus? {
    var link = stat()
    guard lstat(path, &link) == 0 else { return try Self.nilIfMissing("lstat", path) }
    let isLink = link.st_mode & S_IFMT == S_IFLNK
    var target = stat()
    guard stat(path, &target) == 0 else { return try Self.nilIfMissing("stat", path) }
    return FileStatus(target, isLink: isLink)
  }

  private static func nilIfMissing(_ call: String, _ path: String) throws(DiskError) -> FileStatus? {
    let error = DiskError(call, path, errno: errno)
    if error.kind == .notFound { return nil }
    throw error
  }

  package func list(_ folder: String) throws(DiskError) -> [String] {
    guard let stream = opendir(folder) else { throw DiskError("opendir", folder, errno: errno) }
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
    guard let resolved = realpath(path, nil) else { throw DiskError("realpath", path, errno: errno) }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  package func createFolder(_ path: String) throws(DiskError) {
    if mkdir(path, 0o777) == 0 { return }
    let cause = errno
    switch cause {
    case EEXIST where try status(path)?.kind == .folder: return
    case ENOENT:
      let parent = parentFolder(of: path)
      guard parent != path else { throw DiskError("mkdir", path, errno: cause) }
      try createFolder(parent)
      guard mkdir(path, 0o777) == 0 || errno == EEXIST else { throw DiskError("mkdir", path, errno: errno) }
    default: throw DiskError("mkdir", path, errno: cause)
    }
  }

  package func create(_ path: String, like model: FileStatus?) throws(DiskError) -> any WritableFile {
    let file = try Descriptor(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    if let model { try file.take(modeAndOwnerOf: model) }
    return file
  }

  package func rename(_ path: String, to newPath: String) throws(DiskError) {
    // The C function, not this method.
    let result = path.withCString { old in
      newPath.withCString { new in renameat(AT_FDCWD, old, AT_FDCWD, new) }
    }
    guard result == 0 else { throw DiskError("rename", newPath, errno: errno) }
  }

  package func remove(_ path: String) throws(DiskError) {
    guard unlink(path) == 0 else { throw DiskError("unlink", path, errno: errno) }
  }

  package func syncFolder(_ path: String) throws(DiskError) {
    try Descriptor(path, O_RDONLY | O_DIRECTORY).sync()
  }

  package func lock(_ path: String, timeout: Duration) throws(DiskError) -> FileLock {
    let file = try Descriptor(path, O_RDWR | O_CREAT)
    try file.lock(timeout: timeout)
    return FileLock { withExtendedLifetime(file) {} }
  }
}

/// An open file; closed with the last reference, which also gives up its lock.
private final class Descriptor: WritableFile {
  private let number: CInt
  private let path: String

  init(_ path: String, _ flags: CInt) throws(DiskError) {
    let opened = try retryingInterrupts("open", path) { open(path, flags | O_CLOEXEC, 0o666) }
    self.path = path
    number = CInt(opened)
  }

  deinit { close(number) }

  func status() throws(DiskError) -> FileStatus {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw DiskError("fstat", path, errno: errno) }
    return FileStatus(status, isLink: false)
  }

  /// Appends what one call reads and returns its length, 0 at the end of the file.
  func read(into bytes: inout [UInt8], atMost count: Int) throws(DiskError) -> Int {
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: count))
    let number = number
    let length = try retryingInterrupts("read", path) {
      bytes.withUnsafeMutableBytes { systemRead(number, $0.baseAddress! + start, count) }
    }
    bytes.removeLast(count - length)
    return length
  }

  func append(_ bytes: [UInt8]) throws(DiskError) {
    var written = 0
    let number = number
    while written < bytes.count {
      // A call may take less than it is given, on a full disk or past 2 GB.
      written += try retryingInterrupts("write", path) {
        bytes.withUnsafeBytes { systemWrite(number, $0.baseAddress! + written, bytes.count - written) }
      }
    }
  }

  func sync() throws(DiskError) {
    guard flushToDrive(number) == 0 else { throw DiskError("fsync", path, errno: errno) }
  }

  /// The owner is kept where we may: only root may give a file away, and a file we own is better than none.
  func take(modeAndOwnerOf model: FileStatus) throws(DiskError) {
    if fchown(number, model.owner, model.group) != 0 { _ = fchown(number, uid_t.max, model.group) }
    guard fchmod(number, mode_t(model.mode)) == 0 else { throw DiskError("fchmod", path, errno: errno) }
  }

  /// `flock` has no timeout of its own, so it is asked again and again, at longer and longer intervals.
  func lock(timeout: Duration) throws(DiskError) {
    let deadline = ContinuousClock.now + timeout
    var pause: UInt32 = 200
    while flock(number, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { throw DiskError("flock", path, errno: errno) }
      guard ContinuousClock.now < deadline else { throw DiskError("flock", path, errno: ETIMEDOUT) }
      usleep(pause)
      pause = min(pause * 2, 20_000)
    }
  }
}

extension FileStatus {
  fileprivate init(_ status: stat, isLink: Bool) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      default: .other
      }
    self.isLink = isLink
    stamp = FileStamp(status)
    mode = UInt32(status.st_mode) & 0o7777
    owner = status.st_uid
    group = status.st_gid
  }
}

extension FileStamp {
  /// Linux file systems take the time of a change from a clock that ticks every 1 to 10 ms.
  private static let clockTick: Int64 = 50_000_000

  fileprivate init(_ status: stat) {
    #if canImport(Darwin)
      let times = (status.st_mtimespec, status.st_ctimespec)
    #else
      let times = (status.st_mtim, status.st_ctim)
    #endif
    let changed = max(times.0.nanoseconds, times.1.nanoseconds)
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    self.init(
      device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino),
      size: Int(status.st_size),
      changed: changed, isSettled: now.nanoseconds - changed > Self.clockTick)
  }
}

extension timespec {
  fileprivate var nanoseconds: Int64 { Int64(tv_sec) * 1_000_000_000 + Int64(tv_nsec) }
}

/// Calls `body` until a signal no longer interrupts it; its result where that is not negative.
private func retryingInterrupts(
  _ call: String, _ path: String, _ body: () -> some SignedInteger
) throws(DiskError) -> Int {
  while true {
    let result = body()
    if result >= 0 { return Int(result) }
    if errno != EINTR { throw DiskError(call, path, errno: errno) }
  }
}

// The C functions, where a method of the same name hides them.
private func systemRead(_ number: CInt, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(number, buffer, count)
}

private func systemWrite(_ number: CInt, _ buffer: UnsafeRawPointer, _ count: Int) -> Int {
  write(number, buffer, count)
}

#if canImport(Darwin)
  /// On Darwin `fsync` stops at the drive's cache; only `F_FULLFSYNC` passes it, where the file system has it.
  private func flushToDrive(_ number: CInt) -> CInt {
    fcntl(number, F_FULLFSYNC) == 0 ? 0 : fsync(number)
  }
#else
  private func flushToDrive(_ number: CInt) -> CInt { fsync(number) }
#endif

/// The folder that `path` lies in; `/` for the root itself.
package func parentFolder(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
  return String(path[..<slash])
}

/// The last part of a path.
package func fileName(of path: String) -> String {
  path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
}
