import FileDB
import FileDBEssentials
import FileDBStorage
import FileDBTables
import Synchronization

/// The tables' files that people see in the folder of a store that several machines share.
///
/// The folder that follows the log is `.filedb/replica`. Nobody edits files there. After each checkpoint, its files are
/// copied to the folder that people see. `.filedb/replica/.filedb/shown` has each file as it was last copied. If a file
/// differs from that, it was edited, and the edit becomes a commit. A file that cannot be read or copied does not hold
/// back the others.
final class ReplicaFiles: ShownFiles {
  /// A file that people see.
  struct Edit {
    let table: TableKey
    let file: String
    /// The file as it was last copied; `nil` for a table that did not exist.
    let before: [UInt8]?
    let after: [UInt8]
  }

  let folder: StoreFolder
  private let replicaLog: ReplicaLog
  private let timeout: Duration
  /// Two threads that read the same edit would disturb each other.
  private let turn = Mutex(())
  /// Files that are known to be as they were copied, so that they need not be read again.
  private let unedited = Mutex<[TableKey: FileStamp]>([:])

  init(folder: StoreFolder, log: ReplicaLog, timeout: Duration) {
    (self.folder, replicaLog, self.timeout) = (folder, log, timeout)
  }

  private var log: FileLog { replicaLog.folder }
  private var replica: StoreFolder { log.folder }

  private var disk: StoreDisk { folder.disk }
  private var copiesFolder: String { replica.own(.shown) }
  private func copy(of table: TableKey) -> String { "\(copiesFolder)/\(table.text)\(StoreFolder.suffix)" }
  /// The stamp of a file that was found equal to its copy.
  private func stampFile(of table: TableKey) -> String { "\(copiesFolder)/\(table.text).stamp" }
  /// The last commit in the log when an edit of the file had become one. It is there until people see a file of the
  /// replica that includes it.
  private func editFile(of table: TableKey) -> String { "\(copiesFolder)/\(table.text).edited" }
  /// The file that becomes the copy once people see the new file.
  private func nextCopy(of table: TableKey) -> String { "\(copy(of: table)).next" }

  func path(of table: String) throws(StoreError) -> String { try folder.file(of: table).path }

  // MARK: From the replica to the files

