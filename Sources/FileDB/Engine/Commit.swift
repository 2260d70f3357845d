import FileDBEssentials
import FileDBStorage
import FileDBTables
import Synchronization

extension FileLog {
  /// Makes a commit, from taking the lock until the journal contains it. ``FileTicket/wait()`` then makes it durable.
  ///
  /// With the functions that it calls, it shows every lock, sync and rename of a commit, as
  /// ``checkpoint(_:patience:timeout:exclusively:of:)`` does for the tables' files.
  ///
  /// Whoever locks both ``state`` and the state of `TableVersions` locks them in this order, as `beforeOthersSee` does.
  package func append(
    timeout: Duration, _ transact: () throws -> NewCommit?, beforeOthersSee: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    try whileLocked(timeout: timeout) {
      while true {
        // This runs the transaction's body. If it throws, nothing has happened.
        guard let new = try transact() else { return nil }
        let commit = try state.withLock { state throws(StoreError) in
          state.fits(new) ? try journalCommit(new, state) : nil
        }
        // If another thread has read a newer file meanwhile, the body must run again.
        guard let commit else { continue }

        let (journal, byteCount, records) = try writeCommit(commit)
        return try updateState(after: journal) { state throws(PayloadFault) in
          beforeOthersSee(
            try state.add(
              commit, sequence: journal.sequence, byteCount: byteCount, recordsFile: records))
          let ticket = FileTicket(journal.file, of: self)
          state.waiting.append(ticket)
          return ticket
        }
      }
    }
  }

  /// Runs `body` while it holds the store's lock and has read the journal to its end.
  /// - Throws: what `body` throws; ``StoreError/Code/locked``, ``StoreError/Code/damagedJournal``, and the disk's
  ///   errors.
  package func whileLocked<Result>(timeout: Duration, _ body: () throws -> Result) throws -> Result {
    // Takes the lock of the queue, and then the store's lock. Creates and syncs the folder if it is missing.
    let lock = try folder.lock(timeout: timeout)
    defer { withExtendedLifetime(lock) {} }

    try beginWriting()
    defer { finishWriting() }
    return try body()
  }

  /// Prepares the journal for writing. Until ``finishWriting()``, no reader of this process reads on in it. So no
  /// reader has to wait for the disk.
  func beginWriting() throws(StoreError) {
    if try !readUpToHere() {
      // This writes and syncs a draft and renames it, unless a sync service has brought a journal. `syncName` syncs the
      // folder.
      let staged = try disk.stageJournal(folder.journalFile, after: 0)
      _ = try disk.install(staged) { path throws(DiskError) in path == nil }
      // Read the new journal. Otherwise it would look as if another process had committed first.
      guard try readUpToHere() else { throw damage("the journal is gone") }
    }
    do throws(StoreError) {
      if let refusal = refusalOfSharedJournal { throw refusal }
      try syncName()
      // Do not write into a journal of an older format. Do not write into the journal of another machine either, which
      // may still be writing to its own copy.
      var attempts = 0
      while state.withLock({ $0.journal?.format != JournalStart.newestFormat }) || isOfAnotherMachine {
        attempts += 1
        guard attempts <= 10 else {
          throw StoreError(
            .locked, "another program replaces the journal all the time", file: folder.journalFile)
        }
        try beginJournal(parking: [])
      }
    } catch {
      finishWriting()
      throw error
    }
  }

  /// Whether a service that copies folders, or somebody, brought the journal from another machine.
  var isOfAnotherMachine: Bool {
    guard let machine = state.withLock({ $0.journal?.machine }), let own = disk.disk.machine else {
      return false
    }
    return machine != own
  }

  /// Two folders with hard links to one journal, as `cp -al` makes them, would overwrite each other's commits.
  /// - Returns: `nil` if this journal belongs to this folder alone, as of the last look.
  var refusalOfSharedJournal: StoreError? {
    guard state.withLock({ $0.journal?.isShared ?? false }) else { return nil }
    return StoreError(
      .sharedJournal,
      "another folder has a hard link to this journal, so a write here would damage the store there; 'filedb repair' "
        + "gives this folder a journal of its own", file: folder.journalFile)
  }

  /// Reads the journal to its end. From here on, this thread alone uses it: no reader may read on in it, and a reader
  /// that fails must not close it.
  /// - Returns: whether there is a journal.
  private func readUpToHere() throws(StoreError) -> Bool {
    try state.withLock { state throws(StoreError) in
      if state.failure != nil { throw StoreError.closed(folder.path) }
      try readOn(&state)
      state.isLocked = state.journal != nil
      return state.isLocked
    }
  }

  /// Lets readers read on in the journal again, after ``beginWriting()``.
  func finishWriting() { state.withLock { $0.isLocked = false } }

