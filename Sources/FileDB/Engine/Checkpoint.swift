import FileDBStorage
import FileDBTables

extension FileLog {
  /// Writes the journal's commits into the tables' files. Writers go on while the new files are written: they wait only
  /// while the files get their names, and then for the names, not for the bytes.
  ///
  /// A crash at any point leaves each file in its old or its new version. The journal knows which commits each of the
  /// two versions includes, so it does not matter how far the checkpoint got.
  /// - Parameters:
  ///   - scope: which tables to write. The commits of the others stay in the journal.
  ///   - patience: how long to wait for another checkpoint.
  ///   - timeout: how long to wait for writers.
  ///   - exclusively: runs a part of the checkpoint while no other thread of this process writes.
  ///   - tables: the tables in memory.
  /// - Returns: the tables that are in conflict with what another program saved. Their commits stay in the journal.
  func checkpoint(
    _ scope: CheckpointScope, patience: Duration, timeout: Duration,
    exclusively: (() throws -> Void) throws -> Void, of tables: TableVersions
  ) throws -> [TableKey: StoreError] {
    try folder.checkIsThere()
    guard try disk.status(folder.journalFile) != nil else { return [:] }
    // 1. Take the lock of checkpoints: only one process makes a checkpoint at a time. It is always taken before the
    //    store's lock.
    let turn = try folder.lockCheckpoints(timeout: patience)
    defer { withExtendedLifetime(turn) {} }

    // 2. With the store's lock: make durable what other processes did, remove what a crash left, and choose the tables.
    var due: [TableKey] = []
    try exclusively {
      due = try whileLocked(timeout: timeout) {
        try syncOthersFrames()
        try removeLeftovers()
        let chosen = tablesToWrite(scope)
        if chosen.isEmpty, state.withLock({ $0.journal?.knowsMoreThanItsFrames ?? false }) {
          tellWhatIsDurable()
        }
        return chosen
      }
    }

    var conflicts: [TableKey: StoreError] = [:]
    while !due.isEmpty {
      // 3. Without it: write and sync a draft of each file.
      let drafts = try stage(due, of: tables, &conflicts)
      // 4. With it: give the drafts the names of the files, and tell the journal. Drafts of files that another program
      //    has saved meanwhile are made again.
      var (installed, journal): ([StagedTable], Journal?) = ([], nil)
      do {
        try exclusively {
          (installed, due, journal) = try whileLocked(timeout: timeout) {
            try installDrafts(drafts, &conflicts)
          }
        }
      } catch {
        discard(drafts)
        throw error
      }
      // 5. Without it: make durable what the journal says of the new files, and write down where their records are.
      //    Closing the former files frees their space.
      if let journal { try onDisk(syncJournal(journal)) }
      replaceOffsets(of: installed)
    }

    // 6. With it again, so that writers come in between: begin the next journal if this one is long. If they do not give
    //    up the lock in time, the next checkpoint does it.
    let parked = Set(conflicts.keys)
    if isJournalOutgrown(without: parked) {
      do {
        try exclusively {
          try whileLocked(timeout: timeout) {
            if isJournalOutgrown(without: parked) { try beginJournal(parking: parked) }
          }
        }
      } catch StoreError.Code.locked {}
    }
    return conflicts
  }

  /// Whether there are commits that a checkpoint would write.
  package func isDue(_ scope: CheckpointScope) throws(StoreError) -> Bool {
    try readOn()
    return state.withLock { $0.pending.values.contains(where: scope.contains) }
  }

  /// The tables that a checkpoint is to write.
  private func tablesToWrite(_ scope: CheckpointScope) -> [TableKey] {
    state.withLock { state in
      let sizes = state.sizes
      let scope = sizes.journal > sizes.limit ? .all : scope
      return state.pending.filter { scope.contains($0.value) }.keys.sorted()
    }
  }

