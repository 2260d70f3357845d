import FileDBEssentials
import Synchronization

/// All files and folders of a disk at one moment, by path, with each folder up to `/`.
package struct DiskImage: Equatable, Sendable {
  package var folders: Set<String> = ["/"]
  package var files: [String: [UInt8]] = [:]

  package init() {}
}

/// A disk in memory, for previews and tests. Its content is gone with the last reference.
///
/// It has files and folders but no links, owners or modes. It records what was synced, so that ``surviving(_:)`` can
/// tell what a power cut would leave.
package final class MemoryDisk: Disk {
  private final class File: Sendable {
    struct Content {
      private(set) var bytes: [UInt8]
      /// What the writes since the last sync have replaced, the oldest first. A copy of all bytes would have to be made
      /// again after each sync.
      private var replaced: [(offset: Int, bytes: [UInt8], size: Int)] = []
      private(set) var version: Int64 = 0
      /// How many names the file has, and how often it lost one.
      var names: UInt64 = 1
      var lostNames: Int64 = 0

      init(_ bytes: [UInt8]) { self.bytes = bytes }

      /// The bytes of the last sync.
      var synced: [UInt8] {
        var synced = bytes
        for write in replaced.reversed() {
          synced.replaceSubrange(write.offset..<write.offset + write.bytes.count, with: write.bytes)
          synced.removeLast(synced.count - write.size)
        }
        return synced
      }

      mutating func write(_ new: [UInt8], at offset: Int) {
        let size = bytes.count
        replaced.append((min(offset, size), Array(bytes.dropFirst(offset).prefix(new.count)), size))
        let missing = offset + new.count - size
        if missing > 0 { bytes.append(contentsOf: repeatElement(0, count: missing)) }
        bytes.replaceSubrange(offset..<offset + new.count, with: new)
        version += 1
      }

      mutating func sync() { replaced = [] }
    }
    let inode: UInt64
    let content: Mutex<Content>

    init(inode: UInt64, bytes: [UInt8] = []) {
      self.inode = inode
      content = Mutex(Content(bytes))
    }

    func read() -> (bytes: [UInt8], stamp: FileStamp) {
      content.withLock { ($0.bytes, stamp(of: $0)) }
    }

    /// Asked for without the bytes: whoever holds them makes the next write copy them.
    var stamp: FileStamp { content.withLock { stamp(of: $0) } }

    private func stamp(of content: borrowing Content) -> FileStamp {
      FileStamp(
        device: 0, inode: inode, size: content.bytes.count, modified: content.version,
        changed: content.version + content.lostNames, isSettled: true)
    }

    var extent: FileExtent {
      content.withLock { FileExtent(device: 0, inode: inode, size: $0.bytes.count, names: $0.names) }
    }

    func gainName() { content.withLock { $0.names += 1 } }

    func loseName() {
      content.withLock { content in
        content.names -= 1
        content.lostNames += 1
      }
    }
  }

  private enum Entry {
    case file(File)
    case folder
  }

  private struct Tree {
    var entries: [String: Entry] = ["/": .folder]
    /// The content of each folder when it was last synced.
    var synced: [String: Entry] = ["/": .folder]
    var lastInode: UInt64 = 0
    var locked: Set<String> = []

    func checkFolder(_ path: String, for call: String, _ place: String) throws(DiskError) {
      switch entries[path] {
      case .folder: break
      case .file: throw DiskError(call, place, errno: ENOTDIR)
      case nil: throw .missing(call, place)
      }
    }

    func file(_ path: String, for call: String) throws(DiskError) -> File {
      switch entries[path] {
      case .file(let file): return file
      case .folder: throw .notAFile(call, path, .folder)
      case nil: throw .missing(call, path)
      }
    }

    mutating func add(_ path: String, for call: String) throws(DiskError) -> File {
      guard entries[path] == nil else { throw DiskError(call, path, errno: EEXIST) }
      try checkFolder(parentFolder(of: path), for: call, path)
      lastInode += 1
      let file = File(inode: lastInode)
      entries[path] = .file(file)
      return file
    }
  }

  /// What a power cut does to names that were created, changed or removed since their folder was last synced. A disk
  /// may do either, so the store must cope with both.
  package enum UnsyncedNames: CaseIterable, Sendable { case lost, kept }

  package let machine: String?
  private let tree = Mutex(Tree())

  package init(machine: String? = nil) { self.machine = machine }

  /// A disk that holds `image`, all of it synced.
  package init(_ image: DiskImage) {
    machine = nil
    tree.withLock { tree in
      for folder in image.folders { tree.entries[folder] = .folder }
      for (path, bytes) in image.files {
        tree.lastInode += 1
        tree.entries[path] = .file(File(inode: tree.lastInode, bytes: bytes))
      }
      tree.synced = tree.entries
    }
  }

  /// What every program sees now, whether it is synced or not.
  package var image: DiskImage {
    var image = DiskImage()
    for (path, entry) in tree.withLock(\.entries) {
      switch entry {
      case .folder: image.folders.insert(path)
      case .file(let file): image.files[path] = file.read().bytes
      }
    }
    return image
  }

  /// A disk with only what a power cut would leave: each file with the bytes of its last sync.
  package func surviving(_ names: UnsyncedNames = .lost) -> MemoryDisk {
    let result = MemoryDisk()
    let entries = tree.withLock { names == .kept ? $0.entries : $0.synced }
    result.tree.withLock { copy in
      // Folders come before their entries.
      for (path, entry) in entries.sorted(by: { $0.key.utf8.count < $1.key.utf8.count }) where path != "/" {
        guard copy.entries[parentFolder(of: path)] != nil else { continue }
        if case .file(let file) = entry {
          copy.lastInode += 1
          copy.entries[path] = .file(
            File(inode: copy.lastInode, bytes: file.content.withLock(\.synced)))
        } else {
          copy.entries[path] = .folder
        }
      }
      copy.synced = copy.entries
    }
    return result
  }

  package func read(_ path: String) throws(DiskError) -> (bytes: [UInt8], stamp: FileStamp) {
    try file(path, for: "open").read()
  }

  package func readPrefix(_ path: String, count: Int) throws(DiskError) -> [UInt8] {
    try file(path, for: "open").content.withLock { Array($0.bytes.prefix(count)) }
  }

  package func status(_ path: String) throws(DiskError) -> FileStatus? {
    switch tree.withLock({ $0.entries[path] }) {
    case nil: return nil
    case .file(let file): return Self.status(.file, file.stamp)
    case .folder:
      return Self.status(
        .folder, FileStamp(device: 0, inode: 0, size: 0, modified: 0, changed: 0, isSettled: true))
    }
  }

  package func extent(_ path: String) throws(DiskError) -> FileExtent? {
    guard case .file(let file) = tree.withLock({ $0.entries[path] }) else {
      return try status(path)?.stamp.extent
    }
    return file.extent
  }

  package func list(_ folder: String) throws(DiskError) -> [String] {
    try tree.withLock { tree throws(DiskError) in
      try tree.checkFolder(folder, for: "opendir", folder)
      return tree.entries.keys.filter { $0 != "/" && parentFolder(of: $0) == folder }.map(fileName)
    }
  }

  package func resolve(_ path: String) throws(DiskError) -> String {
    try tree.withLock { tree throws(DiskError) in
      try tree.checkFolder(parentFolder(of: path), for: "realpath", path)
    }
    return path
  }

  package func makeFolder(_ path: String) throws(DiskError) {
    try tree.withLock { tree throws(DiskError) in
      guard tree.entries[path] == nil else { throw DiskError("mkdir", path, errno: EEXIST) }
      try tree.checkFolder(parentFolder(of: path), for: "mkdir", path)
      tree.entries[path] = .folder
    }
  }

  package func create(_ path: String, as file: CreatedFile) throws(DiskError) -> any WritableFile {
    Handle(file: try tree.withLock { tree throws(DiskError) in try tree.add(path, for: "open") })
  }

  package func setMode(_ path: String, _ mode: UInt32) throws(DiskError) {}

  package func open(_ path: String) throws(DiskError) -> any OpenFile {
    Handle(file: try file(path, for: "open"))
  }

  package func rename(_ path: String, to newPath: String) throws(DiskError) {
    try tree.withLock { tree throws(DiskError) in
      let file = try tree.file(path, for: "rename")
      try tree.checkFolder(parentFolder(of: newPath), for: "rename", newPath)
      if case .folder = tree.entries[newPath] { throw .notAFile("rename", newPath, .folder) }
      if case .file(let replaced) = tree.entries[newPath] { replaced.loseName() }
      tree.entries[path] = nil
      tree.entries[newPath] = .file(file)
    }
  }

  package func rename(_ path: String, toFree newPath: String) throws(DiskError) {
    try tree.withLock { tree throws(DiskError) in
      let file = try tree.file(path, for: "rename")
      guard tree.entries[newPath] == nil else { throw DiskError("rename", newPath, errno: EEXIST) }
      try tree.checkFolder(parentFolder(of: newPath), for: "rename", newPath)
      tree.entries[path] = nil
      tree.entries[newPath] = .file(file)
    }
  }

  package func exchange(_ path: String, with other: String) throws(DiskError) {
    try tree.withLock { tree throws(DiskError) in
      let (first, second) = (try tree.file(path, for: "rename"), try tree.file(other, for: "rename"))
      tree.entries[path] = .file(second)
      tree.entries[other] = .file(first)
    }
  }

  package func link(_ path: String, to newPath: String) throws(DiskError) {
    try tree.withLock { tree throws(DiskError) in
      let file = try tree.file(path, for: "link")
      guard tree.entries[newPath] == nil else { throw DiskError("link", newPath, errno: EEXIST) }
      try tree.checkFolder(parentFolder(of: newPath), for: "link", newPath)
      file.gainName()
      tree.entries[newPath] = .file(file)
    }
  }

  package func remove(_ path: String) throws(DiskError) {
    try tree.withLock { tree throws(DiskError) in
      try tree.file(path, for: "unlink").loseName()
      tree.entries[path] = nil
    }
  }

  package func removeFolder(_ path: String) throws(DiskError) {
    try tree.withLock { tree throws(DiskError) in
      try tree.checkFolder(path, for: "rmdir", path)
      guard !tree.entries.keys.contains(where: { $0 != "/" && parentFolder(of: $0) == path }) else {
        throw DiskError("rmdir", path, errno: ENOTEMPTY)
      }
      tree.entries[path] = nil
    }
  }

  package func syncFolder(_ path: String) throws(DiskError) {
    try tree.withLock { tree throws(DiskError) in
      try tree.checkFolder(path, for: "fsync", path)
      func isInside(_ entry: (key: String, value: Entry)) -> Bool {
        entry.key != "/" && parentFolder(of: entry.key) == path
      }
      tree.synced = tree.synced.filter { !isInside($0) }
      for (path, entry) in tree.entries.filter(isInside) { tree.synced[path] = entry }
    }
  }

  package func tryLock(_ path: String) throws(DiskError) -> FileLock? {
    let isFree = try tree.withLock { tree throws(DiskError) in
      if case .file = tree.entries[path] {} else { _ = try tree.add(path, for: "open") }
      return tree.locked.insert(path).inserted
    }
    return isFree ? FileLock { [self] in _ = tree.withLock { $0.locked.remove(path) } } : nil
  }

  private func file(_ path: String, for call: String) throws(DiskError) -> File {
    try tree.withLock { tree throws(DiskError) in try tree.file(path, for: call) }
  }

  private static func status(_ kind: FileStatus.Kind, _ stamp: FileStamp) -> FileStatus {
    FileStatus(
      kind: kind, isLink: false, stamp: stamp, mode: kind == .folder ? 0o755 : 0o644, owner: 0, group: 0)
  }

  private final class Handle: WritableFile, OpenFile {
    private let file: File

    init(file: File) { self.file = file }

    func status() throws(DiskError) -> FileStatus { MemoryDisk.status(.file, file.stamp) }

    func extent() throws(DiskError) -> FileExtent { file.extent }

    func read(at offset: Int, count: Int) throws(DiskError) -> [UInt8] {
      file.content.withLock { Array($0.bytes.dropFirst(offset).prefix(count)) }
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(DiskError) {
      file.content.withLock { $0.write(bytes, at: offset) }
    }

    func syncData(_ strength: SyncStrength) throws(DiskError) { try sync() }

    func append(_ bytes: [UInt8]) throws(DiskError) {
      file.content.withLock { $0.write(bytes, at: $0.bytes.count) }
    }

    func sync() throws(DiskError) { file.content.withLock { $0.sync() } }
  }
}
