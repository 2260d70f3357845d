import FileDBEssentials
import FileDBPlist
import FileDBStorage
import FileDBTables
import Synchronization

/// The files of a store: which file contains a table, and the names of all other files. Every file name is made here.
package final class StoreFolder: Sendable {
  package static let suffix = ".plist"

  package let path: String
  package let disk: StoreDisk
  /// Whether this process has checked that everything exists that ``lock(timeout:)`` creates.
  private let isChecked = Atomic<Bool>(false)
  /// Whether a sync of these files failed. Then a power cut might remove them, and everything that is built on them.
  private let isDoubtful = Atomic<Bool>(false)

  /// Whether this process has found a table here, or the store's own folder.
  private let isFound = Atomic<Bool>(false)
  private let isOwnFound = Atomic<Bool>(false)

  /// How long a writer waits for its turn in the queue.
  private let queuePatience: Duration

  /// The store's own folder, with the locks, the journal and the backups.
  package let ownFolder: String

  /// The own folder, if it is not inside.
  private let outside: OutsideFolder?

  package let journalFile: String

  package convenience init(path: String, disk: StoreDisk, queuePatience: Duration = .milliseconds(500)) {
    self.init(path, disk, outside: nil, queuePatience)
  }

  private init(
    _ path: String, _ disk: StoreDisk, outside: OutsideFolder?, journal: String? = nil,
    _ queuePatience: Duration
  ) {
    (self.path, self.disk, self.outside, self.queuePatience) = (path, disk, outside, queuePatience)
    ownFolder = outside?.path ?? "\(path)/.filedb"
    journalFile = "\(ownFolder)/\(journal ?? OwnName.journal.rawValue)"
  }

  /// The same folder, with a copy of the journal instead of the journal. Only for reading.
  func reading(journal file: String) -> StoreFolder {
    StoreFolder(path, disk, outside: outside, journal: file, queuePatience)
  }

  /// The folder of a store, with its own folder wherever that is.
  /// - Throws: ``StoreError/Code/newerFormat`` for a file `.filedb` that is none of FileDB, and the disk's errors.
  package static func find(
    _ path: String, on disk: StoreDisk = .system, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> StoreFolder {
    let outside =
      switch options.ownFolder {
      case .inStore: try OutsideFolder.find(path, on: disk, in: options.stateFolder)
      case .inUserState:
        try OutsideFolder.make(path, on: disk, in: options.stateFolder, timeout: options.lockTimeout)
      }
    return StoreFolder(path, disk, outside: outside, .milliseconds(500))
  }

  package func own(_ name: OwnName) -> String { "\(ownFolder)/\(name.rawValue)" }
  private var lockFile: String { own(.lock) }
  private var queueFile: String { own(.queue) }
  package var backupFolder: String { own(.backups) }
  package var offsetsFolder: String { own(.offsets) }
  package var undoFolder: String { own(.undo) }
  package var conflictFolder: String { own(.conflicts) }
  /// The shipped tables that the user's tables come from; see ``InstalledVersion``.
  package var shippedFolder: String { own(.shipped) }
  /// A table of the store itself, in its own folder. No other table can have such a name.
  package static let installedTable = ".filedb/installed"
  package var installedFile: String { own(.installed) }
  private var ignoreFile: String { own(.ignored) }

  /// The file of the table: `NAME.plist`, or the bare `NAME` that wgFileDb wrote.
  /// - Returns: the file that exists; `NAME.plist` if none does.
  /// - Throws: ``StoreError/Code/ambiguousTable`` if both are there, ``StoreError/Code/invalidTableName``.
  package func file(of table: String) throws(StoreError) -> (path: String, status: FileStatus?) {
    if table == Self.installedTable { return (installedFile, try disk.status(installedFile)) }
    try TableNameRule.validate(table)
    let modern = "\(path)/\(table)\(Self.suffix)"
    let bare = "\(path)/\(table)"
    let modernStatus = try disk.status(modern)
    let bareStatus = try disk.status(bare)
    if modernStatus != nil || bareStatus != nil { isFound.store(true, ordering: .relaxed) }
    let bareIsFile = bareStatus.map { $0.kind != .folder } ?? false
    if modernStatus != nil, bareIsFile {
      throw StoreError(
        .ambiguousTable,
        "'\(table)' and '\(table)\(Self.suffix)' are both there; remove or rename one",
        file: path, table: table)
    }
    return bareIsFile ? (bare, bareStatus) : (modern, modernStatus)
  }

  /// The conflicts of a table's last merge that are not settled.
  /// - Throws: ``StoreError/Code/invalidTableName``.
  package func conflictFile(of table: String) throws(StoreError) -> String {
    try TableNameRule.validate(table)
    return "\(conflictFolder)/\(table)\(Self.suffix)"
  }

  /// Whether a table may have this name.
  static func isAllowed(_ table: TableKey) -> Bool {
    table.text == installedTable || (try? TableNameRule.validate(table.text)) != nil
  }

  /// The names of the tables, in the order of their UTF-8 bytes. A file without `.plist` counts as a table if it begins
  /// like a property list. Files that editors and sync services make are no tables; see ``StrayFile``.
  package func tableNames() throws(StoreError) -> [String] {
    let tables = try files().filter { StrayFile(file: $0) == nil && mayBeTable($0) }
    return Set(tables.map { TableKey(table(of: $0)) }).sorted().map(\.text)
  }

  /// The files that would be tables but for their names, in the order of their UTF-8 bytes.
  package func strayFiles() throws(StoreError) -> [StrayFile] {
    try files().compactMap { StrayFile(file: $0) }.filter { mayBeTable($0.file) }
      .sorted { compareUTF8($0.file, $1.file) < 0 }
  }

  /// The copies of the journal that sync services made, in the order of their UTF-8 bytes.
  func journalCopies() throws(StoreError) -> [String] {
    guard try disk.status(ownFolder)?.kind == .folder else { return [] }
    return try disk.list(ownFolder).filter { file in
      let original = StrayFile(file: file)?.original ?? StrayFile.possibleOriginal(ofTable: file)
      return original == OwnName.journal.rawValue
    }.sorted { compareUTF8($0, $1) < 0 }
  }

  func table(of file: String) -> String {
    file.hasSuffix(Self.suffix) ? String(file.dropLast(Self.suffix.count)) : file
  }

  private func files() throws(StoreError) -> [String] { try disk.status(path) == nil ? [] : disk.list(path) }

  private func mayBeTable(_ file: String) -> Bool {
    file.utf8.first != UInt8(ascii: ".") && !isFolder(file)
      && (file.hasSuffix(Self.suffix) || looksLikeTable(file))
  }

  private func isFolder(_ file: String) -> Bool { (try? disk.status("\(path)/\(file)"))?.kind == .folder }

  private func looksLikeTable(_ file: String) -> Bool {
    // Without its NULs, UTF-16 shows its ASCII text.
    let beginning = try? disk.readPrefix("\(path)/\(file)", count: 512).filter { $0 != 0 }
    return beginning.map { String(decoding: $0, as: UTF8.self).contains("<plist") } ?? false
  }

  /// The file of a table and what is in it; no content if there is no file.
  package func readFile(
    of table: TableKey, limits: PlistLimits
  ) throws(StoreError) -> (file: String, content: (bytes: [UInt8], stamp: FileStamp)?) {
    let (file, status) = try file(of: table.text)
    guard let status else { return (file, nil) }
    guard status.stamp.size <= limits.fileBytes else {  // Checked before reading it into memory.
      throw StoreError(PlistError(.fileTooLarge(limit: limits.fileBytes)), file: file, table: table.text)
    }
    do {
      return (file, try disk.read(file))
    } catch  where error.code == .fileNotFound {
      return (file, nil)  // Another process has dropped it in the meantime.
    }
  }

  /// Takes the store's lock. Creates the folder if it is missing.
  ///
  /// A writer that has to wait first takes the lock of the queue, and keeps it until it has the store's lock. So a busy
  /// writer that comes back must queue behind it. Otherwise, that writer would take the store's lock again before
  /// anybody else looks. The queue is only a courtesy: if it does not move, a process in it may have been stopped, and
  /// the writer asks for the store's lock without it.
  package func lock(timeout: Duration) throws(StoreError) -> FileLock {
    do throws(StoreError) {
      let lock = try takeLock(timeout: timeout)
      // If the own folder has moved meanwhile, others use the locks in the new one.
      if let outside, try !outside.isCurrent() { throw storeGone }
      return lock
    } catch {
      throw explaining(error)
    }
  }

  /// Takes the lock of checkpoints, under which the tables' files are written. It is always taken before the store's
  /// lock. The folder must exist.
  func lockCheckpoints(timeout: Duration) throws(StoreError) -> FileLock {
    do throws(StoreError) { return try disk.lock(own(.checkpoint), until: .now + timeout) } catch {
      guard error.code == .locked else { throw error }
      var error = error
      error.message = "another process is writing the tables' files; it did not finish in time"
      throw error
    }
  }

  /// Makes the next ``lock(timeout:)`` check again that everything exists.
  func checkAgain() { isChecked.store(false, ordering: .relaxed) }

  private func takeLock(timeout: Duration) throws(StoreError) -> FileLock {
    let deadline = ContinuousClock.now + timeout
    if isChecked.load(ordering: .relaxed) {
      // This fails if somebody removed what we created.
      do { return try waitForLock(until: deadline) } catch {
        guard error.code == .fileNotFound else { throw error }
      }
    }
    try checkIsThere()
    let isNew = try disk.status(ownFolder) == nil
    // This is created last for a new store. Before it exists, another process may have died while it created the rest.
    if try disk.status(ignoreFile) == nil {
      try making(disk.disk.createFolder(ownFolder))
    }
    if isNew { try openNewFolder() }
    if outside != nil {
      // The process that made the file may have died before the sync. A power cut could then remove the file, and
      // nobody would find the own folder.
      try making(disk.disk.syncFolder(path))
      if isNew { try disk.setMode(parentFolder(of: ownFolder), 0o700) }
    }
    try adjustMode()
    let lock = try waitForLock(until: deadline)
    try checkThatLocksExclude()
    if try disk.status(ignoreFile) == nil {
      try making(disk.disk.replace(ignoreFile, with: Array("*\n".utf8)))
    }
    isChecked.store(true, ordering: .relaxed)
    setOwnFound()
    return lock
  }

  package func setOwnFound() { isOwnFound.store(true, ordering: .relaxed) }

  /// Checks that the store is still there. If it is gone, nothing is made in its place: a new store would give the same
  /// ids again.
  /// - Throws: ``StoreError/Code/storeGone`` if somebody has moved or removed the store; ``StoreError/Code/closed`` if a
  ///   power cut might remove it.
  func checkIsThere() throws(StoreError) {
    if isDoubtful.load(ordering: .relaxed) { throw StoreError.closed(path) }
    if try !isLost(path, isFound), try !isLost(ownFolder, isOwnFound), try !isMovedOut { return }
    throw storeGone
  }

  var storeGone: StoreError {
    StoreError(
      .storeGone,
      "the folder, or '.filedb' in it, was moved or removed while the store was open; nothing is written here. "
        + "'lastSnapshot' still has what this process knows", file: path)
  }

  /// Whether the own folder was inside, and is now among the user's state. There, others go on.
  var isMovedOut: Bool {
    get throws(StoreError) {
      if outside != nil { return false }
      return try disk.status(ownFolder)?.kind == .file
    }
  }

  private func isLost(_ folder: String, _ wasFound: borrowing Atomic<Bool>) throws(StoreError) -> Bool {
    guard wasFound.load(ordering: .relaxed) else { return false }
    return try disk.status(folder) == nil
  }

  private func making<Result>(_ call: @autoclosure () throws(DiskError) -> Result) throws(StoreError) {
    do { _ = try call() } catch {
      if error.isOfSync { isDoubtful.store(true, ordering: .relaxed) }
      throw StoreError(error)
    }
  }

  /// Checks that locks work. On some file systems, for example some network file systems, `flock` returns without doing
  /// anything. Two processes that write at once would then destroy the store. Call it with the lock.
  private func checkThatLocksExclude() throws(StoreError) {
    do throws(StoreError) { _ = try disk.lock(lockFile, until: .now) } catch
      where error.code == .locked
    {
      return
    }
    throw StoreError(
      .inputOutput,
      "this file system does not lock files, so nothing would keep two writers apart; keep the store on another disk",
      file: lockFile)
  }

  private func waitForLock(until deadline: ContinuousClock.Instant) throws(StoreError) -> FileLock {
    do {
      let turn = try disk.lock(queueFile, until: min(deadline, .now + queuePatience))
      defer { withExtendedLifetime(turn) {} }
      return try disk.lock(lockFile, until: deadline)
    } catch {
      guard error.code == .locked, deadline > .now else { throw error }
      return try disk.lock(lockFile, until: deadline)
    }
  }

  /// Removes the drafts of a crashed run. Needs the lock.
  package func sweep() throws(StoreError) {
    try disk.sweepDrafts(in: path, unlockedBefore: Self.anHourAgo)
    try disk.sweepDrafts(in: ownFolder, unlockedBefore: Self.anHourAgo)
  }

  /// In nanoseconds since 1970. Writing a draft takes less than an hour.
  private static var anHourAgo: Int64 { Int64((Date().timeIntervalSince1970 - 3_600) * 1e9) }

  /// Cleans up the files that a crash left during an exchange of names. What another program had saved goes to the
  /// backups. Needs the lock.
  func sweepSwaps(unless isKnown: (FileVersion) -> Bool) throws(StoreError) {
    for folder in [path, ownFolder] { try sweep(disk.swaps(in: folder), unless: isKnown) }
  }

  private func sweep(
    _ swaps: [(path: String, file: String)], unless isKnown: (FileVersion) -> Bool
  ) throws(StoreError) {
    for swap in swaps {
      let bytes = try disk.read(swap.path).bytes
      if !isKnown(FileVersion(bytes)) { _ = try keepBackup(of: swap.file, bytes) }
      try disk.remove(swap.path)
    }
  }

  /// The same beside the files that links in the store lead to. Another store may be writing there under its own lock.
  /// So this removes only files that are old enough to be left over, and ignores errors.
  func sweepBesideLinkTargets(unless isKnown: (FileVersion) -> Bool) {
    let anHourAgo = Self.anHourAgo
    for folder in linkTargetFolders {
      try? disk.sweepDrafts(in: folder, lockedBefore: anHourAgo, unlockedBefore: anHourAgo)
      try? sweep(disk.swaps(in: folder, changedBefore: anHourAgo), unless: isKnown)
    }
  }

  /// The folders in which changes may concern the store: its own, and those that links lead to.
  var watchedFolders: [String] {
    let names = (try? disk.list(path)) ?? []
    // If that folder does not exist yet, the store's folder reports when it is created.
    return [path] + (names.contains(".filedb") ? [ownFolder] : []) + linkTargetFolders
  }

  private var linkTargetFolders: Set<String> {
    let files = ((try? disk.list(path)) ?? []).map { "\(path)/\($0)" }
    return Set(
      files.filter { (try? disk.status($0))?.isLink == true }.compactMap {
        try? parentFolder(of: disk.resolve($0))
      })
  }
}
