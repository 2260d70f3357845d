import FileDB
import FileDBEssentials
import FileDBStorage
import FileDBTables

/// What the system knows about a file, a folder or a link.
///
///     let info = try FileInfo(at: photo)
///     print(info.formattedSize)                          // 1.50 MB
///
/// A `FileInfo` describes the file at the moment when you create it. For a symbolic link, it describes the link itself.
package struct FileInfo: Hashable, Sendable {
  /// What there can be at a path.
  package enum Kind: Hashable, Sendable {
    /// A regular file.
    case file
    /// A folder.
    case folder
    /// A symbolic link, wherever it leads.
    case symbolicLink
    /// A socket, a pipe or a device.
    case other
  }

  /// Where the file is.
  package let url: URL
  /// What is there.
  package let kind: Kind
  /// The size in bytes: of a file's content, or of a link's path. For a folder, it is what the file system reports.
  package let size: Int64
  /// When the file was created; `nil` if the system does not tell. Linux never does.
  package let created: Date?
  /// When the content last changed.
  package let modified: Date
  /// The permission bits, such as `0o644`: those for the owner, the group and all others, and the set-user, set-group
  /// and sticky bits above them.
  package let permissions: Int

  /// Describes the file, folder or link at `url`.
  /// - Throws: ``StoreError/Code/fileNotFound``, ``StoreError/Code/permissionDenied`` for the folders on the way,
  ///   ``StoreError/Code/invalidPath`` if `url` is not a file URL or contains a NUL, ``StoreError/Code/inputOutput``.
  /// - Complexity: one system call.
  package init(at url: URL) throws {
    let path = try Self.path(of: url)
    var status = stat()
    guard lstat(path, &status) == 0 else { throw StoreError(DiskError("lstat", path, errno: errno)) }
    self.url = url
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .symbolicLink
      default: .other
      }
    size = Int64(status.st_size)
    permissions = Int(status.st_mode) & 0o7777
    #if canImport(Darwin)
      created = Date(status.st_birthtimespec)
      modified = Date(status.st_mtimespec)
    #else
      // Here, `stat` has no time of birth. Foundation uses its "change" time instead, which is something else.
      created = nil
      modified = Date(status.st_mtim)
    #endif
  }

  /// The size for people: `1 byte`, `512 bytes`, `1.50 KB`, `3.25 GB`. The units are powers of 1024. The text is the
  /// same in every locale.
  package var formattedSize: String { Self.formatted(size: size) }

  /// The text of ``formattedSize``, rounded to two decimals. A size that would be rounded up to 1024 becomes 1 of the
  /// next unit.
  package static func formatted(size: Int64) -> String {
    if size == 1 { return "1 byte" }
    if size < 1024 { return "\(size) bytes" }
    let units = ["KB", "MB", "GB", "TB"]
    var unit = 0
    var bytesInUnit: Int64 = 1024
    var hundredths: Int64 {
      // In two parts, because a hundred times the size may not fit.
      let (whole, rest) = size.quotientAndRemainder(dividingBy: bytesInUnit)
      return whole * 100 + (rest * 100 + bytesInUnit / 2) / bytesInUnit
    }
    while hundredths >= 1024 * 100, unit < units.count - 1 {
      unit += 1
      bytesInUnit *= 1024
    }
    let decimals = hundredths % 100
    return "\(hundredths / 100).\(decimals < 10 ? "0" : "")\(decimals) \(units[unit])"
  }

  /// The path to pass to the system.
  /// - Throws: ``StoreError/Code/invalidPath``.
  package static func path(of url: URL) throws(StoreError) -> String {
    guard url.isFileURL else {
      throw StoreError(.invalidPath, "this is not a file URL", file: url.absoluteString)
    }
    // The system would take the part before the NUL for the whole path.
    guard !url.absoluteString.contains("%00") else {
      throw StoreError(.invalidPath, "a path cannot hold a NUL", file: url.absoluteString)
    }
    return url.absoluteURL.path
  }
}

extension FileInfo {
  /// Whether `url` is a folder, or a link that leads to one. It is `false` if the system cannot tell.
  package static func isFolder(_ url: URL) -> Bool {
    guard let path = try? path(of: url), let status = try? StoreDisk.system.status(path) else { return false }
    return status.kind == .folder
  }

  /// Whether `url` leads to something that is not a regular file or a folder, but a pipe, a device, or a file that this
  /// process has open, such as `/dev/stdout`.
  package static func isStream(_ url: URL) -> Bool {
    guard let path = try? path(of: url) else { return false }
    return SystemDisk.isStream(path)
  }

  /// Replaces or creates a file with what `write` appends. After a crash at any point, the file has either all of the
  /// old content or all of the new. If `write` throws, the file is as it was. If `url` leads to a pipe, a device, or a
  /// file that this process has open, such as `/dev/stdout`, that is written to, and may get only a part.
  /// - Throws: what `write` throws; ``StoreError/Code/fileNotFound`` if the folder is missing,
  ///   ``StoreError/Code/permissionDenied``, ``StoreError/Code/diskFull``, ``StoreError/Code/invalidPath``,
  ///   ``StoreError/Code/inputOutput``.
  package static func writeFile(
    at url: URL, _ write: (_ append: ([UInt8]) throws -> Void) throws -> Void
  ) throws {
    try StoreDisk.system.writeFile(path(of: url), write)
  }
}

extension Date {
  fileprivate init(_ time: timespec) {
    self.init(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000)
  }
}
