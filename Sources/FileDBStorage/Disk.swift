import FileDBEssentials

/// All that a store asks of the disk. Every byte and every name goes through this protocol, so that a test can replace
/// the disk, make any call fail, or keep only what was synced.
///
/// Paths are absolute. A call follows symbolic links unless its comment says otherwise. In a store's own folder,
/// `.filedb`, no call follows a link: there, a link has the kind `other`, and opening it throws `linkLoop`.
package protocol Disk: Sendable {
  /// Tells this machine from others; `nil` where that is not known.
  var machine: String? { get }

  /// The bytes of a file and its stamp at that moment.
  /// - Throws: `notFound` if there is none, `isFolder` or `other` if it is not a file.
  func read(_ path: String) throws(DiskError) -> (bytes: [UInt8], stamp: FileStamp)

  /// The first `count` bytes of a file, fewer if it is shorter.
  func readPrefix(_ path: String, count: Int) throws(DiskError) -> [UInt8]

  /// What is at `path`; `nil` if nothing is, and if a link leads to nothing.
  /// - Throws: `linkLoop`, `permissionDenied`.
  func status(_ path: String) throws(DiskError) -> FileStatus?

  /// The extent of what is at `path`. Use it only to compare it with that of an open file: it follows links everywhere
  /// on the path, so that one call is enough. `nil` if nothing is there.
  func extent(_ path: String) throws(DiskError) -> FileExtent?

  /// A name for a folder that no other folder has, and no copy of its files. The folder keeps it if it is renamed; on a
  /// disk that does not know when a folder was created, only under the same path.
  func identity(ofFolder path: String) throws(DiskError) -> String

  /// The names in a folder, in any order.
  func list(_ folder: String) throws(DiskError) -> [String]

  /// The path that `path` leads to, with all symbolic links resolved. The file itself need not exist.
  /// - Throws: `notFound` if not even its folder is there, `linkLoop`.
  func resolve(_ path: String) throws(DiskError) -> String

  /// Creates one folder. A power cut may remove it until the folder above is synced; see ``createFolder(_:)``.
  /// - Throws: `exists` if something is at `path`, `notFound` if the folder above is missing.
  func makeFolder(_ path: String) throws(DiskError)

  /// Creates a file for writing. In a store's own folder, a new file gets the mode and owner of that folder.
  /// - Throws: `exists` if something is at `path`, even a link.
  func create(_ path: String, as file: CreatedFile) throws(DiskError) -> any WritableFile

  /// Sets who may read and write a file or a folder.
  /// - Throws: `permissionDenied` if it is somebody else's.
  func setMode(_ path: String, _ mode: UInt32) throws(DiskError)

  /// Opens a file that is there, for reading and, if that is permitted, for writing at any place.
  /// - Throws: `notFound`, `isFolder` or `other` if it is not a file.
  func open(_ path: String) throws(DiskError) -> any OpenFile

  /// Opens what `path` leads to for writing, if that is a pipe, a device, or a file that this process has open. Waits for
  /// the reader of a pipe. `nil` for a regular file, for a folder, and if nothing is there.
  func openStream(_ path: String) throws(DiskError) -> (any WritableFile)?

  /// Gives a file another name, in place of the file that has that name.
  /// - Throws: `isFolder` if a folder has it.
  func rename(_ path: String, to newPath: String) throws(DiskError)

  /// Renames a file to a name that nothing has. On a disk without such a call, another program may take the name in
  /// between.
  /// - Throws: `exists` if something has it.
  func rename(_ path: String, toFree newPath: String) throws(DiskError)

  /// Gives a file a second name, which nothing has. The file is gone once both names are removed.
  /// - Throws: `exists` if something has the name, `unsupported` if the two places cannot have a file in common,
  ///   or this file may have no other name.
  func link(_ path: String, to newPath: String) throws(DiskError)

  /// Exchanges two names in one step: after a crash either both are exchanged or none. A link is exchanged itself.
  /// - Throws: `notFound` if one is missing, `unsupported` on a disk that has no such call.
  func exchange(_ path: String, with other: String) throws(DiskError)

  /// Removes a file, or the link itself.
  /// - Throws: `notFound`, `isFolder`.
  func remove(_ path: String) throws(DiskError)

  /// Removes a folder without anything in it.
  /// - Throws: `notFound`; `other` if something is in it.
  func removeFolder(_ path: String) throws(DiskError)

  /// Checks that the disk of `path` has room for a new file of `count` bytes. `path` must exist. Writes nothing.
  /// - Throws: `full`.
  func checkRoom(for count: Int, at path: String) throws(DiskError)

  /// Makes the names in a folder durable: they survive a power cut.
  func syncFolder(_ path: String) throws(DiskError)

  /// Takes the exclusive lock on the file at `path`, and creates the file if it is missing.
  /// - Returns: `nil` if somebody else has the lock.
  func tryLock(_ path: String) throws(DiskError) -> FileLock?

  /// Tells when files change; `nil` on a disk that only this process can reach.
  func makeWatch() throws(DiskError) -> FolderWatch?
}

extension Disk {
  package var machine: String? { nil }

  package func identity(ofFolder path: String) throws(DiskError) -> String {
    String(hexadecimal: Checksum.of(try resolve(path).utf8), width: 8)
  }

