import FileDBPlist
import FileDBStorage
import Foundation
import Synchronization

/// The files of a store: which one holds a table, and what each is called. Every file name is made here.
final class StoreFolder: Sendable {
  static let suffix = ".plist"

  let path: String
  let disk: any Disk
  /// Whether this process has seen all that ``lock(timeout:)`` makes.
  private let isMade = Atomic<Bool>(false)

  init(path: String, disk: any Disk) { (self.path, self.disk) = (path, disk) }

  /// What is ours alone: the locks, the journal, and backups.
  var ownFolder: String { "\(path)/.filedb" }
  private var lockFile: String { "\(ownFolder)/lock" }
  private var queueFile: String { "\(ownFolder)/queue" }
  var journalFile: String { "\(ownFolder)/journal" }
  var backupFolder: String { "\(ownFolder)/backups" }
  var undoFolder: String { "\(ownFolder)/undo" }
  /// The shipped tables that the user's are from; see ``InstalledVersion``.
  var shippedFolder: String { "\(ownFolder)/shipped" }
  /// A table of our own, among what is ours. No other can have such a name.
  static let installedTable = ".filedb/installed"
  var installedFile: String { "\(path)/\(Self.installedTable)\(Self.suffix)" }
  private var ignoreFile: String { "\(ownFolder)/.gitignore" }

  /// The file of the table: `NAME.plist`, or the bare `NAME` that wgFileDb wrote.
  /// - Returns: the file that is there; `NAME.plist` where none is.
  /// - Throws: ``StoreError/ambiguousTable`` where both are there, ``StoreError/invalidTableName``.
  func file(of table: String) throws(StoreError) -> (path: String, status: FileStatus?) {
    if table != Self.installedTable { try TableNameRule.check(table) }
    let modern = "\(path)/\(table)\(Self.suffix)"
    let bare = "\(path)/\(table)"
    let modernStatus = try onDisk { () throws(DiskError) in try disk.status(modern) }
    let bareStatus = try onDisk { () throws(DiskError) in try disk.status(bare) }
    let bareIsFile = bareStatus.map { $0.kind != .folder } ?? false
    if modernStatus != nil, bareIsFile {
      throw StoreError(
        StoreError.ambiguousTable,
        "'\(table)' and '\(table)\(Self.suffix)' are both there; remove or rename one",
        file: path, table: table)
    }
    return bareIsFile ? (bare, bareStatus) : (modern, modernStatus)
  }

  /// The names of the tables, in the order of their UTF-8 bytes. A file without `.plist` counts as one where it
  /// begins as a property list does.
  func tableNames() throws(StoreError) -> [String] {
    guard try onDisk({ () throws(DiskError) in try disk.status(path) }) != nil else { return [] }
    var names: Set<TableKey> = []
    for file in try onDisk({ () throws(DiskError) in try disk.list(path) }) {
      if file.utf8.first == UInt8(ascii: ".") || isFolder(file) { continue }
      if file.hasSuffix(Self.suffix) {
        names.insert(TableKey(String(file.dropLast(Self.suffix.count))))
      } else if looksLikeTable(file) {
        names.insert(TableKey(file))
      }
    }
    return names.sorted().map(\.text)
  }

  private func isFolder(_ file: String) -> Bool { (try? disk.status("\(path)/\(file)"))?.kind == .folder }

  private func looksLikeTable(_ file: String) -> Bool {
    // Without its NULs, UTF-16 shows what it says in ASCII.
    let beginning = try? disk.readPrefix("\(path)/\(file)", count: 512).filter { $0 != 0 }
    return beginning.map { String(decoding: $0, as: UTF8.self).contains("<plist") } ?? false
  }

  /// The file of a table and what is in it; no content where there is no file.
  func readFile(
    of table: TableKey, limits: PlistLimits
  ) throws(StoreError) -> (file: String, content: (bytes: [UInt8], stamp: FileStamp)?) {
    let (file, status) = try file(of: table.text)
    guard let status else { return (file, nil) }
    guard status.stamp.size <= limits.fileBytes else {  // Before it is in memory.
      throw StoreError(PlistError(.fileTooLarge(limit: limits.fileBytes)), file: file, table: table.text)
    }
    do {
      return (file, try disk.read(file))
    } catch  where error.kind == .notFound {
      return (file, nil)  // Another process dropped it meanwhile.
    } catch {
      throw StoreError(error)
    }
  }

  /// Takes the store's lock, making the folder where it is missing.
  ///
  /// Who waits for the lock holds another one, the queue's, until it has it. So a busy writer that comes back for the lock
  /// finds the one who waited before it; without that it would take the lock again before anybody else looks.
  func lock(timeout: Duration) throws(StoreError) -> FileLock {
    try onDisk { () throws(DiskError) in
      let deadline = ContinuousClock.now + timeout
      if isMade.load(ordering: .relaxed) {
        // Unless somebody removed what we made.
        do throws(DiskError) { return try waitForLock(until: deadline) } catch {
          guard error.kind == .notFound else { throw error }
        }
      }
      // The last of what is made for a new store; before it is there, another process may have died over the rest.
      if try disk.status(ignoreFile) == nil { try disk.createFolder(ownFolder) }
      let lock = try waitForLock(until: deadline)
      if try disk.status(ignoreFile) == nil {
        _ = try disk.replace(ignoreFile, with: Array("*\n".utf8))
      }
      isMade.store(true, ordering: .relaxed)
      return lock
    }
  }

  private func waitForLock(until deadline: ContinuousClock.Instant) throws(DiskError) -> FileLock {
    let turn = try disk.lock(queueFile, timeout: max(deadline - .now, .zero))
    defer { withExtendedLifetime(turn) {} }
    return try disk.lock(lockFile, timeout: max(deadline - .now, .zero))
  }

  /// Removes the drafts of a crashed run. Needs the lock.
  func sweep() throws(StoreError) {
    try onDisk { () throws(DiskError) in
      try disk.sweepDrafts(in: path)
      try disk.sweepDrafts(in: ownFolder)
    }
  }

  /// Removes the drafts of a crashed run beside the files that links in the store lead to. Another store may be writing
  /// there under a lock of its own, so only what is old enough to be nobody's goes, and nothing there is an error.
  func sweepBesideLinkTargets() {
    let anHourAgo = Int64((Date().timeIntervalSince1970 - 3_600) * 1e9)
    for name in (try? disk.list(path)) ?? [] {
      let file = "\(path)/\(name)"
      guard (try? disk.status(file))?.isLink == true, let target = try? disk.resolve(file) else { continue }
      try? disk.sweepDrafts(in: parentFolder(of: target), writtenBefore: anHourAgo)
    }
  }
}
