import Dispatch
import FileDB
import FileDBEssentials
import FileDBTables
import Synchronization

extension RecordStore {
  /// Opens a store that several machines share. The folder at `url` is this machine's copy of it: reading is local and
  /// never waits for the network. See <doc:Cluster>.
  ///
  /// An empty folder, or one that is not there, takes the whole log over before this returns. Any other is used as it
  /// is, and follows the log in the background: also without a connection, the store can be read.
  /// - Throws: ``StoreError/Code/tableExists`` for a folder that has tables of its own;
  ///   ``StoreError/Code/unreachable`` for a new folder without a connection; ``StoreError/Code/notAFolder``,
  ///   ``StoreError/Code/locked``, and the disk's errors.
  public convenience init(
    at url: URL, sharedBy shared: SharedLog, options: StoreOptions = StoreOptions()
  ) throws {
    guard url.isFileURL else {
      throw StoreError(
        .notAFolder, "the copy of a shared store is a folder on the disk", file: url.absoluteString)
    }
    let shown = StoreFolder(path: url.standardizedFileURL.path, disk: .system)
    let identity = try ReplicaIdentity.read(shown, following: shared.log, timeout: options.lockTimeout)
    let replica = StoreFolder(path: "\(shown.ownFolder)/replica", disk: shown.disk)
    let log = ReplicaLog(shared.log, identity: identity, into: FileLog(replica, options: options))
    // A folder without the log's commits is no copy of it. Its journal may be there: the connection may have broken the
    // time before. A damaged journal can be repaired without the log.
    if (try? log.folder.readOn()) != nil, log.folder.end == 0 {
      _ = try log.catchUp(timeout: options.lockTimeout)
    }
    let files = ReplicaFiles(shown: shown, log: log, timeout: options.lockTimeout)
    self.init(at: url, log: log, files: log.folder, shownFiles: files, options: options)
    ReplicaFollower.start(for: self, log, files)
  }

  /// Takes over what other machines have committed by now, and what people edited in the folder's files. The store does
  /// so by itself, soon after; call this where a read must see what another machine has just written.
  /// - Throws: ``StoreError/Code/unreachable``; for an edit, what `TableSnapshot(contentsOf:)` throws for its file, and
  ///   what a write of it would throw; ``StoreError/Code/notAFolder`` for a store that is not shared.
  public func catchUp() throws {
    guard let log = log as? ReplicaLog, let files = shownFiles as? ReplicaFiles else {
      throw StoreError(.notAFolder, "this store follows no shared log", file: url.path)
    }
    _ = try log.catchUp(timeout: options.lockTimeout)
    try takeInEdits(files)
  }

  /// Makes commits of what people edited in the files. Where others changed the same fields, theirs stay: the edited
  /// file is kept as a backup, and the conflicts as those of a merge.
  func takeInEdits(_ files: ReplicaFiles) throws {
    try files.takingTurns {
      // One that cannot be read is no reason to leave out the others.
      var failure: (any Error)?
      for edit in try files.edits() {
        do { try takeIn(edit, files) } catch { failure = failure ?? error }
      }
      if let failure { throw failure }
    }
  }

  private func takeIn(_ edit: ReplicaFiles.Edit, _ files: ReplicaFiles) throws {
    let name = edit.table.text
    func table(_ bytes: [UInt8]) throws(StoreError) -> TableState {
      try TableFile.decode(bytes, file: edit.file, table: name, limits: options.limits)
    }
    let (before, after) = (try edit.before.map(table), try table(edit.after))
    let conflicts = try self.table(name).merge(after, editedFrom: before)
    if !conflicts.isEmpty {
      try files.keepBackup(of: edit)
      try keep(OpenConflicts(gitVersions: nil, conflicts: conflicts), of: name)
    }
    try files.note(edit)
  }
}

/// Which log a folder follows, as it says in `.filedb/shared`.
private enum ReplicaIdentity {
  /// Where the folder says nothing yet, it follows `log` from here on.
  static func read(
    _ folder: StoreFolder, following log: any SharedCommitLog, timeout: Duration
  ) throws -> String {
    let file = "\(folder.ownFolder)/shared"
    if try folder.disk.status(file) != nil {
      let bytes = try folder.disk.read(file).bytes
      return String(decoding: bytes.filter { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
    if let table = try folder.tableNames().first {
      throw StoreError(
        .tableExists, "this folder has tables of its own; take an empty one for the copy of a shared store",
        file: folder.path, table: table)
    }
    let identity = try log.identity()
    let lock = try folder.lock(timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    try folder.disk.createFolder("\(folder.ownFolder)/replica")
    try folder.disk.replace(file, with: Array("\(identity)\n".utf8))
    return identity
  }
}

/// Follows a shared log, and takes in what people edit, for as long as a store is open. Each is a thread of its own,
/// and keeps no reference to the store.
private enum ReplicaFollower {
  /// How often to look where nothing tells of news.
  private static let interval = Duration.seconds(1)

  static func start(for store: RecordStore, _ log: ReplicaLog, _ files: ReplicaFiles) {
    run("FileDB.SharedLog", for: store, try? log.makeSharedWatch()) { store in
      if (try? log.catchUp(timeout: store.options.lockTimeout)) == true { store.checkpointWhenDue() }
    }
    let edits = FileLog(files.shown, options: store.options)
    run("FileDB.SharedFiles", for: store, try? edits.makeWatch()) { store in
      try? store.takeInEdits(files)
      try? files.update()
    }
  }

  private static func run(
    _ name: String, for store: RecordStore, _ watch: (any LogWatch)?,
    look: @escaping @Sendable (RecordStore) -> Void
  ) {
    // A queue of its own is a thread of its own for as long as this runs.
    DispatchQueue(label: name).async { [weak store] in
      while true {
        // What comes from here on is told of, so that nothing falls between two looks.
        _ = watch?.prepare()
        guard self.look(at: store, look) else { return }
        if let watch { watch.wait(upTo: interval) } else { usleep(1_000_000) }
      }
    }
  }

  /// - Returns: false where the store is closed or gone.
  private static func look(at store: RecordStore?, _ look: (RecordStore) -> Void) -> Bool {
    guard let store, store.isOpen else { return false }
    look(store)
    return true
  }
}
