import CFileDB
import FileDBEssentials
import Synchronization

/// An open file. It is closed with the last reference, which also releases its lock.
final class SystemFile: WritableFile, OpenFile {
  let number: CInt
  private let path: String
  /// Why the file was opened only for reading although writing was requested, too.
  private let refusal: CInt?
  /// The most bytes that one read may return.
  private let longestRead: Int

  init(
    _ path: String, _ flags: CInt, mode: mode_t = 0o666, refusal: CInt? = nil
  ) throws(DiskError) {
    let resolved = try SystemPath(path)
    let opened = try retryingInterrupts("open", path) {
      resolved.call { openat($0, $1, flags | resolved.flags, mode) }
    }
    self.path = path
    self.refusal = refusal
    longestRead = resolved.longestFile
    number = CInt(opened)
  }

  /// Creates a file with the mode, the owner, the access control list and the extended attributes of another one.
  /// Without another one, in a store's own folder, it gets the mode and owner of the folder.
  convenience init(_ path: String, creating file: CreatedFile) throws(DiskError) {
    // Nobody else may open the file before it has the mode that makes it private.
    let (flags, closed): (CInt, mode_t) = (O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    switch (file, try SystemPath(path).statusOfOwnFolder()) {
    case (.like(let model), _):
      try self.init(path, flags, mode: closed)
      try take(attributesOf: model)
    case (.new, let folder?):
      try self.init(path, flags, mode: closed)
      take(ownerOf: folder)
      try setMode(folder.mode & 0o666)
    case (.new(let mostOpen), nil): try self.init(path, flags, mode: mode_t(mostOpen))
    }
    guard let stamp = try? status().stamp else { return }
    FileClocks.ofSystem.learn(stamp.changed, on: stamp.device)
  }

  /// Shares the offset and the flags of an open file.
  init(duplicating number: CInt, _ path: String) throws(DiskError) {
    (self.path, refusal, longestRead) = (path, nil, SystemPath.memory)
    self.number = CInt(try retryingInterrupts("fcntl", path) { fcntl(number, F_DUPFD_CLOEXEC, 0) })
  }

  deinit { close(number) }

  func status() throws(DiskError) -> FileStatus {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw DiskError("fstat", path, errno: errno) }
    return FileStatus(status, isLink: false, at: path)
  }

  func extent() throws(DiskError) -> FileExtent {
    var found = filedb_extent()
    guard filedb_extent(number, "", &found) == 0 else { throw DiskError("fstat", path, errno: errno) }
    return FileExtent(found)
  }

  /// The next `count` bytes, or fewer if the file ends.
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

  /// Reads up to `count` bytes, in as many calls as it takes: one call may return less than it was asked for.
  private func fill(
    _ count: Int, by name: String,
    _ call: (_ place: UnsafeMutableRawPointer, _ rest: Int, _ filled: Int) -> Int
  ) throws(DiskError) -> [UInt8] {
    // A file can claim any length without being on the disk: see lseek(2), SEEK_HOLE.
    guard count <= longestRead else { throw DiskError(name, path, errno: EFBIG) }
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
      // A call may write less than it is given: on a full disk, or more than 2 GB at once.
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
    // If this fails, or the file system rounds the time, `install` does not trust it.
    _ = withUnsafePointer(to: (now, now)) { times in
      times.withMemoryRebound(to: timespec.self, capacity: 2) { futimens(number, $0) }
    }
    try flush()
  }

  func flush() throws(DiskError) {
    let number = number
    _ = try retryingInterrupts("fsync", path) { flushToDrive(number) }
  }

  private func take(attributesOf model: String) throws(DiskError) {
    let file = try SystemFile(model, O_RDONLY | O_NONBLOCK)
    let status = try file.status()
    take(ownerOf: status)
    guard filedb_copy_attributes(file.number, number) == 0 else {
      throw DiskError("setxattr", path, errno: errno)
    }
    try setMode(status.mode)  // Last: until then only the owner can open the file.
  }