  /// Makes durable what other processes wrote into the journal. One of them may have failed to sync it, and died.
  private func syncOthersFrames() throws(StoreError) {
    guard var journal = state.withLock(\.journal), journal.isDoubtful else { return }
    do throws(DiskError) {
      try journal.rewriteDoubtful()
      state.withLock { $0.take(journal) }
      try syncJournal(journal)
    } catch {
      throw StoreError(error)
    }
  }

  /// Removes what a crash left. Call it with both locks.
  private func removeLeftovers() throws(StoreError) {
    try folder.sweep()
    let pending = state.withLock { Array($0.pending.values) }
    for swap in try disk.swaps(in: folder.ownFolder) where swap.file == OwnName.journal.rawValue {
      try onDisk(keepIfLost(disk.disk.open(swap.path)))
      try disk.remove(swap.path)
    }
    let isKnown = { (version: FileVersion) in pending.contains { $0.lastCommit(in: version) != nil } }
    try folder.sweepSwaps(unless: isKnown)
    if !hasSweptLinks.exchange(true, ordering: .relaxed) { folder.sweepBesideLinkTargets(unless: isKnown) }
    // The files of records that no commit names are left from commits that failed. Those of a journal that was kept above
    // are in the backups by now.
    if state.withLock(\.recordsFiles.isEmpty) { folder.removeRecords(except: []) }
  }

  /// The first half of a checkpoint: writes and syncs a draft of each table's file. If the disk is full, all files stay
  /// as they were.
  private func stage(
    _ due: [TableKey], of tables: TableVersions, _ conflicts: inout [TableKey: StoreError]
  ) throws(StoreError) -> [StagedTable] {
    var (staged, salt): ([StagedTable], UInt32) = ([], state.withLock(\.salt))
    do throws(StoreError) {
      for key in due {
        do throws(StoreError) { staged.append(try stage(key, of: tables, salt)) } catch
          where error.code == .conflict
        {
          conflicts[key] = error
        }
      }
      return staged
    } catch {
      discard(staged)
      throw error
    }
  }

  /// Writes and syncs a draft of a table with all its commits.
  private func stage(
    _ key: TableKey, of tables: TableVersions, _ salt: UInt32
  ) throws(StoreError) -> StagedTable {
    while true {
      try tables.catchUp()
      let table = try tables.newest(key)
      let (file, pending) = state.withLock { ($0.files[key], $0.pending[key]) }
      // If another thread has read a newer file meanwhile, the table was not made from that file. Then try again.
      guard let file, file.lineage == table.lineage else { continue }
      let base = file.content.version
      let isKnown = pending.map { $0.lastCommit(in: base) != nil } ?? true
      // What another program saved becomes part of the store. This syncs its file.
      if !isKnown { try makeDurable([key]) }
      return try StagedTable(key, table, of: base, isKnown ? .commits : .savedFile, in: folder, salt: salt)
    }
  }

  /// The second half: gives the drafts the names of the files. Call it with the store's lock.
  /// - Returns: the tables whose files now have their names; those that still wait, because others have saved, moved or
  ///   changed their files since the drafts were made; the journal, if it must be synced.
  private func installDrafts(
    _ staged: [StagedTable], _ conflicts: inout [TableKey: StoreError]
  ) throws(StoreError) -> (installed: [StagedTable], outdated: [TableKey], journal: Journal?) {
    var (current, outdated): ([StagedTable], [StagedTable]) = ([], [])
    for table in staged { if try isCurrent(table) { current.append(table) } else { outdated.append(table) } }
    discard(outdated)
    let (installed, failed) = try replaceFiles(current)
    conflicts.merge(failed) { $1 }
    let journal = try writeWritten(installed)
    // Tables may have come or gone, so adjust who may use the folder. The checkpoint is done, so if this fails, the
    // next write tries again.
    do throws(StoreError) { try folder.adjustMode() } catch { folder.checkAgain() }
    // If another process has replaced the journal, no commits may be waiting for these tables any longer.
    let waiting = state.withLock { state in outdated.map(\.key).filter { state.pending[$0] != nil } }
    return (installed, waiting, journal)
  }

