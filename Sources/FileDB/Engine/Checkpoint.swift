import FileDBStorage
import FileDBTables

extension FileLog {
  /// Writes the journal's commits into the tables' files. The journal stays in use, unless it has grown long: then a
  /// new one begins.
  ///
  /// A crash at any point leaves each file in its old or its new version. The journal knows which commits each of the
  /// two versions includes, so it does not matter how far the checkpoint got.
  /// - Parameters:
  ///   - scope: which tables to write. The commits of the others stay in the journal.
  ///   - newest: a table with all its commits.
  package func checkpoint(
    timeout: Duration, scope: CheckpointScope,
    of newest: (TableKey) throws(StoreError) -> NewestTable
  ) throws(StoreError) -> WrittenTables {
    let lock = try folder.lock(timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    let (isDone, hasJournal) = try state.withLock { state throws(StoreError) in
      try readOn(&state)
      let isDone = !state.pending.values.contains(where: scope.contains) && !state.canBeReplaced(options)
      return (isDone, state.journal != nil)
    }
    if isDone, !hasJournal { return WrittenTables() }
    try prepare()
    defer { finishWriting() }
    if !isDone { return try writeFiles(scope, of: newest) }
    try confirm()
    return WrittenTables()
  }

  /// Sees to it that what other processes did survives a power cut: one may have failed to sync what it wrote, and
  /// died.
  private func confirm() throws(StoreError) {
    guard var journal = state.withLock(\.journal), journal.isDoubtful else { return }
    do throws(DiskError) {
      try journal.rewriteDoubtful()
      state.withLock { $0.take(journal) }
      try syncJournal()
    } catch {
      throw StoreError(error)
    }
  }

  /// Call it with the store's lock.
  func writeFiles(
    _ scope: CheckpointScope, of newest: (TableKey) throws(StoreError) -> NewestTable
  ) throws(StoreError) -> WrittenTables {
    // Tables that wait, and those in conflict, keep their commits in the journal. The others are written.
    let (due, waiting) = state.withLock { state in
      let waiting = Set(state.pending.filter { !scope.contains($0.value) }.keys)
      return (state.pending.keys.filter { !waiting.contains($0) && !state.isWritten($0) }.sorted(), waiting)
    }
    var (drafts, conflicts): ([TableDraft], [TableKey: StoreError]) = ([], [:])
    for key in due {
      do throws(StoreError) { drafts.append(try draft(key, newest)) } catch {
        guard error.code == .conflict else { throw error }
        conflicts[key] = error
      }
    }
    var written = try drafts.isEmpty ? WrittenTables() : write(drafts)
    written.conflicts.merge(conflicts) { $1 }

    try noteWritten(except: waiting.union(written.conflicts.keys))
    // There may be other tables now. The checkpoint is done, so if adjusting fails, the next write tries again.
    do throws(StoreError) { try folder.adjustMode() } catch { folder.forgetMade() }
    return written
  }

  /// Tells the journal that the files of all tables except `staying` include their commits, before another program may
  /// save one of them.
  private func noteWritten(except staying: Set<TableKey>) throws(StoreError) {
    let (done, isKept) = state.withLock {
      ($0.written(except: staying), $0.keepsJournal(with: staying, options))
    }
    guard isKept else { return try replaceJournal(by: CarriedFrames(of: staying, from: self), done) }
    if !done.files.isEmpty { try add(done) }
    // These are left from commits that failed.
    if !state.withLock(\.hasRecordsFiles) { folder.removeRecords(except: []) }
  }

  /// Begins a new journal: writes and syncs a draft, renames it, and syncs the folder.
  private func replaceJournal(
    by carried: CarriedFrames, _ done: WrittenFiles
  ) throws(StoreError) {
    try sync(disk.install([stageJournal(beginningWith: carried, done)]))
    let journal = try state.withLock { state throws(StoreError) in
      state.journal = nil
      try readOn(&state)
      state.isNameSynced = true
      return state.journal.flatMap { Int64(exactly: $0.inode) }
    }
    // Remove the former journal's files of records. If some cannot be removed, the next checkpoint removes them.
    folder.removeRecords(except: carried.recordsFiles)
    // This saves the next process a sync. If a power cut takes this frame, nothing else is lost.
    if carried.frames.isEmpty, let journal,
      let noted = try? writeFrame(.written, WrittenFiles(journal: journal).payload)
    {
      state.withLock { $0.take(noted) }
    }
  }

  /// Writes the draft of the next journal.
  private func stageJournal(
    beginningWith carried: CarriedFrames, _ done: WrittenFiles
  ) throws(StoreError) -> StagedFile {
    let (sequence, undoHead) = state.withLock { ($0.journal?.sequence, $0.undoHead) }
    guard let sequence else { throw damage("the journal is gone") }
    do throws(StoreError) {
      return try disk.stageJournal(
        folder.journalFile, after: sequence, undoStep: undoHead?.text,
        frames: carried.frames + (done.files.isEmpty ? [] : [(.written, done.payload)]))
    } catch {
      folder.remove(carried.newRecordsFiles)
      throw error
    }
  }

  /// A table with all its commits, and the file that it was made from.
  private func draft(
    _ key: TableKey, _ newest: (TableKey) throws(StoreError) -> NewestTable
  ) throws(StoreError) -> TableDraft {
    while true {
      let table = try newest(key)
      let file = state.withLock { $0.files[key] }
      // If another thread has read another file in the meantime, that is not the one that the table was made from.
      if file?.number == table.base {
        return TableDraft(key: key, state: table.state, base: file?.content.version)
      }
    }
  }

  /// Writes the file of a repaired table. As after a checkpoint, no commit waits for it any longer. So if somebody
  /// restores an older file, the commits that the repair left out do not come back.
  func write(repaired draft: TableDraft) throws(StoreError) -> WrittenTables {
    let written = try write([draft])
    let pending = state.withLock { Set($0.pending.keys) }
    if written.conflicts.isEmpty, pending.contains(draft.key) {
      try noteWritten(except: pending.subtracting([draft.key]))
    }
    return written
  }

  /// Writes the files of some tables. The journal stays, and records them.
  func write(_ drafts: [TableDraft]) throws(StoreError) -> WrittenTables {
    try sweep()

    // 1. Write and sync each new file beside the present one. If the disk is full, all files stay as they were.
    let staged = try stage(drafts)

    // 2. Keep the counters of the tables whose files will be removed, durably. Sync what other programs saved. Add the
    //    versions of the files to the journal and sync it. From here on, it knows both versions of each file.
    do throws(StoreError) {
      let dropped = drafts.filter { !$0.state.exists }
      if !dropped.isEmpty {
        try folder.keepCounters(
          Dictionary(uniqueKeysWithValues: dropped.map { ($0.key, $0.state.counter) }))
      }
      let checkpoint = state.withLock { $0.checkpoint(of: staged) }
      try makeDurable(checkpoint.savedTables)
      try write(checkpoint)
    } catch {
      disk.discard(staged.compactMap(\.file))
      throw error
    }

    // 3. Rename each draft to its file's name, and remove the files of dropped tables. If another program saved a file
    //    meanwhile, keep its version.
    var (installed, conflicts): ([StagedTable], [TableKey: StoreError]) = ([], [:])
    do throws(StoreError) {
      for table in staged {
        if try install(table) {
          installed.append(table)
        } else {
          conflicts[table.draft.key] = conflict(table.draft.key, table.path)
        }
      }
    } catch {
      disk.discard(staged.compactMap(\.file))  // The drafts that are not installed yet.
      throw error
    }

    // 4. Sync the folders before the journal forgets what is in the files. Do this even if a dropped table's file was
    //    gone already: whoever removed it may have died before the sync.
    try sync(Set(staged.map { $0.file.map { parentFolder(of: $0.target) } ?? folder.path }))
    return WrittenTables(numbers: updateFiles(installed), conflicts: conflicts)
  }

  /// - Returns: whether the file now has the staged content.
  private func install(_ table: StagedTable) throws(StoreError) -> Bool {
    let (draft, disk) = (table.draft, disk.disk)
    let (known, pending) = state.withLock { ($0.files[draft.key], $0.pending[draft.key]) }
    func mayReplace(_ version: FileVersion) -> Bool {
      if let repaired = draft.repaired { return version == repaired }
      return pending?.lastCommit(in: version) != nil
    }
    let isExpected = { (path: String?) throws(DiskError) -> Bool in
      guard let path, let status = try disk.status(path) else { return mayReplace(.absent) }
      // A rename changes only the time of the status.
      if let known, known.content.version == (draft.repaired ?? draft.base), let stamp = known.stamp,
        stamp.isSettled,
        stamp.isOfSameContent(as: status.stamp)
      {
        return true
      }
      return mayReplace(FileVersion(try disk.read(path).bytes))
    }
    guard let file = table.file else { return try self.disk.remove(table.path, if: isExpected) }
    return try self.disk.install(file, over: isExpected)
  }

  /// Removes what a crash left.
  private func sweep() throws(StoreError) {
    try folder.sweep()
    let pending = state.withLock { Array($0.pending.values) }
    let isKnown = { (version: FileVersion) in pending.contains { $0.lastCommit(in: version) != nil } }
    try folder.sweepSwaps(unless: isKnown)
    if !hasSweptLinks.exchange(true, ordering: .relaxed) { folder.sweepBesideLinkTargets(unless: isKnown) }
  }

  private func stage(_ drafts: [TableDraft]) throws(StoreError) -> [StagedTable] {
    var staged: [StagedTable] = []
    do throws(StoreError) {
      for draft in drafts {
        staged.append(try StagedTable(draft, in: folder))
        if draft.repaired != nil { try readBack(staged[staged.count - 1]) }
      }
      return staged
    } catch {
      disk.discard(staged.compactMap(\.file))
      throw error
    }
  }

  /// Reads back what a repair wrote, before it takes the file's name.
  private func readBack(_ table: StagedTable) throws(StoreError) {
    guard let file = table.file else { return }
    let bytes = try disk.read(file)
    let name = table.draft.key.text
    guard FileVersion(bytes) == table.version else {
      throw StoreError(
        .inputOutput, "what was written cannot be read back; the file is as it was",
        file: table.path,
        table: name)
    }
    _ = try TableFile.decode(
      bytes, file: table.path, table: name, limits: options.limits, shape: options.shape)
  }

  /// Adds a frame to the journal, in the same way as for a commit, and syncs it.
  func write(_ checkpoint: JournalCheckpoint) throws(StoreError) {
    let isFormat1 = state.withLock { $0.journal?.format == 1 }
    let payload = isFormat1 ? JournalFormat1.payload(of: checkpoint) : checkpoint.payload
    let journal = try writeFrame(.checkpoint, payload)
    state.withLock { state in
      state.take(journal)
      state.pending.add(checkpoint, at: journal.sequence)
    }
    do { try syncJournal() } catch { throw StoreError(error) }
  }

  /// Adds to the journal what the checkpoint has done, and syncs it. From here on, a program may save a file, and no
  /// commits seem to wait for it.
  private func add(_ done: WrittenFiles) throws(StoreError) {
    var done = done
    done.journal = state.withLock(\.journal).flatMap { Int64(exactly: $0.inode) }
    let journal = try writeFrame(.written, done.payload)
    state.withLock { state in
      state.take(journal)
      state.settle(done)
    }
    do { try syncJournal() } catch { throw StoreError(error) }
  }

  /// Syncs folders in which names have changed. If this fails, nobody knows what a power cut would leave, so the log
  /// accepts no more commits.
  func sync(_ folders: Set<String>) throws(StoreError) {
    for folder in folders.sorted() {
      do throws(DiskError) { try disk.disk.syncFolder(folder) } catch {
        state.withLock { $0.failure = error }
        throw StoreError(error)
      }
    }
  }

  /// Records the files as they are now.
  private func updateFiles(_ staged: [StagedTable]) -> [TableKey: Int] {
    // The checkpoint is done. If a file's stamp cannot be read, the file is read again next time.
    var rest = (try? disk.stamps(of: staged.compactMap(\.file)))?[...]
    let stamps = staged.map { $0.file == nil ? nil : rest?.popFirst() }
    for (written, stamp) in zip(staged, stamps) { noteOffsets(of: written, stamp) }
    return state.withLock { state in
      var numbers: [TableKey: Int] = [:]
      for (written, stamp) in zip(staged, stamps) {
        let key = written.draft.key
        numbers[key] = state.setFile(FileContent(written.version), at: written.path, stamp, of: key).number
        state.durableFiles[key] = numbers[key]
      }
      return numbers
    }
  }

  private func noteOffsets(of written: StagedTable, _ stamp: FileStamp?) {
    if let stamp, let offsets = written.offsets, mayStayUnread(stamp) {
      let known = KnownOffsets(stamp: stamp, version: written.version, offsets: offsets)
      folder.writeOffsets(known, written.lookups, of: written.draft.key)
    } else if let base = written.draft.base, base.size >= options.leastUnread {
      folder.forgetOffsets(of: written.draft.key)
    }
  }
}

extension FileLog.State {
  /// Whether this process has durably written all commits of a table into its file.
  fileprivate func isWritten(_ table: TableKey) -> Bool {
    guard let pending = pending[table], let file = files[table], durableFiles[table] == file.number,
      let last = pending.lastCommit(in: file.content.version)
    else { return false }
    return pending.commits.allSatisfy { $0.sequence <= last }
  }