  /// Syncs the journal's name. The process that created the journal may have died before it synced the name.
  func syncName() throws(StoreError) {
    if state.withLock(\.isNameSynced) { return }
    try syncBase(disk.disk.syncFolder(folder.ownFolder))
    state.withLock { $0.isNameSynced = true }
  }

  /// Writes a commit to the journal.
  /// - Returns: the journal with the commit in it, for ``updateState(after:_:)``; the length of the commit, with its
  ///   records; the file with its records, if it has one.
  func writeCommit(
    _ commit: JournalCommit
  ) throws(StoreError) -> (journal: Journal, byteCount: Int, recordsFile: RecordsFile?) {
    // 1. Make the files durable on which the journal builds from here on. The process that wrote them may have died
    //    before the sync. After a power cut, the commit would then not fit the older file.
    try makeDurable(commit.newBases)

    // 2. If there are many records, write them into a file of their own, and sync it and its name.
    var records: RecordsFile?
    if commit.recordBytes > options.longestFrame {
      records = try folder.writeRecords(commit)  // Written and synced under its own name.
      try syncBase(disk.disk.syncFolder(folder.ownFolder))
    }
    let payload = commit.payload(recordsIn: records)
    guard payload.count <= UInt32.max else {
      throw StoreError(.unrepresentableValue, "a transaction may have 4 GB at most")
    }

    // 3. Write the frame. The commit point is the sync after it.
    do throws(StoreError) {
      return (try writeFrame(.commit, payload), payload.count + (records?.size ?? 0), records)
    } catch {
      // No frame refers to this file, and on a full disk it would take up room.
      if let records { folder.remove([records.name]) }
      throw error
    }
  }

  /// Syncs tables' files and their names, unless this process knows that they are durable.
  func makeDurable(_ tables: [TableKey]) throws(StoreError) {
    for table in tables {
      let (known, isWritten) = state.withLock { ($0.files[table], $0.isKnownToBeWritten(table)) }
      if isWritten || known?.isDurable ?? false { continue }
      let (file, status) = try folder.file(of: table.text)
      let parent = parentFolder(of: try disk.resolve(file))
      if status != nil { try syncBase(disk.disk.open(file).syncData(.full)) }
      try syncBase(disk.disk.syncFolder(parent))
      state.withLock { state in
        guard let known, state.files[table]?.lineage == known.lineage,
          state.files[table]?.stamp == known.stamp
        else { return }
        state.files[table]?.isDurable = true
      }
    }
  }

  /// Syncs something that a commit builds on. If a sync fails, the next one may succeed although the bytes are lost, so
  /// the log accepts no more commits.
  private func syncBase(_ call: @autoclosure () throws(DiskError) -> Void) throws(StoreError) {
    do { try call() } catch {
      if error.isOfSync { state.withLock { $0.failure = error } }
      throw StoreError(error)
    }
  }

  /// Writes a frame after the last one. It first makes room for the frame, durably.
  /// - Returns: the journal with the frame in it, for ``State/take(_:)``. If this throws, the journal does not contain
  ///   the frame. A full disk leaves the journal as it was.
  func writeFrame(_ kind: JournalFrame.Kind, _ payload: [UInt8]) throws(StoreError) -> Journal {
    guard var journal = state.withLock(\.journal) else { throw damage("the journal is gone") }
    if kind == .commit, let fault = numberFault { throw fault }
    do throws(DiskError) {
      if try journal.clean() { try syncJournal(journal) }
      if try journal.reserve(payload.count) {
        try syncJournal(journal)
        journal.didSyncLength()
      }
      try journal.rewriteDoubtful()
      try journal.write(kind, payload)  // One write.
      return journal
    } catch {
      state.withLock { state in
        state.take(journal)
        // This journal is open for reading only. The next write opens it again: by then, writing may be permitted.
        if error.kind == .permissionDenied || error.kind == .readOnly { state.journal = nil }
      }
      throw StoreError(error)
    }
  }

  /// Takes over a journal to which a frame was written, and what the frame says.
  func updateState<Result>(
    after journal: Journal, _ update: (inout State) throws(PayloadFault) -> Result
  ) throws(StoreError) -> Result {
    try state.withLock { state throws(StoreError) in
      state.take(journal)
      do throws(PayloadFault) { return try update(&state) } catch { throw damage(error.message) }
    }
  }
}

// MARK: - The commit point

/// A commit that is in the journal and waits for its sync.
final class FileTicket: CommitTicket {
  let file: any OpenFile
  /// Whether the sync succeeded; `nil` before it.
  let outcome = Mutex<Result<Void, DiskError>?>(nil)
  private let log: FileLog

  init(_ file: any OpenFile, of log: FileLog) { (self.file, self.log) = (file, log) }

