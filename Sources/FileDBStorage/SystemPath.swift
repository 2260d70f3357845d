import FileDBEssentials

/// A path as the system is asked for it: an open folder, and a name in it.
///
/// A store may come from a stranger, and its `.filedb` may contain links to the user's files. So everything in a folder
/// with that name is opened relative to the folder's descriptor, and no link is followed on the way: see openat(2).
struct SystemPath: ~Copyable {
  /// `AT_FDCWD` for a path that is used as it is.
  private let folder: CInt
  private let name: String
  private let path: String
  /// Whether this is a store's own folder, or something inside it.
  let isOwn: Bool
  /// The most bytes that a file here can have; more cannot be read at once.
  let longestFile: Int

  /// What no file can be longer than, because it is read into memory: the machine's memory, in bytes.
  static let memory = sysconf(CInt(_SC_PHYS_PAGES)) * sysconf(CInt(_SC_PAGESIZE))

  init(_ path: String) throws(DiskError) {
    self.path = path
    guard let own = Self.ownFolder(in: path) else {
      (folder, name, isOwn, longestFile) = (AT_FDCWD, path, false, Self.memory)
      return
    }
    var names = path.utf8[own.upperBound...].split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    guard let last = names.popLast() else {
      (folder, name, isOwn, longestFile) = (AT_FDCWD, path, true, Self.memory)
      return
    }
    var folder = try Self.openFolder(AT_FDCWD, String(path[..<own.upperBound]), path)
    for name in names {
      let parent = folder
      defer { close(parent) }
      folder = try Self.openFolder(parent, name, path)
    }
    (self.folder, name, isOwn) = (folder, last, true)
    // The own folder of a replica has the names of the list, too.
    let inner = names.lastIndex(of: ".filedb").map { names[($0 + 1)...] } ?? names[...]
    longestFile = min(OwnName(rawValue: inner.first ?? last)?.longestFile ?? .max, Self.memory)
  }

  deinit { if folder != AT_FDCWD { close(folder) } }

  /// Calls the system with the folder and the name; the folder is open until `body` returns.
  func call<Output>(_ body: (_ folder: CInt, _ name: String) -> Output) -> Output { body(folder, name) }

  /// Whether there is a link that must not be followed.
  var isRefusedLink: Bool { isOwn && Self.isLink(folder, name) }

  /// The additional flags for `open`.
  var flags: CInt { O_CLOEXEC | (isOwn ? O_NOFOLLOW : 0) }

  /// The status of a store's own folder. What is created in it gets the folder's owner and is open to the same users,
  /// whatever the process would grant by default. `nil` anywhere else.
  func statusOfOwnFolder() -> FileStatus? {
    var status = stat()
    guard isOwn, folder != AT_FDCWD, fstat(folder, &status) == 0 else { return nil }
    return FileStatus(status, isLink: false, at: path)
  }

  /// `realpath` follows links. For a store's own folder and what is in it, use it only for the path up to that folder.
  static func beforeOwnFolder(_ path: String) -> (parent: String, own: String)? {
    ownFolder(in: path).map { (String(path[..<$0.lowerBound]), String(path[$0.lowerBound...])) }
  }

  /// The last `/.filedb` on the path. A store may itself be below a folder with that name. So what follows must be
  /// something that a store has there: a file, a folder, or a file in one of its folders. What a store of others has in
  /// its own folder is a store itself, ``OwnName/replica``: then the outer one counts.
  private static func ownFolder(in path: String) -> Range<String.Index>? {
    guard strstr(path, "/.filedb") != nil else { return nil }  // Most paths end here, quickly.
    // Split by bytes: a slash and a combining accent after it are one character.
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    func isOwn(_ index: Int) -> Bool { index > 0 && parts[index].elementsEqual(".filedb".utf8) }
    guard var own = parts.lastIndex(where: { $0.elementsEqual(".filedb".utf8) }), own > 0 else { return nil }
    let names = parts[(own + 1)...].filter { !$0.isEmpty }
    guard names.count <= 1 || names.count == 2 && String(names[0]).flatMap(OwnName.init)?.isFolder == true
    else {
      return nil
    }
    while own > 2, parts[own - 1].elementsEqual(OwnName.replica.rawValue.utf8), isOwn(own - 2) { own -= 2 }
    return path.utf8.index(before: parts[own].startIndex)..<parts[own].endIndex
  }

  private static func openFolder(_ folder: CInt, _ name: String, _ path: String) throws(DiskError) -> CInt {
    do throws(DiskError) {
      return CInt(
        try retryingInterrupts("open", path) {
          openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        })
    } catch {
      throw isLink(folder, name) ? DiskError("open", path, errno: ELOOP) : error
    }
  }

  /// Linux reports that a link is not a folder.
  private static func isLink(_ folder: CInt, _ name: String) -> Bool {
    var status = stat()
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }
}