  func update() throws {
    let lock = try folder.lock(timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    if try disk.status(copiesFolder) == nil { try disk.createFolder(copiesFolder) }
    try log.readOn()
    var (edited, failure): ([TableKey], StoreError?) = ([], nil)
    for table in try tables() where try hasEdits(table) {
      do throws(StoreError) {
        if try show(table) { try disk.remove(editFile(of: table)) } else { edited.append(table) }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    if let table = edited.first {
      throw StoreError(
        .conflict,
        "this file was edited, and the edit is not in the shared log yet; 'filedb shared sync' commits it",
        file: try path(of: table.text), table: table.text)
    }
  }

  /// Whether the replica's file includes every edit of the one that people see. Commits of others may be missing in it.
  private func hasEdits(_ table: TableKey) throws(StoreError) -> Bool {
    guard let through = log.lastCommitInFile(of: table) else { return false }
    guard try disk.status(editFile(of: table)) != nil else { return true }
    let text = String(decoding: try disk.read(editFile(of: table)).bytes.dropLast(), as: UTF8.self)
    // After a new start, the log may have fewer commits.
    guard let edit = UInt64(text), edit <= log.end else { return log.hasWholeFile(of: table) }
    return edit <= through
  }

  /// The tables that exist in the replica, or existed.
  private func tables() throws(StoreError) -> [TableKey] {
    let copies = try disk.list(copiesFolder).filter { $0.hasSuffix(StoreFolder.suffix) }
      .map { String($0.dropLast(StoreFolder.suffix.count)) }
    return Set(try replica.tableNames() + copies).map { TableKey($0) }.sorted()
  }

  /// Copies a table's file to the folder that people see.
  /// - Returns: false if somebody edited the file there.
  private func show(_ table: TableKey) throws(StoreError) -> Bool {
    try finishCopy(of: table)
    let source = try replica.file(of: table.text)
    let target = try folder.file(of: table.text)
    if target.status != nil, let source = source.status, try isCopied(table, source.stamp) { return true }
    if try edit(of: table) != nil { return false }

    let copy = copy(of: table)
    let before = try disk.status(copy) == nil ? nil : disk.read(copy).bytes
    let isUnedited = { [disk] (path: String?) throws(DiskError) -> Bool in
      guard let path, try disk.disk.status(path) != nil else { return true }
      return try disk.disk.read(path).bytes == before
    }
    guard source.status != nil else {
      guard try disk.remove(target.path, if: isUnedited) else { return false }
      try disk.syncFolder(folder.path)
      try disk.remove(copy)
      try disk.remove(stampFile(of: table))
      return true
    }
    // Synced before people see the file. So after a crash, nothing that it left looks like an edit.
    try disk.remove(nextCopy(of: table))
    try disk.linkOrCopy(source.path, to: nextCopy(of: table))
    try disk.syncFolder(copiesFolder)
    let bytes = try disk.read(nextCopy(of: table)).bytes
    let draft = try disk.stage(target.path, mostOpen: folder.modeOfNewTables()) { file throws(DiskError) in
      try file.append(bytes)
    }
    guard try disk.install(draft, over: isUnedited) else { return false }
    try disk.syncFolder(folder.path)
    try finishCopy(of: table)
    return true
  }

  /// Whether the copy is of the present file of the replica. Usually they are one file with two names.
  private func isCopied(_ table: TableKey, _ source: FileStamp) throws(StoreError) -> Bool {
    guard let copied = try disk.status(copy(of: table)) else { return false }
    if source.isOfSameContent(as: copied.stamp) { return true }
    guard source.size == copied.stamp.size else { return false }
    return try disk.read(replica.file(of: table.text).path).bytes == disk.read(copy(of: table)).bytes
  }

  /// Finishes what a crash may have interrupted: if people see the new file already, its copy takes the copy's name.
  private func finishCopy(of table: TableKey) throws(StoreError) {
    guard try disk.status(nextCopy(of: table)) != nil else { return }
    let file = try folder.file(of: table.text)
    if file.status != nil, try disk.read(file.path).bytes == disk.read(nextCopy(of: table)).bytes {
      try disk.rename(nextCopy(of: table), to: copy(of: table))
      unedited.withLock { $0[table] = nil }
    } else {
      try disk.remove(nextCopy(of: table))
    }
  }

  // MARK: From the files to the log

  /// The files that were edited since they were copied. Removing a file is not an edit: the next ``update()`` restores
  /// it.
  /// - Parameter fail: called for each file that cannot be read.
  func edits(_ fail: (StoreError) -> Void) throws -> [Edit] {
    let lock = try folder.lock(timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    return try folder.tableNames().map { TableKey($0) }.compactMap { table in
      do throws(StoreError) {
        try finishCopy(of: table)
        return try edit(of: table)
      } catch {
        fail(error)
        return nil
      }
    }
  }

  /// This takes no lock, because it is for readers.
  func editedTables(among tables: [String]?) throws(StoreError) -> [String] {
    let names = if let tables { tables } else { try folder.tableNames() }
    return names.filter { (try? isEdited(TableKey($0))) == true }
  }

  private func isEdited(_ table: TableKey) throws(StoreError) -> Bool {
    guard let edit = try edit(of: table) else { return false }
    // Another process may just be copying a new file.
    if try disk.status(nextCopy(of: table)) != nil, try disk.read(nextCopy(of: table)).bytes == edit.after {
      return false
    }
    return try self.edit(of: table) != nil
  }

  private func edit(of table: TableKey) throws(StoreError) -> Edit? {
    let (file, status) = try folder.file(of: table.text)
    guard let status else { return nil }
    let known = unedited.withLock { $0[table] } ?? keptStamp(of: table)
    if let known, status.stamp.provesUnchanged(since: known) { return nil }
    let copy = copy(of: table)
    let before = try disk.status(copy) == nil ? nil : try disk.read(copy).bytes
    let (after, stamp) = try disk.read(file)
    guard before == after else { return Edit(table: table, file: file, before: before, after: after) }
    unedited.withLock { $0[table] = stamp }
    keep(stamp, of: table)
    return nil
  }

  /// Keeps a stamp for other processes, so that they need not read the file. It is no harm if that fails.
  private func keep(_ stamp: FileStamp, of table: TableKey) {
    guard stamp.isSettled, (try? disk.status(copiesFolder)) != nil else { return }
    let numbers = [Int64(bitPattern: stamp.device), Int64(bitPattern: stamp.inode), Int64(stamp.size)]
    let text = (numbers + [stamp.modified, stamp.changed]).map(\.description).joined(separator: " ") + "\n"
    try? disk.remove(stampFile(of: table))
    try? disk.createUnsynced(stampFile(of: table), [Array(text.utf8)])
  }

  private func keptStamp(of table: TableKey) -> FileStamp? {
    guard let bytes = try? disk.readPrefix(stampFile(of: table), count: 200),
      bytes.last == UInt8(ascii: "\n")
    else { return nil }
    let words = String(decoding: bytes.dropLast(), as: UTF8.self).split(separator: " ")
    let numbers = words.compactMap { Int64($0) }
    guard words.count == 5, numbers.count == 5 else { return nil }
    return FileStamp(
      device: UInt64(bitPattern: numbers[0]), inode: UInt64(bitPattern: numbers[1]), size: Int(numbers[2]),
      modified: numbers[3], changed: numbers[4], isSettled: true)
  }

  /// Records that an edit is in the log. Another process may have been first, and may have gone further.
  func finish(_ edit: Edit) throws {
    let lock = try folder.lock(timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    let copy = copy(of: edit.table)
    let noted = try disk.status(copy) == nil ? nil : try disk.read(copy).bytes
    guard noted == edit.before else { return }
    if try disk.status(copiesFolder) == nil { try disk.createFolder(copiesFolder) }
    try disk.replace(editFile(of: edit.table), with: Array("\(log.end)\n".utf8))
    try disk.replace(copy, with: edit.after)
  }

  /// Runs `body` in one thread at a time.
  func takingTurns(_ body: () throws -> Void) throws { try turn.withLock { _ in try body() } }

  /// Backs up an edited file if the log has other values for some of its fields.
  func keepBackup(of edit: Edit) throws(StoreError) { _ = try folder.keepBackup(of: edit.file, edit.after) }
}