  /// Commits that wait at the same time share a sync.
  func wait() throws(StoreError) {
    log.syncs.run(
      until: { outcome.withLock { $0 != nil } },
      work: { _ = log.syncWaiting(log.options.durability.syncStrength) })
    do { try outcome.withLock(\.self)?.get() } catch { throw StoreError.outcomeUnknown(error) }
  }
}

extension FileLog {
  /// Makes everything in the journal durable. Later commits build on it, so if this fails, the log accepts no more
  /// commits.
  func syncJournal(_ journal: Journal) throws(DiskError) {
    var outcome: Result<Void, DiskError>?
    syncs.run(until: { outcome != nil }, work: { outcome = syncWaiting(.full, and: journal.file) })
    try outcome?.get()
  }

  /// Makes one sync for all commits that are waiting now: one of each file, if another journal has begun since the
  /// first of them. Nobody holds a lock during the sync.
  /// - Parameter file: a file that is synced in any case.
  fileprivate func syncWaiting(
    _ strength: SyncStrength?, and file: (any OpenFile)? = nil
  ) -> Result<Void, DiskError> {
    let (tickets, journal, failure) = state.withLock { ($0.waiting, $0.journal, $0.failure) }
    var files: [any OpenFile] = []
    for file in tickets.map(\.file) + [journal?.file, file].compactMap(\.self)
    where !files.contains(where: { $0 === file }) {
      files.append(file)
    }
    let outcome = Result { () throws(DiskError) in
      if let failure { throw failure }
      for file in files {
        if let strength { try file.syncData(strength) }
        if !tickets.isEmpty { try keepIfReplaced(file) }
      }
    }
    state.withLock { state in
      switch outcome {
      case .failure(let error): state.failure = error
      case .success:
        // A sync does not bring back what an earlier, failed sync has dropped.
        if strength != nil, let journal, !journal.isDoubtful, state.journal?.file === journal.file {
          state.journal?.didSync(through: journal.sequence)
        }
      }
      state.waiting.removeFirst(tickets.count)
    }
    for ticket in tickets { ticket.outcome.withLock { $0 = outcome } }
    return outcome
  }
}

// MARK: - What is written

extension FileLog.State {
  /// Whether the tables are still in the state for which a commit was made.
  fileprivate func fits(_ commit: NewCommit) -> Bool {
    commit.tables.allSatisfy { table, lineage in
      files[table]?.lineage == lineage
        && pending[table]?.commits.last.map { $0.sequence <= commit.position } ?? true
    }
  }
}

extension FileLog {
  /// Checks whether ``append(timeout:_:beforeOthersSee:)`` would accept a commit, and throws its error if not.
  package func validate(_ commit: NewCommit) throws(StoreError) {
    _ = try state.withLock { state throws(StoreError) in try journalCommit(commit, state) }
  }

  private func journalCommit(_ new: NewCommit, _ state: State) throws(StoreError) -> JournalCommit {
    let unpending = new.tables.keys.filter { state.pending[$0] == nil }
    if !unpending.isEmpty { try checkTargets(Set(new.tables.keys).union(state.pending.keys)) }
    let commit = JournalCommit(
      date: new.date, token: new.token, undo: new.undo,
      tables: state.tables(new.tables.keys, forCommitAfter: new.position), changes: new.changes)
    let byteCount = commit.recordBytes + 64 * commit.changes.count
    for (table, tableState) in new.states {
      try checkSize(
        tableState, of: table, added: 2 * (byteCount + (state.pending[table]?.byteCount ?? 0)), state)
    }
    return commit
  }

  /// A table that a checkpoint could not write must not be committed.
  private func checkSize(
    _ table: TableState, of key: TableKey, added: Int, _ state: State
  ) throws(StoreError) {
    let limit = options.limits.fileBytes
    guard let known = state.files[key], known.content.size + added > limit else { return }
    var size = 0
    TableFile.encode(table) { size += $0.count }
    if size > limit {
      throw StoreError(
        .unrepresentableValue, "the table would be longer than \(limit) bytes", file: known.path,
        table: key.text)
    }
  }

  private func checkTargets(_ tables: Set<TableKey>) throws(StoreError) {
    // In a dry run, the folder may not exist. Then there are no links.
    guard try disk.status(folder.path) != nil else { return }
    var targets: Set<TableKey> = []
    for table in tables {
      let target = try disk.resolve(folder.file(of: table.text).path)
      guard targets.insert(TableKey(target)).inserted else {
        throw StoreError(.ambiguousTable, "two tables of this transaction are links to one file")
      }
    }
  }
}

extension JournalCommit {
  /// The tables whose files this commit is the first to build on.
  fileprivate var newBases: [TableKey] { tables.filter { $0.value.base != nil }.keys.sorted() }

  fileprivate var recordBytes: Int { records.reduce(0) { $0 + $1.bytes.count } }
}