  /// Keeps the owner if possible. Only root may give a file away, and a file that we own is better than none.
  private func take(ownerOf model: FileStatus) {
    if fchown(number, model.owner, model.group) != 0 { _ = fchown(number, uid_t.max, model.group) }
  }

  func setMode(_ mode: UInt32) throws(DiskError) {
    guard fchmod(number, mode_t(mode)) == 0 else { throw DiskError("fchmod", path, errno: errno) }
  }

  /// Lets the drive begin to write a long piece while the next one is made. The sync then waits only for the last
  /// piece.
  private func startDrive(onLast count: Int) {
    #if !canImport(Darwin)
      guard count >= 1 << 19 else { return }
      // Linux begins to write the pages before it drops them: see mm/fadvise.c.
      let end = lseek(number, 0, SEEK_CUR)
      posix_fadvise(number, end - off_t(count), off_t(count), POSIX_FADV_DONTNEED)
    #endif
  }

  /// - Returns: whether nobody else has the lock.
  func tryLock() throws(DiskError) -> Bool {
    while flock(number, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      guard errno == EINTR else { throw DiskError("flock", path, errno: errno) }
    }
    return true
  }

  /// - Returns: whether the lock is released. If not, closing the file releases it.
  func unlock() -> Bool { flock(number, LOCK_UN) == 0 }
}

extension FileStatus {
  init(_ status: stat, isLink: Bool, at path: String) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      default: .other
      }
    self.isLink = isLink
    stamp = FileStamp(status, at: path)
    mode = UInt32(status.st_mode) & 0o7777
    owner = status.st_uid
    group = status.st_gid
  }
}

extension FileExtent {
  init(_ found: filedb_extent) {
    self.init(device: found.device, inode: found.inode, size: Int(found.size), names: found.names)
  }
}

extension FileStamp {
  init(_ status: stat, at path: String) {
    #if canImport(Darwin)
      let times = (status.st_mtimespec, status.st_ctimespec)
    #else
      let times = (status.st_mtim, status.st_ctim)
    #endif
    let (modified, changed) = (times.0.nanoseconds, times.1.nanoseconds)
    let device = UInt64(truncatingIfNeeded: status.st_dev)
    let now = FileClocks.ofSystem.now(on: device) { FileClocks.isOwn(at: path) }
    self.init(
      device: device, inode: UInt64(status.st_ino), size: Int(status.st_size), modified: modified,
      changed: changed,
      isSettled: now.map { Self.isSettled(modified: modified, changed: changed, now: $0) } ?? false)
  }
}

extension timespec {
  var nanoseconds: Int64 { Int64(tv_sec) * 1_000_000_000 + Int64(tv_nsec) }
}

/// Calls `body` until no signal interrupts it. Returns the result if it is not negative.
func retryingInterrupts(
  _ call: String, _ path: String, _ body: () -> some SignedInteger
) throws(DiskError) -> Int {
  while true {
    let result = body()
    if result >= 0 { return Int(result) }
    if errno != EINTR { throw DiskError(call, path, errno: errno) }
  }
}

// The C functions, which methods of the same name hide.
private func systemRead(_ number: CInt, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(number, buffer, count)
}

private func systemWrite(_ number: CInt, _ buffer: UnsafeRawPointer, _ count: Int) -> Int {
  write(number, buffer, count)
}

/// Syncs a file by `call`, or by `other` if the file system does not have `call`.
///
/// After any other error, such as EIO, `other` does not follow. The system may report only once that it has lost bytes,
/// so a second sync could succeed without them.
package func sync(by call: () -> CInt, orIfUnsupported other: () -> CInt) -> CInt {
  let result = call()
  // SMB reports ENOTSUP, macFUSE EINVAL, and exFAT ENOTTY. The kernel takes the same three for "unsupported" when it
  // replaces `F_BARRIERFSYNC` by `F_FULLFSYNC`.
  return result < 0 && [ENOTSUP, EINVAL, ENOTTY].contains(errno) ? other() : result
}

