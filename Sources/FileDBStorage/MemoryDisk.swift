import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A disk that forgets everything with its last reference: for previews and tests.
///
/// It has files and folders but no links, owners or modes. It keeps what was synced apart from what was not, so that
/// ``surviving()`` can tell what a power cut would leave.
package final class MemoryDisk: Disk {
  private final class File: Sendable {
    struct Content {
      var bytes: [UInt8] = []
      var synced: [UInt8] = []
      var version: Int64 = 0
    }
    let inode: UInt64
    let content = Mutex(Content())

    init(inode: UInt64) { self.inode = inode }
  }

  private struct Tree {
    var files: [String: File] = [:]
    var folders: Set<String> = ["/"]
    /// The files of each folder as of its last sync.
    var synced: [String: [String: File]] = [:]
    var nextInode: UInt64 = 1
    var locked: Set<String> = []
  }

  private let tree = Mutex(Tree())

  package init() {}

  /// A disk with only what a power cut would leave: names as of their folder's last sync, bytes as of their file's.
  package func surviving() -> MemoryDisk {
    let result = MemoryDisk()
    let (folders, synced) = tree.withLock { ($0.folders, $0.synced) }
    result.tree.withLock { copy in
      copy.folders = folders
      for (path, file) in synced.values.flatMap(\.self) {
        let survivor = File(inode: copy.nextInode)
        copy.nextInode += 1
        let bytes = file.content.withLock(\.synced)
        survivor.content.withLock { $0 = File.Content(bytes: bytes, synced: bytes) }
        copy.files[path] = survivor
      }
      copy.synced = Dictionary(grouping: copy.files, by: { parentFolder(of: $0.key) })
        .mapValues { Dictionary(uniqueKeysWithValues: $0.map { ($0.key, $0.value) }) }
    }
    return result
  }

  package func read(_ path: String) throws(DiskError) -> (bytes: [UInt8], stamp: FileStamp) {
    let file = try file(path, for: "open")
    return (file.content.withLock(\.bytes), stamp(of: file))
  }

  package func readPrefix(_ path: String, count: Int) throws(DiskError) -> [UInt8] {
    Array(try read(path).bytes.prefix(count))
  }

  package func status(_ path: String) throws(DiskError) -> FileStatus? {
    let (file, isFolder) = tree.withLock { ($0.files[path], $0.folders.contains(path)) }
    guard file != nil || isFolder else { return nil }
    let none = FileStamp(device: 0, inode: 0, size: 0, changed: 0, isSettled: true)
    return FileStatus(
      kind: isFolder ? .folder : .file, isLink: false, stamp: file.map(stamp) ?? none, mode: 0o644, owner: 0,
      group: 0)
  }

  package func list(_ folder: String) throws(DiskError) -> [String] {
    let names = tree.withLock { tree -> [String]? in
      guard tree.folders.contains(folder) else { return nil }
      let paths = Array(tree.files.keys) + Array(tree.folders)
      return paths.filter { $0 != "/" && parentFolder(of: $0) == folder }.map(fileName)
    }
    guard let names else { throw DiskError("opendir", folder, errno: ENOENT) }
    return names
  }

  package func resolve(_ path: String) throws(DiskError) -> String { path }

  package func createFolder(_ path: String) throws(DiskError) {
    var missing: [String] = []
    var folder = path
    while folder != "/" {
      missing.append(folder)
      folder = parentFolder(of: folder)
    }
    tree.withLock { $0.folders.formUnion(missing) }
  }

  package func create(_ path: String, like model: FileStatus?) throws(DiskError) -> any WritableFile {
    let made: Result<File, DiskError> = tree.withLock { tree in
      guard tree.files[path] == nil else { return .failure(DiskError("open", path, errno: EEXIST)) }
      guard tree.folders.contains(parentFolder(of: path)) else {
        return .failure(DiskError("open", path, errno: ENOENT))
      }
      let file = File(inode: tree.nextInode)
      tree.nextInode += 1
      tree.files[path] = file
      return .success(file)
    }
    return Handle(file: try made.get())
  }

  package func rename(_ path: String, to newPath: String) throws(DiskError) {
    let file = try file(path, for: "rename")
    tree.withLock { tree in
      tree.files[path] = nil
      tree.files[newPath] = file
    }
  }

  package func remove(_ path: String) throws(DiskError) {
    _ = try file(path, for: "unlink")
    tree.withLock { $0.files[path] = nil }
  }

  package func syncFolder(_ path: String) throws(DiskError) {
    tree.withLock { tree in
      tree.synced[path] = tree.files.filter { parentFolder(of: $0.key) == path }
    }
  }

  package func lock(_ path: String, timeout: Duration) throws(DiskError) -> FileLock {
    let deadline = ContinuousClock.now + timeout
    while !tree.withLock({ $0.locked.insert(path).inserted }) {
      guard ContinuousClock.now < deadline else { throw DiskError("flock", path, errno: ETIMEDOUT) }
      usleep(1_000)
    }
    return FileLock { [self] in _ = tree.withLock { $0.locked.remove(path) } }
  }

  private func file(_ path: String, for call: String) throws(DiskError) -> File {
    guard let file = tree.withLock({ $0.files[path] }) else { throw DiskError(call, path, errno: ENOENT) }
    return file
  }

  private func stamp(of file: File) -> FileStamp {
    let (size, version) = file.content.withLock { ($0.bytes.count, $0.version) }
    return FileStamp(device: 0, inode: file.inode, size: size, changed: version, isSettled: true)
  }

  private final class Handle: WritableFile {
    private let file: File

    init(file: File) { self.file = file }

    func append(_ bytes: [UInt8]) throws(DiskError) {
      file.content.withLock { content in
        content.bytes += bytes
        content.version += 1
      }
    }

    func sync() throws(DiskError) {
      file.content.withLock { $0.synced = $0.bytes }
    }
  }
}