  /// Whether the journal is long although no table waits for any of its commits: a folder that follows a log has a
  /// number for each commit to a table that it does not hold.
  fileprivate func canBeReplaced(_ options: StoreOptions) -> Bool {
    pending.isEmpty && (journal?.end ?? 0) > options.shortJournal
  }

  /// Whether this journal can stay in use: it is short, or the next one would not be much shorter. It would not be if
  /// all tables stay, or if the commits of those that stay are long, and more than half as long as this journal.
  fileprivate func keepsJournal(with staying: Set<TableKey>, _ options: StoreOptions) -> Bool {
    guard let journal, journal.format == JournalStart.newestFormat else { return false }
    if !options.renumbersCommits, !staying.isEmpty { return true }
    if canBeReplaced(options) { return false }
    if staying.isSuperset(of: pending.keys) { return true }
    if journal.end <= options.keptJournal, !hasRecordsFiles { return true }
    let bytes = staying.reduce(0) { $0 + (pending[$1]?.byteCount ?? 0) }
    return bytes > options.shortJournal && journal.end < 2 * bytes
  }

  /// The files of the tables that had commits in the journal, except those that stay.
  fileprivate func written(except staying: Set<TableKey>) -> WrittenFiles {
    var done = WrittenFiles()
    for table in pending.keys where !staying.contains(table) {
      guard let file = files[table] else { continue }
      done.files[table] = WrittenFiles.File(
        version: file.content.version, identity: file.stamp.flatMap { WrittenFiles.Identity($0) })
    }
    return done
  }