#if canImport(Darwin)
  /// On Darwin `fsync` stops at the drive's cache. `F_FULLFSYNC` goes through it, if the file system supports this.
  private func flushToDrive(_ number: CInt) -> CInt {
    sync(by: { fcntl(number, F_FULLFSYNC) }, orIfUnsupported: { fsync(number) })
  }

  /// `F_BARRIERFSYNC` orders what the drive's cache holds without emptying it.
  private func flushDataToDrive(_ number: CInt, _ strength: SyncStrength) -> CInt {
    switch strength {
    case .full: flushToDrive(number)
    case .barrier:
      sync(by: { fcntl(number, F_BARRIERFSYNC) }, orIfUnsupported: { flushToDrive(number) })
    }
  }
#else
  private func flushToDrive(_ number: CInt) -> CInt { fsync(number) }

  private func flushDataToDrive(_ number: CInt, _: SyncStrength) -> CInt { fdatasync(number) }
#endif

/// Asks the system for large pages for memory that is about to be filled. Otherwise the first write to each 4 KB
/// interrupts the program. The system may ignore this. With it, `filedb get` on a 40 MB table took 48 ms instead of 57.
func askForLargePages(_ memory: UnsafeMutableRawBufferPointer) {
  #if os(Linux)
    let pageSize = 2 << 20
    guard memory.count >= 2 * pageSize, let start = memory.baseAddress else { return }
    // Use only whole pages inside the range, so that no other memory is affected.
    let first = start.alignedUp(toMultipleOf: pageSize)
    let last = (start + memory.count).alignedDown(toMultipleOf: pageSize)
    _ = madvise(first, last - first, MADV_HUGEPAGE)
  #endif
}

/// The clocks from which files get their times. All times are in nanoseconds.
///
/// On a network disk it is the server's clock. If that one is behind this machine's, a file that has only just changed
/// looks old. So what it shows is read from the files that this process creates there.
final class FileClocks: Sendable {
  static let ofSystem = FileClocks()

  private enum Clock {
    case own
    /// What the clock showed, and this machine's steady clock right after that. `nil` before the first reading.
    case other((time: Int64, steady: Int64)?)
  }

  /// By the device.
  private let clocks = Mutex<[UInt64: Clock]>([:])

  /// What the clock of a device certainly shows by now; `nil` if that is unknown.
  /// - Parameters:
  ///   - own: this machine's clocks: since 1970, and the steady one.
  ///   - isOwn: whether the device takes the time from this machine; `nil` if that cannot be found out now.
  func now(
    on device: UInt64, own: (time: Int64, steady: Int64) = readings(), isOwn: () -> Bool?
  ) -> Int64? {
    var clock = clocks.withLock { $0[device] }
    if clock == nil, let isOwn = isOwn() {
      let found: Clock = isOwn ? .own : .other(nil)
      clocks.withLock { $0[device] = $0[device] ?? found }
      clock = found
    }
    switch clock {
    case .own: return own.time
    case .other(let reading?): return reading.time + (own.steady - reading.steady)
    case .other(nil), nil: return nil
    }
  }

  /// Records that a file has just been created on a device, and that this is its time.
  func learn(_ time: Int64, on device: UInt64, steady: Int64 = readings().steady) {
    clocks.withLock { clocks in
      if case .other = clocks[device] { clocks[device] = .other((time, steady)) }
    }
  }

  static func readings() -> (time: Int64, steady: Int64) {
    var (time, steady) = (timespec(), timespec())
    clock_gettime(CLOCK_REALTIME, &time)
    clock_gettime(CLOCK_MONOTONIC, &steady)
    return (time.nanoseconds, steady.nanoseconds)
  }
}

extension FileClocks {
  /// Whether the file at `path` gets its times from this machine; `nil` if it is gone.
  static func isOwn(at path: String) -> Bool? {
    let answer = filedb_has_own_clock(path)
    return answer < 0 ? nil : answer > 0
  }
}