  package func extent(_ path: String) throws(DiskError) -> FileExtent? { try status(path)?.stamp.extent }

  package func checkRoom(for count: Int, at path: String) throws(DiskError) {}

  package func openStream(_ path: String) throws(DiskError) -> (any WritableFile)? { nil }

  package func makeWatch() throws(DiskError) -> FolderWatch? { nil }
}

/// A file that is being written. It is closed with its last reference.
package protocol WritableFile: AnyObject, Sendable {
  func append(_ bytes: [UInt8]) throws(DiskError)
  /// Sets a modification time with nanoseconds, and makes the file's bytes survive a power cut.
  ///
  /// The clock of a file system ticks too slowly to tell two versions of a file apart. With this time, no other version
  /// has the same stamp.
  func sync() throws(DiskError)
}

/// A file that is read and written in place, by several threads if need be. It is closed with its last reference.
package protocol OpenFile: AnyObject, Sendable {
  func status() throws(DiskError) -> FileStatus
  func extent() throws(DiskError) -> FileExtent
  /// The `count` bytes from `offset` on, fewer if the file ends.
  func read(at offset: Int, count: Int) throws(DiskError) -> [UInt8]
  /// Overwrites what is at `offset`, or writes past the end of the file. After an error, the first part may be written.
  func write(_ bytes: [UInt8], at offset: Int) throws(DiskError)
  /// Makes the written bytes survive a power cut, or only makes them reach the drive in order.
  func syncData(_ strength: SyncStrength) throws(DiskError)
}

extension OpenFile {
  package func extent() throws(DiskError) -> FileExtent { try status().stamp.extent }
}

package enum SyncStrength: Sendable {
  /// The bytes are on the medium.
  case full
  /// The bytes reach the medium before any that are written later. Except on Darwin, this is the same as ``full``.
  case barrier
}

/// What an entry of a folder is.
package struct FileStatus: Equatable, Sendable {
  package enum Kind: Sendable { case file, folder, other }

  package var kind: Kind
  package var isLink: Bool
  package var stamp: FileStamp
  package var mode: UInt32
  package var owner: UInt32
  package var group: UInt32
}

/// Which file it is, and how long it is, but not when it was changed. See Decision 041 for when to ask for no more.
package struct FileExtent: Sendable {
  package var device: UInt64
  package var inode: UInt64
  package var size: Int
  /// The number of its hard links.
  package var names: UInt64 = 1

  package func isSameFile(as other: FileExtent) -> Bool { device == other.device && inode == other.inode }
}

/// Tells one state of a file from another: a file that is replaced or changed gets another stamp.
package struct FileStamp: Equatable, Sendable {
  package var device: UInt64
  package var inode: UInt64
  package var size: Int
  /// The time of the last change of the content, in nanoseconds.
  package var modified: Int64
  /// The time of the last change of content or status, in nanoseconds.
  package var changed: Int64
  /// False if the file had only just changed when we looked. The clock of a file system ticks every few milliseconds,
  /// and a second change within a tick leaves the same time. Such a stamp proves nothing.
  package var isSettled: Bool

  package init(device: UInt64, inode: UInt64, size: Int, modified: Int64, changed: Int64, isSettled: Bool) {
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
    self.changed = changed
    self.isSettled = isSettled
  }

  /// Whether the file system's clock has certainly ticked since a file changed. All times are in nanoseconds.
  ///
  /// Linux takes the time from a clock that ticks every 1 to 10 ms. Some file systems keep whole seconds (ext3, HFS+)
  /// or even seconds (FAT), so a time in whole seconds may come from one of these.
  package static func isSettled(modified: Int64, changed: Int64, now: Int64) -> Bool {
    let second: Int64 = 1_000_000_000
    let isWholeSeconds = changed % second == 0 && modified % second == 0
    return now - max(modified, changed) > (isWholeSeconds ? 2 * second + second / 10 : second / 20)
  }

  package var extent: FileExtent { FileExtent(device: device, inode: inode, size: size) }

  /// Whether a file with this stamp certainly still has the content that it had when its stamp was `earlier`.
  package func provesUnchanged(since earlier: FileStamp) -> Bool {
    earlier.isSettled && Self.areSame(self, earlier)
  }

  /// Whether both stamps are of the same file with the same content. Its name may have changed.
  package func isOfSameContent(as other: FileStamp) -> Bool {
    device == other.device && inode == other.inode && size == other.size && modified == other.modified
  }

  /// Whether two stamps show no difference. A stamp is `nil` if there is no file.
  package static func areSame(_ left: FileStamp?, _ right: FileStamp?) -> Bool {
    left?.device == right?.device && left?.inode == right?.inode && left?.size == right?.size
      && left?.modified == right?.modified && left?.changed == right?.changed
  }
}

/// An exclusive lock, held for as long as this value lives.
package struct FileLock: ~Copyable, Sendable {
  private let release: @Sendable () -> Void

  package init(release: @escaping @Sendable () -> Void) { self.release = release }

  deinit { release() }
}

/// Who may use a file that is created.
package enum CreatedFile: Sendable {
  /// It gets the mode, the owner, the access control list and the extended attributes of the file at this path.
  case like(String)
  /// A new file. The process has a mask, too, which may take away more.
  case new(mostOpen: UInt32)

  package static let usual = CreatedFile.new(mostOpen: 0o666)
}

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
