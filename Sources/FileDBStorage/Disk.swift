/// The seam between a store and the disk: every byte and every name goes through these verbs, so that a test can
/// stand in for the disk, fail any of them, or keep only what was synced.
///
/// Paths are absolute. A verb follows a symbolic link unless it says otherwise; in a folder called `.filedb`, a store's
/// own, none does: such a link is `other`, and opening it a `linkLoop`.
package protocol Disk: Sendable {
  /// The bytes of a file and its stamp at that moment.
  /// - Throws: `notFound` if there is none, `isFolder` or `other` if it is not a file.
  func read(_ path: String) throws(DiskError) -> (bytes: [UInt8], stamp: FileStamp)

  /// The first `count` bytes of a file, fewer if it is shorter.
  func readPrefix(_ path: String, count: Int) throws(DiskError) -> [UInt8]

  /// What is at `path`; `nil` if nothing is, and if a link leads to nothing.
  /// - Throws: `linkLoop`, `permissionDenied`.
  func status(_ path: String) throws(DiskError) -> FileStatus?

  /// The stamp of what is at `path`, to be compared with that of an open file and for nothing else: a link is followed
  /// anywhere on the way, so that one call is enough. `nil` if nothing is.
  func comparedStamp(_ path: String) throws(DiskError) -> FileStamp?

  /// The names in a folder, in no order.
  func list(_ folder: String) throws(DiskError) -> [String]

  /// The path that `path` leads to once all symbolic links are followed, whether there is a file yet or not.
  /// - Throws: `notFound` if not even its folder is there, `linkLoop`.
  func resolve(_ path: String) throws(DiskError) -> String

  /// Makes one folder, which a power cut may take until the folder above is synced; see ``createFolder(_:)``.
  /// - Throws: `exists` if something is at `path`, `notFound` if the folder above is missing.
  func makeFolder(_ path: String) throws(DiskError)

  /// Makes a new file for writing, with the mode, the owner, the access control list and the extended attributes of the
  /// file at `model`, or those of any new file; in a store's own folder with the folder's mode and owner.
  /// - Throws: `exists` if something is at `path`, a link included.
  func create(_ path: String, like model: String?) throws(DiskError) -> any WritableFile

  /// Says who may read and write a file or a folder.
  /// - Throws: `permissionDenied` if it is somebody else's.
  func setMode(_ path: String, _ mode: UInt32) throws(DiskError)

  /// Opens a file that is there, for reading and, if that is permitted, for writing at any place.
  /// - Throws: `notFound`, `isFolder` or `other` if it is not a file.
  func open(_ path: String) throws(DiskError) -> any OpenFile

  /// Gives a file another name, in place of the file that has that name.
  /// - Throws: `isFolder` if a folder has it.
  func rename(_ path: String, to newPath: String) throws(DiskError)

  /// Gives a file a name that nothing has. On a disk that has no such call, another program may be quicker.
  /// - Throws: `exists` if something has it.
  func rename(_ path: String, toFree newPath: String) throws(DiskError)

  /// Gives a file a second name, which nothing has: the file is gone once both are removed.
  /// - Throws: `exists` if something has the name, `unsupported` if the two places cannot have a file in common,
  ///   or this file may have no other name.
  func link(_ path: String, to newPath: String) throws(DiskError)

  /// Exchanges two names in one step: after a crash either both are exchanged or none. A link is exchanged itself.
  /// - Throws: `notFound` if one is missing, `unsupported` on a disk that has no such call.
  func exchange(_ path: String, with other: String) throws(DiskError)

  /// Removes a file, or the link itself.
  /// - Throws: `notFound`, `isFolder`.
  func remove(_ path: String) throws(DiskError)

  /// Checks that a new file of `count` bytes has room on the disk of `path`, which must be there. Writes nothing.
  /// - Throws: `full`.
  func checkRoom(for count: Int, at path: String) throws(DiskError)

  /// Makes the names in a folder survive a power cut.
  func syncFolder(_ path: String) throws(DiskError)

  /// Waits for the exclusive lock that goes with the file at `path`, which is made if it is missing.
  /// - Throws: `timedOut` once `timeout` has passed.
  func lock(_ path: String, timeout: Duration) throws(DiskError) -> FileLock

  /// Tells when files change; `nil` on a disk that only this process can reach.
  func makeWatch() throws(DiskError) -> FolderWatch?
}

