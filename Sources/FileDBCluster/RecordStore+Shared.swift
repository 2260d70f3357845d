import Dispatch
import FileDB
import FileDBEssentials
import FileDBStorage
import FileDBTables
import Synchronization

extension RecordStore {
  /// Opens a store that several machines share. The folder at `url` is this machine's copy of it: reading is local and
  /// never waits for the network. See <doc:Cluster>.
  ///
  /// If the folder is empty or missing, this takes over the whole store before it returns. Otherwise it uses the folder
  /// as it is. The folder then follows the log in the background. You can read it even without a connection.
  /// - Throws: ``StoreError/Code/tableExists`` for a folder that has tables of its own;
  ///   ``StoreError/Code/unreachable`` for a new folder without a connection; ``StoreError/Code/notAFolder``,
  ///   ``StoreError/Code/locked``, and the disk's errors.
  public convenience init(
    at url: URL, sharedBy shared: SharedLog, options: StoreOptions = StoreOptions()
  ) throws {
    try self.init(at: url, sharedBy: shared, following: .always, options: options)
  }

  /// When a folder takes over commits of others, and edits in its files.
  package enum Following: Sendable {
    /// Continuously, in the background.
    case always
    /// When a write needs them, and in ``RecordStore/catchUp()``.
    case whenAsked
  }

  package convenience init(
    at url: URL, sharedBy shared: SharedLog, following: Following, options: StoreOptions
  ) throws {
    guard url.isFileURL else {
      throw StoreError(
        .notAFolder, "the copy of a shared store is a folder on the disk", file: url.absoluteString)
    }
    let shown = try StoreFolder.find(url.standardizedFileURL.path, options: options)
    let link = try ReplicaLink.read(shown, following: shared.log, timeout: options.lockTimeout)
    let replica = StoreFolder(path: shown.own(.replica), disk: shown.disk)
    let log = ReplicaLog(shared.log, identity: link.identity, into: FileLog(replica, options: options))
    // A folder without the log's commits is not a copy of it. It may have a journal: the connection may have failed
    // last time. A damaged journal can be repaired without the log.
    if (try? log.folder.readOn()) != nil, log.folder.end == 0 {
      _ = try log.catchUp(timeout: options.lockTimeout)
    }
    let files = ReplicaFiles(folder: shown, log: log, timeout: options.lockTimeout)
    self.init(at: url, log: log, files: log.folder, shownFiles: files, options: options)
    if following == .always { ReplicaFollower.start(for: self, log, files) }
  }

  /// Takes over everything that other machines have committed so far, and edits in the folder's files. The store does
  /// this automatically after a short time. Call it if a read must see what another machine has just written.
  ///
  /// If it is not known whether an earlier commit of this machine succeeded, also one of another process, this finds
  /// out. From then on, the commit is there, or it never will be.
  /// - Throws: ``StoreError/Code/unreachable``; ``StoreError/Code/notAFolder`` for a store that is not shared; for an
  ///   edited file, the errors of `TableSnapshot(contentsOf:)`, and those of a write.
  public func catchUp() throws {
    guard let log = log as? ReplicaLog, let files = shownFiles as? ReplicaFiles else {
      throw StoreError(.notAFolder, "this store follows no shared log", file: url.path)
    }
    try log.shared.confirmLeader()
    try log.settle(timeout: options.lockTimeout)
    _ = try log.catchUp(timeout: options.lockTimeout)
    try takeInEdits(files)
  }

  /// Takes over what other machines have committed, for a write that depends on what its caller reads first. The write
  /// itself then does not ask for news again.
  package func catchUpToWrite() throws {
    try (log as? ReplicaLog)?.catchUpToWrite(timeout: options.lockTimeout)
  }

  /// Finds out whether a commit of this machine succeeded, if that is not known yet.
  package func settleSentCommit() throws { try (log as? ReplicaLog)?.settle(timeout: options.lockTimeout) }

  /// The commits whose outcome this store has found out since the last call. Their writes did not hear of it.
  package func takeSettledCommits() -> [SettledCommit] { (log as? ReplicaLog)?.takeSettled() ?? [] }

  /// When the folder of a shared store last started over; `nil` if it never did, or if this store is not shared.
  /// - Throws: the disk's errors.
  /// - Complexity: O(1). It reads a small file.
  public func lastStartOver() throws -> StartOver? { try (log as? ReplicaLog)?.notes.start() }

  /// Commits edits in the files. If others changed the same fields, their values stay. FileDB then keeps the edited
  /// file as a backup, and the conflicts like those of a merge.
  func takeInEdits(_ files: ReplicaFiles) throws {
    try files.takingTurns {
      // If one file cannot be read, still read the others.
      var failure: (any Error)?
      for edit in try files.edits({ failure = failure ?? $0 }) {
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
    let before = try edit.before.map(table)
    let after: TableState
    do throws(StoreError) { after = try table(edit.after) } catch {
      var error = error
      error.message += "; 'filedb repair' repairs it. Until then, nobody else sees what is in this file"
      throw error
    }
    let conflicts = try self.table(name).merge(after, editedFrom: before)
    if !conflicts.isEmpty {
      try files.keepBackup(of: edit)
      try keepAlso(conflicts, of: name)
    }
    try files.finish(edit)
  }
}

/// Follows a shared log, and commits edits in files, as long as a store is open. Each of the two runs in its own thread
/// and does not keep the store alive.
private enum ReplicaFollower {
  /// How often to look if nothing reports news.
  private static let interval = Duration.seconds(1)
  /// How long to wait after a report, in microseconds. Commits often come in quick succession, and one look reads all
  /// of them. It also leaves the connection to a writer of this machine, whose own commits are reported, too.
  private static let pause: UInt32 = 2_000

  static func start(for store: RecordStore, _ log: ReplicaLog, _ files: ReplicaFiles) {
    run("FileDB.SharedLog", for: store, try? log.makeSharedWatch()) { store in
      store.reportingFailure(of: .sharedLog) {
        let hasNews = try log.catchUp(timeout: store.options.lockTimeout, while: { store.isOpen })
        if hasNews, store.isOpen { store.checkpointWhenDue() }
      }
    }
    let edits = FileLog(files.folder, options: store.options)
    run("FileDB.SharedFiles", for: store, try? edits.makeWatch()) { store in
      store.reportingFailure(of: .editedFiles) {
        let edits = Result { try store.takeInEdits(files) }
        let update = Result { if store.isOpen { try files.update() } }
        try edits.get()
        try update.get()
      }
    }
  }

  private static func run(
    _ name: String, for store: RecordStore, _ watch: (any LogWatch)?,
    look: @escaping @Sendable (RecordStore) -> Void
  ) {
    // A queue of its own, so that it has a thread of its own while this runs.
    DispatchQueue(label: name).async { [weak store] in
      while true {
        // From here on, the watch reports everything, so nothing is missed between two looks.
        _ = watch?.prepare()
        guard self.look(at: store, look) else { return }
        if let watch { watch.wait(upTo: interval) } else { usleep(1_000_000) }
        usleep(pause)
      }
    }
  }

  /// - Returns: false if the store is closed or gone.
  private static func look(at store: RecordStore?, _ look: (RecordStore) -> Void) -> Bool {
    guard let store, store.isOpen else { return false }
    look(store)
    return true
  }
}