  /// Whether a draft may still be installed: the file that it was made from is still the table's, with the same mode
  /// and owner, and nobody has begun another journal.
  private func isCurrent(_ table: StagedTable) throws(StoreError) -> Bool {
    let key = table.key
    let (known, pending, salt) = state.withLock { ($0.files[key], $0.pending[key], $0.salt) }
    guard salt == table.salt, pending != nil, let known, known.lineage == table.source.lineage,
      known.content.version == table.base
    else { return false }
    let (path, status) = try folder.file(of: key.text)
    guard path == table.path, FileStamp.areSame(status?.stamp, known.stamp) else { return false }
    return try table.file.map { file throws(StoreError) in try disk.isCurrent(file, for: path) } ?? true
  }

  /// Replaces the tables' files by the drafts.
  /// - Returns: the files that were replaced, and a conflict for each that another program saved at that moment.
  private func replaceFiles(
    _ staged: [StagedTable]
  ) throws(StoreError) -> (installed: [StagedTable], conflicts: [TableKey: StoreError]) {
    if staged.isEmpty { return ([], [:]) }
    // 1. Keep the counters of the tables whose files will be removed, durably. Add the versions of the new files to the
    //    journal and sync it. From here on, it knows both versions of each file.
    let dropped = staged.filter { !$0.source.state.exists }
    if !dropped.isEmpty {
      try folder.keepCounters(
        Dictionary(uniqueKeysWithValues: dropped.map { ($0.key, $0.source.state.counter) }))
    }
    try makeDurable(staged.filter { $0.origin == .savedFile }.map(\.key))
    try appendCheckpoint(JournalCheckpoint(of: staged))

    // 2. Exchange the names of each draft and its file, and remove the former file. Remove the files of dropped tables.
    //    If another program saved a file meanwhile, keep its version.
    var (installed, conflicts): ([StagedTable], [TableKey: StoreError]) = ([], [:])
    for var table in staged {
      table.keepFormerOpen(on: disk)
      if try exchange(table) {
        installed.append(table)
      } else {
        conflicts[table.key] = conflict(table.key, table.path)
      }
    }

    // 3. Sync the folders before the journal forgets what is in the files. Do this even if a dropped table's file was
    //    gone already: whoever removed it may have died before the sync.
    try sync(Set(staged.map { $0.file.map { parentFolder(of: $0.target) } ?? folder.path }))
    updateFiles(&installed)
    return (installed, conflicts)
  }

  /// - Returns: whether the file now has the staged content.
  private func exchange(_ table: StagedTable) throws(StoreError) -> Bool {
    let (base, disk) = (table.base, disk.disk)
    let known = state.withLock { $0.files[table.key] }
    let isExpected = { (path: String?) throws(DiskError) -> Bool in
      guard let path, let status = try disk.status(path) else { return base == .absent }
      // A rename changes only the time of the status.
      if let known, known.content.version == base, let stamp = known.stamp, stamp.isSettled,
        stamp.isOfSameContent(as: status.stamp)
      {
        return true
      }
      return FileVersion(try disk.read(path).bytes) == base
    }
    guard let file = table.file else { return try self.disk.remove(table.path, if: isExpected) }
    return try self.disk.install(file, over: isExpected)
  }

  /// Takes the new files, as they are now, into the state.
  private func updateFiles(_ installed: inout [StagedTable]) {
    for index in installed.indices {
      // The checkpoint is done. If a file's stamp cannot be read, the file is read again next time.
      installed[index].stamp = installed[index].file.flatMap { try? disk.disk.stamp(of: $0) }
    }
    state.withLock { state in
      for table in installed {
        let (key, version) = (table.key, table.version)
        if table.origin == .repair {
          _ = state.setFile(FileContent(version), at: table.path, table.stamp, of: key)
        }
        state.continueFile(
          version, through: table.source.through, at: table.path, table.stamp, of: key, isDurable: true
        )
      }
    }
  }