extension Disk {
  package func comparedStamp(_ path: String) throws(DiskError) -> FileStamp? { try status(path)?.stamp }

  package func checkRoom(for count: Int, at path: String) throws(DiskError) {}

  package func makeWatch() throws(DiskError) -> FolderWatch? { nil }
}

/// A file that is being written. Closed when the last reference goes.
package protocol WritableFile: AnyObject, Sendable {
  func append(_ bytes: [UInt8]) throws(DiskError)
  /// Gives the file a time of modification of its own, to the nanosecond, and makes its bytes survive a power cut.
  ///
  /// With that time, unlike the one a file system's ticking clock gives, the file's stamp is that of no other version.
  func sync() throws(DiskError)
}

/// A file that is read and written in place. Closed when the last reference goes; may be used by several threads.
package protocol OpenFile: AnyObject, Sendable {
  func status() throws(DiskError) -> FileStatus
  /// The `count` bytes from `offset` on, fewer if the file ends.
  func read(at offset: Int, count: Int) throws(DiskError) -> [UInt8]
  /// Writes over what is at `offset`, or past the end of the file. An error may leave the first part written.
  func write(_ bytes: [UInt8], at offset: Int) throws(DiskError)
  /// Makes what was written survive a power cut, or only reach the drive in order.
  func syncData(_ strength: SyncStrength) throws(DiskError)
}

package enum SyncStrength: Sendable {
  /// The bytes are on the medium.
  case full
  /// The bytes reach the medium before any that are written later. The same as ``full`` except on Darwin.
  case barrier
}

/// What a folder entry is.
package struct FileStatus: Equatable, Sendable {
  package enum Kind: Sendable { case file, folder, other }

  package var kind: Kind
  package var isLink: Bool
  package var stamp: FileStamp
  package var mode: UInt32
  package var owner: UInt32
  package var group: UInt32
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
  /// False if the file had only just changed when it was looked at: the clock of a file system ticks every few
  /// milliseconds, and a second change within a tick leaves the same time. Such a stamp proves nothing.
  package var isSettled: Bool

  package init(device: UInt64, inode: UInt64, size: Int, modified: Int64, changed: Int64, isSettled: Bool) {
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
    self.changed = changed
    self.isSettled = isSettled
  }

  /// Whether the clock of the file system has surely ticked since a file changed; all times in nanoseconds.
  ///
  /// Linux takes the time from a clock that ticks every 1 to 10 ms. Some file systems keep whole seconds (ext3, HFS+),
  /// or every other one (FAT): a time in whole seconds may be theirs.
  package static func isSettled(modified: Int64, changed: Int64, now: Int64) -> Bool {
    let second: Int64 = 1_000_000_000
    let isWholeSeconds = changed % second == 0 && modified % second == 0
    return now - max(modified, changed) > (isWholeSeconds ? 2 * second + second / 10 : second / 20)
  }

  /// Whether a file with this stamp surely still has the content it had when it had `earlier`.
  package func provesUnchanged(since earlier: FileStamp) -> Bool {
    earlier.isSettled && Self.areSame(self, earlier)
  }

  /// Whether this is of the same file with the same content, whatever was done to its name since.
  package func isOfSameContent(as other: FileStamp) -> Bool {
    device == other.device && inode == other.inode && size == other.size && modified == other.modified
  }

  /// Whether two stamps, `nil` for a file that is not there, show no difference.
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