  /// The checkpoint as the journal records it.
  fileprivate func checkpoint(of staged: [StagedTable]) -> JournalCheckpoint {
    var checkpoint = JournalCheckpoint(files: [:])
    for table in staged {
      let (key, base) = (table.draft.key, table.draft.base)
      let isSaved = base.map { pending[key]?.lastCommit(in: $0) == nil } ?? false
      checkpoint.files[key] = JournalCheckpoint.File(version: table.version, saved: isSaved ? base : nil)
    }
    return checkpoint
  }
}

extension JournalCheckpoint {
  /// The tables whose new files are made from what another program saved.
  fileprivate var savedTables: [TableKey] { files.filter { $0.value.saved != nil }.keys.sorted() }
}

extension FileLog {
  /// The content of a table's file, with the journal's commits.
  func replayed(_ table: TableKey) throws(StoreError) -> NewestTable {
    guard let base = try base(of: table, unless: nil) else {
      preconditionFailure("a base is read where none is known")
    }
    var result = base.state
    for commit in pendingTable(table)?.commits ?? [] where commit.sequence > base.sequence {
      do throws(StoreError) { for change in commit.changes { try result.apply(change) } } catch {
        throw damage("commit \(commit.sequence) does not fit the table: \(error.message)", table: table)
      }
    }
    return NewestTable(state: result, base: base.number)
  }

  /// What is wrong with a journal that can be read: a commit that cannot be carried out, or no number for another
  /// commit. `nil` if nothing is wrong.
  func misfit() throws(StoreError) -> StoreError? {
    if let fault = numberFault { return fault }
    for table in state.withLock({ $0.pending.keys.sorted() }) {
      guard StoreFolder.isAllowed(table) else {
        return damage("a commit changes '\(table.text)', which is not a table's name")
      }
      do throws(StoreError) { _ = try replayed(table) } catch  where error.code == .damagedJournal {
        return error
      } catch {
        // The table's file is what is wrong. Repairing the journal would not help.
      }
    }
    return nil
  }
}