  /// Adds to the journal the versions that the files are about to have, in the same way as a commit, and syncs it.
  func appendCheckpoint(_ checkpoint: JournalCheckpoint) throws(StoreError) {
    let journal = try writeFrame(.checkpoint, checkpoint.payload)
    try updateState(after: journal) { state throws(PayloadFault) in
      try state.add(checkpoint, at: journal.sequence)
    }
    try onDisk(syncJournal(journal))
  }

  /// Adds to the journal what a checkpoint has done. Once the journal is synced, if another program saves one of these
  /// files, only commits after the checkpoint count as waiting for it.
  /// - Returns: the journal, which is not synced yet; `nil` if there was nothing to add.
  private func writeWritten(_ installed: [StagedTable]) throws(StoreError) -> Journal? {
    if installed.isEmpty { return nil }
    let inode = state.withLock(\.journal).flatMap { Int64(exactly: $0.inode) }
    let done = WrittenFiles(
      files: Dictionary(
        uniqueKeysWithValues: installed.map { ($0.key, WrittenFiles.File(known: $0.known)) }),
      journal: inode)
    let journal = try writeFrame(.written, done.payload)
    return try updateState(after: journal) { state throws(PayloadFault) in
      try state.settle(done, at: journal.sequence)
      return journal
    }
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

  private func discard(_ staged: [StagedTable]) {
    for file in staged.compactMap(\.file) { disk.discard(file) }
  }

  /// Writes down where the records of large new files are, for those who do not read the files as a whole.
  private func replaceOffsets(of installed: [StagedTable]) {
    for table in installed {
      if let stamp = table.stamp, let offsets = table.offsets, mayStayUnread(stamp) {
        let known = KnownOffsets(stamp: stamp, version: table.version, offsets: offsets)
        folder.writeOffsets(known, table.lookups, of: table.key)
      } else if table.base.size >= options.leastUnread {
        folder.forgetOffsets(of: table.key)
      }
    }
  }
}

// MARK: - Repair

extension FileLog {
  /// Writes the file of a repaired table. As after a checkpoint, no commit waits for it any longer. So if somebody
  /// restores an older file, the commits that the repair left out do not come back. Call it with both locks.
  /// - Returns: the ``TableVersion/lineage`` of the repaired table.
  func installRepair(
    of key: TableKey, by state: TableState, repairing former: FileVersion
  ) throws(StoreError) -> Int {
    try removeLeftovers()
    let repaired = TableVersion(state: state, lineage: 0, through: self.state.withLock(\.lastSequence))
    let staged = try StagedTable(
      key, repaired, of: former, .repair, in: folder, salt: self.state.withLock(\.salt))
    do throws(StoreError) {
      try readBack(staged)
      let (installed, conflicts) = try replaceFiles([staged])
      if let conflict = conflicts[key] { throw conflict }
      if let journal = try writeWritten(installed) { try onDisk(syncJournal(journal)) }
      replaceOffsets(of: installed)
    } catch {
      discard([staged])
      throw error
    }
    return self.state.withLock { $0.files[key]?.lineage ?? 0 }
  }

  /// Reads back what a repair wrote, before it takes the file's name.
  private func readBack(_ table: StagedTable) throws(StoreError) {
    guard let file = table.file else { return }
    let bytes = try disk.read(file)
    let name = table.key.text
    guard FileVersion(bytes) == table.version else {
      throw StoreError(
        .inputOutput, "what was written cannot be read back; the file is as it was",
        file: table.path, table: name)
    }
    _ = try TableFile.decode(
      bytes, file: table.path, table: name, limits: options.limits, shape: options.shape)
  }
}
