import CFileDB

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
    let (file, status) = try openFile(path)
    // One byte more than the size, so that the end of the file shows without another buffer.
    var bytes = try file.read(atMost: status.stamp.size + 1)
    if bytes.count > status.stamp.size {
      // It grew, or it is one of those that do not know their size.
      while case let more = try file.read(atMost: 64 << 10), !more.isEmpty { bytes += more }
    }
    return (bytes, status.stamp)
  }

  package func readPrefix(_ path: String, count: Int) throws(DiskError) -> [UInt8] {
    try openFile(path).file.read(atMost: count)
  }

  private func openFile(_ path: String) throws(DiskError) -> (file: Descriptor, status: FileStatus) {
    let file = try Descriptor(path, O_RDONLY | O_NONBLOCK)  // A pipe must not keep us waiting for its writer.
    let status = try file.status()
    guard status.kind == .file else { throw .notAFile("read", path, status.kind) }
    return (file, status)
  }

  package func status(_ path: String) throws(DiskError) -> FileStatus? {
    var link = stat()
    guard lstat(path, &link) == 0 else { return try Self.nilIfMissing("lstat", path) }
    guard link.st_mode & S_IFMT == S_IFLNK else { return FileStatus(link, isLink: false) }
    var target = stat()
    guard stat(path, &target) == 0 else { return try Self.nilIfMissing("stat", path) }
    return FileStatus(target, isLink: true)
  }

  private static func nilIfMissing(_ call: String, _ path: String) throws(DiskError) -> FileStatus? {
    let error = DiskError(call, path, errno: errno)
    if error.kind == .notFound { return nil }
    throw error
  }

  package func makeWatch() throws(DiskError) -> FolderWatch? { try FolderWatch() }

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
    if let resolved = Self.realPath(path) { return resolved }
    guard errno == ENOENT else { throw DiskError("realpath", path, errno: errno) }
    // Nothing is there. A link says where it would be; another part of the path that is missing is an error.
    let parent = parentFolder(of: path)
    guard let folder = Self.realPath(parent) else { throw DiskError("realpath", parent, errno: errno) }
    let place = "\(folder == "/" ? "" : folder)/\(fileName(of: path))"
    guard let target = Self.target(ofLink: place) else { return place }
    return try resolve(target.hasPrefix("/") ? target : "\(folder)/\(target)")
  }

  private static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// What is written in a link; `nil` where `path` is none.
  private static func target(ofLink path: String) -> String? {
    var characters = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink(path, &characters, characters.count)
    return length < 0
      ? nil : String(decoding: characters.prefix(length).lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  package func makeFolder(_ path: String) throws(DiskError) {
    guard mkdir(path, 0o777) == 0 else { throw DiskError("mkdir", path, errno: errno) }
  }

  package func create(_ path: String, like model: FileStatus?) throws(DiskError) -> any WritableFile {
    // Nobody else may open what will be a private file before it is one.
    let mode: mode_t = model == nil ? 0o666 : 0o600
    let file = try Descriptor(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
    if let model { try file.take(modeAndOwnerOf: model) }
    return file
  }

  package func open(_ path: String) throws(DiskError) -> any OpenFile {
    let file: Descriptor
    do throws(DiskError) {
      file = try Descriptor(path, O_RDWR | O_NONBLOCK)
    } catch  where error.kind == .permissionDenied || error.kind == .readOnly {
      file = try Descriptor(path, O_RDONLY | O_NONBLOCK, refusal: error.errno)
    }
    let kind = try file.status().kind
    guard kind == .file else { throw .notAFile("open", path, kind) }
    return file
  }

  package func rename(_ path: String, to newPath: String) throws(DiskError) {
    // The C function, not this method.
    let result = path.withCString { old in
      newPath.withCString { new in renameat(AT_FDCWD, old, AT_FDCWD, new) }
    }
    guard result == 0 else { throw DiskError("rename", newPath, errno: errno) }
  }

  package func rename(_ path: String, toFree newPath: String) throws(DiskError) {
    if filedb_rename_to_free(path, newPath) == 0 { return }
    guard Self.isUnsupported(errno) else { throw DiskError("rename", newPath, errno: errno) }
    guard try status(newPath) == nil else { throw DiskError("rename", newPath, errno: EEXIST) }
    try rename(path, to: newPath)
  }

  package func exchange(_ path: String, with other: String) throws(DiskError) {
    if filedb_exchange(path, other) == 0 { return }
    throw DiskError("rename", other, errno: Self.isUnsupported(errno) ? ENOSYS : errno)
  }

  /// What file systems say of a kind of rename that they do not have.
  private static func isUnsupported(_ errno: CInt) -> Bool { [EINVAL, ENOSYS, ENOTSUP].contains(errno) }

  package func remove(_ path: String) throws(DiskError) {
    guard unlink(path) == 0 else { throw DiskError("unlink", path, errno: errno) }
  }

  package func syncFolder(_ path: String) throws(DiskError) {
    do {
      try Descriptor(path, O_RDONLY | O_DIRECTORY).flush()
    } catch  where error.errno == EINVAL {
      // The answer of a file system that has no such call; there is nothing more to do.
    }
  }

  package func lock(_ path: String, timeout: Duration) throws(DiskError) -> FileLock {
    let deadline = ContinuousClock.now + timeout
    while true {
      let file = try Descriptor(path, O_RDWR | O_CREAT)
      try file.lock(until: deadline)
      // Where the file was removed while we waited, ours is a lock that nobody else will ask for.
      let (locked, present) = (try file.status().stamp, try status(path)?.stamp)
      if present?.inode == locked.inode, present?.device == locked.device {
        return FileLock { withExtendedLifetime(file) {} }
      }
    }
  }
}

/// An open file; closed with the last reference, which also gives up its lock.
private final class Descriptor: WritableFile, OpenFile {
  private let number: CInt
  private let path: String
  /// Why it was opened for reading only, where writing was asked for too.
  private let refusal: CInt?

  init(
    _ path: String, _ flags: CInt, mode: mode_t = 0o666, refusal: CInt? = nil
  ) throws(DiskError) {
    let opened = try retryingInterrupts("open", path) { systemOpen(path, flags | O_CLOEXEC, mode) }
    self.path = path
    self.refusal = refusal
    number = CInt(opened)
  }

  deinit { close(number) }

  func status() throws(DiskError) -> FileStatus {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw DiskError("fstat", path, errno: errno) }
    return FileStatus(status, isLink: false)
  }

  /// The next `count` bytes, fewer where the file ends.
  func read(atMost count: Int) throws(DiskError) -> [UInt8] {
    let number = number
    return try fill(count, by: "read") { place, rest, _ in systemRead(number, place, rest) }
  }

  func read(at offset: Int, count: Int) throws(DiskError) -> [UInt8] {
    let number = number
    return try fill(count, by: "pread") { place, rest, filled in
      pread(number, place, rest, off_t(offset + filled))
    }
  }

  /// Up to `count` bytes by as many calls as that takes: one may bring less than it is asked for.
  private func fill(
    _ count: Int, by name: String,
    _ call: (_ place: UnsafeMutableRawPointer, _ rest: Int, _ filled: Int) -> Int
  ) throws(DiskError) -> [UInt8] {
    var failure: DiskError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      askForLargePages(UnsafeMutableRawBufferPointer(buffer))
      do throws(DiskError) {
        while let start = buffer.baseAddress, filled < count {
          let length = try retryingInterrupts(name, path) { call(start + filled, count - filled, filled) }
          if length == 0 { return }
          filled += length
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
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
    startDrive(onLast: written)
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(DiskError) {
    if let refusal { throw DiskError("open", path, errno: refusal) }
    var written = 0
    let number = number
    while written < bytes.count {
      written += try retryingInterrupts("pwrite", path) {
        bytes.withUnsafeBytes {
          pwrite(number, $0.baseAddress! + written, bytes.count - written, off_t(offset + written))
        }
      }
    }
  }

  func syncData(_ strength: SyncStrength) throws(DiskError) {
    let number = number
    _ = try retryingInterrupts("fdatasync", path) { flushDataToDrive(number, strength) }
  }

  func sync() throws(DiskError) {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    // Where this fails, or the file system rounds the time, `install` does not trust it.
    _ = withUnsafePointer(to: (now, now)) { times in
      times.withMemoryRebound(to: timespec.self, capacity: 2) { futimens(number, $0) }
    }
    try flush()
  }

  func flush() throws(DiskError) {
    let number = number
    _ = try retryingInterrupts("fsync", path) { flushToDrive(number) }
  }

  /// The owner is kept where we may: only root may give a file away, and a file we own is better than none.
  func take(modeAndOwnerOf model: FileStatus) throws(DiskError) {
    if fchown(number, model.owner, model.group) != 0 { _ = fchown(number, uid_t.max, model.group) }
    guard fchmod(number, mode_t(model.mode)) == 0 else { throw DiskError("fchmod", path, errno: errno) }
  }

  /// Lets the drive begin with a long piece while the next one is made; the sync then waits for the last alone.
  private func startDrive(onLast count: Int) {
    #if !canImport(Darwin)
      guard count >= 1 << 19 else { return }
      // Linux has it write what it may not drop before: see mm/fadvise.c.
      let end = lseek(number, 0, SEEK_CUR)
      posix_fadvise(number, end - off_t(count), off_t(count), POSIX_FADV_DONTNEED)
    #endif
  }

  /// `flock` has no timeout of its own, so it is asked again and again, at longer and longer intervals.
  func lock(until deadline: ContinuousClock.Instant) throws(DiskError) {
    var pause: UInt32 = 200
    while flock(number, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { throw DiskError("flock", path, errno: errno) }
      guard ContinuousClock.now < deadline else { throw DiskError("flock", path, errno: ETIMEDOUT) }
      usleep(pause)
      pause = min(pause * 2, 2_000)
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
  fileprivate init(_ status: stat) {
    #if canImport(Darwin)
      let times = (status.st_mtimespec, status.st_ctimespec)
    #else
      let times = (status.st_mtim, status.st_ctim)
    #endif
    let (modified, changed) = (times.0.nanoseconds, times.1.nanoseconds)
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    self.init(
      device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino),
      size: Int(status.st_size),
      modified: modified, changed: changed,
      isSettled: Self.isSettled(modified: modified, changed: changed, now: now.nanoseconds))
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
private func systemOpen(_ path: String, _ flags: CInt, _ mode: mode_t) -> CInt { open(path, flags, mode) }

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

  /// `F_BARRIERFSYNC` orders what the drive's cache holds without emptying it.
  private func flushDataToDrive(_ number: CInt, _ strength: SyncStrength) -> CInt {
    if strength == .barrier, fcntl(number, F_BARRIERFSYNC) == 0 { return 0 }
    return flushToDrive(number)
  }
#else
  private func flushToDrive(_ number: CInt) -> CInt { fsync(number) }

  private func flushDataToDrive(_ number: CInt, _: SyncStrength) -> CInt { fdatasync(number) }
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
