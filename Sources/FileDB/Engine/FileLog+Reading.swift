import FileDBPlist
import FileDBStorage
import FileDBTables

extension FileLog {
  package func commits(after sequence: UInt64) throws(StoreError) -> LogNews {
    try state.withLock { state throws(StoreError) in
      try readOn(&state)
      guard sequence >= state.start.sequence else { return .forgotten(upTo: state.start.sequence) }
      guard sequence <= state.lastSequence else { return .forgotten(upTo: state.lastSequence) }
      // The numbers of commits have no gaps.
      return .commits(Array(state.commits.dropFirst(Int(sequence - state.start.sequence))))
    }
  }

  package func base(of table: TableKey, unless known: TableVersion?) throws(StoreError) -> TableVersion? {
    if let known, try isCurrent(known.lineage, of: table), state.withLock({ $0.continues(known, of: table) })
    {
      return nil
    }
    return try readUntilStable(table)
  }

  package func tables() throws(StoreError) -> Set<TableKey> {
    var existence: [TableKey: Bool]
    do throws(StoreError) {
      try readOn()
      existence = state.withLock { $0.pending.compactMapValues(\.exists) }
    } catch {
      guard error.code == .damagedJournal else { throw error }
      existence = try existenceInDamagedJournal()
    }
    existence[TableKey(StoreFolder.installedTable)] = nil
    let files = try folder.tableNames().map(TableKey.init).filter { existence[$0] != false }
    return Set(files).union(existence.filter(\.value).keys)
  }

  package func droppedTables() throws(StoreError) -> Set<TableKey> {
    let present = try tables()
    let dropped = state.withLock { $0.pending.compactMapValues(\.exists) }.filter { !$0.value }.keys
    return try Set(folder.keptCounters().keys).union(dropped).subtracting(present)
  }

  /// The tables that are created or dropped by the commits that can still be read.
  private func existenceInDamagedJournal() throws(StoreError) -> [TableKey: Bool] {
    let bytes = try disk.read(folder.journalFile).bytes
    guard let journal = try? SalvagedJournal(bytes, of: self) else { return [:] }
    return journal.pending.compactMapValues(\.exists)
  }

  package func outcome(of token: CommitToken) throws(StoreError) -> CommitOutcome {
    try state.withLock { state throws(StoreError) in
      if state.failure != nil { return .unknown }
      try readOn(&state)
      return state.commits.contains { $0.token == token } ? .committed : .unknown
    }
  }

  /// Reads what other processes have committed since.
  /// - Throws: ``StoreError/Code/damagedJournal``, and the disk's errors.
  package func readOn() throws(StoreError) {
    try state.withLock { state throws(StoreError) in try readOn(&state) }
  }

  func readOn(_ state: inout State) throws(StoreError) {
    if state.isLocked, state.journal != nil { return }
    while true {
      do throws(StoreError) {
        for frame in try newFrames(&state) { try take(frame, &state) }
        return
      } catch {
        let journal = state.journal
        state.journal = nil  // Read it from the start next time, and report the damage again.
        guard error.code == .fileNotFound, let journal else { throw error }
        // A checkpoint of another process may have removed the file of records that a commit refers to.
        guard try !disk.isCurrent(journal) else {
          let mayArrive = error.file.map { folder.isOfOtherMachine(fileName(of: $0)) } ?? false
          throw StoreError(
            .damagedJournal,
            mayArrive
              ? "the records of a commit that another machine made are missing; they may not have arrived yet"
              : "the records of a commit are missing", file: error.file)
        }
      }
    }
  }

  private func newFrames(_ state: inout State) throws(StoreError) -> [JournalFrame] {
    if var journal = state.journal, let frames = try disk.readOn(&journal) {
      state.journal = journal
      return frames
    }
    // This is the first look, or another process made a checkpoint. Then the files include what was pending, and
    // perhaps more.
    let opened: (journal: Journal, frames: [JournalFrame])?
    do throws(StoreError) { opened = try disk.openJournal(folder.journalFile) } catch {
      throw folder.explaining(error)
    }
    if opened != nil { folder.setOwnFound() } else if try folder.isMovedOut { throw folder.storeGone }
    let frames = opened?.frames ?? []
    let isContinuation = opened.map { state.isContinued(by: $0.journal, frames, token: token) } ?? false
    if let opened, !isContinuation, !state.waiting.isEmpty, opened.journal.machine != disk.disk.machine,
      let former = state.journal
    {
      // The next write makes the journal one of this machine. After that, nobody could see that a sync service had
      // replaced it.
      try onDisk(keepIfLost(former.file))
    }
    let start = frames.first?.sequence ?? 0
    let last = state.lastSequence
    if !isContinuation, start < last || start == last && last > 0 { state.forgetFiles() }
    state.begin(opened?.journal, after: start, isContinuation: isContinuation)
    return frames
  }

  private func token(of frame: JournalFrame) -> CommitToken? { (try? commit(in: frame).commit)?.token }

  private func take(_ frame: JournalFrame, _ state: inout State) throws(StoreError) {
    state.pass(frame)
    switch frame.kind {
    case .start: break
    case .checkpoint:
      let checkpoint = try checkpoint(in: frame)
      try understanding(frame, state.add(checkpoint, at: frame.sequence))
    case .commit:
      let (commit, byteCount, file) = try commit(in: frame)
      _ = try understanding(
        frame, state.add(commit, sequence: frame.sequence, byteCount: byteCount, recordsFile: file))
    case .parked:
      let (table, commit, byteCount, file) = try parkedCommit(in: frame)
      state.park(commit, of: table, byteCount: byteCount, recordsFile: file)
    case .written:
      let written = try written(in: frame)
      for table in written.files.keys { try followFile(of: table, &state) }
      try understanding(frame, state.settle(written, at: frame.sequence))
    }
  }

  /// Takes over the file that a checkpoint of another process has written.
  private func followFile(of table: TableKey, _ state: inout State) throws(StoreError) {
    guard let known = state.files[table], StoreFolder.isAllowed(table) else { return }
    let (path, status) = try folder.file(of: table.text)
    if FileStamp.areSame(known.stamp, status?.stamp), known.stamp != nil { return }
    // If the table has no file, it may have been created and dropped since, and its counter may have risen.
    if !state.followFile(at: path, status?.stamp, of: table), known.stamp == nil { state.files[table] = nil }
  }

  /// The commit in a frame, its length in bytes, including its file of records, and that file.
  func commit(
    in frame: JournalFrame
  ) throws(StoreError) -> (commit: JournalCommit, byteCount: Int, recordsFile: RecordsFile?) {
    let file = try understanding(frame, JournalCommit.recordsFile(of: frame.payload))
    let records = try file.map { file throws(StoreError) in try folder.readRecords(file) }
    let depth = options.limits.depth
    do throws(StoreError) {
      let commit = try understanding(
        frame, JournalCommit(payload: frame.payload, depth: depth, records: records))
      return (commit, frame.payload.count + (file?.size ?? 0), file)
    } catch {
      // The program's limit refuses the record. The journal is not damaged, so it must not be repaired.
      guard frame.payload.isIndented(by: depth) || records?[...].isIndented(by: depth) ?? false else {
        throw error
      }
      throw StoreError(PlistError(.tooDeep(limit: depth)), file: folder.journalFile, table: nil)
    }
  }

  /// The commit in a parked frame, with only the changes of the table that is in conflict.
  func parkedCommit(
    in frame: JournalFrame
  ) throws(StoreError) -> (table: TableKey, commit: LoggedCommit, byteCount: Int, recordsFile: RecordsFile?) {
    let parked = try understanding(frame, ParkedCommit(frame.payload))
    let (commit, byteCount, file) = try self.commit(in: parked.frame)
    let logged = LoggedCommit(
      sequence: parked.sequence, date: commit.date, token: commit.token,
      changes: commit.changes.filter { $0.table == parked.table }, tables: [parked.table: nil])
    return (parked.table, logged, byteCount, file)
  }

  func checkpoint(in frame: JournalFrame) throws(StoreError) -> JournalCheckpoint {
    try understanding(frame, JournalCheckpoint(payload: frame.payload, sequence: frame.sequence))
  }

  func written(in frame: JournalFrame) throws(StoreError) -> WrittenFiles {
    try understanding(frame, WrittenFiles(payload: frame.payload, sequence: frame.sequence))
  }

  private func understanding<Result>(
    _ frame: JournalFrame, _ body: @autoclosure () throws(PayloadFault) -> Result
  ) throws(StoreError) -> Result {
    do { return try body() } catch {
      throw damage("frame \(frame.sequence) cannot be understood: \(error.message)")
    }
  }
}

extension FileLog.State {
  /// Whether a version is of the present lineage, and lacks only commits that the journal has.
  fileprivate func continues(_ known: TableVersion, of table: TableKey) -> Bool {
    guard let file = files[table], file.lineage == known.lineage else { return false }
    if known.through >= start.sequence { return true }
    // A table that was created and dropped has no file before and no file afterwards.
    guard file.stamp != nil, file.through <= known.through else { return false }
    // While the table was in conflict, commits to it may have been parked.
    let parked = pending[table]?.commits.prefix { $0.sequence <= start.sequence } ?? []
    return parked.allSatisfy { $0.sequence <= known.through }
  }
}

// MARK: - A table's file

extension FileLog {
  /// Whether a table still has the file that was read, or one that a checkpoint has made of it.
  func isCurrent(_ lineage: Int, of table: TableKey) throws(StoreError) -> Bool {
    guard state.withLock({ $0.files[table]?.lineage == lineage }) else { return false }
    let (path, status) = try folder.file(of: table.text)
    return try state.withLock { state throws(StoreError) in
      guard let known = state.files[table], known.lineage == lineage else { return false }
      switch (known.stamp, status?.stamp) {
      // If another folder has taken the place of the store's folder, this is another table.
      case (nil, nil):
        return try state.journal.map { journal throws(StoreError) in try disk.isCurrent(journal) } ?? true
      case (let old?, let new?) where path == known.path && new.provesUnchanged(since: old): return true
      default:
        // A checkpoint that is still going on has named the new file in the journal.
        try readOn(&state)
        return state.files[table]?.lineage == lineage && state.followFile(at: path, status?.stamp, of: table)
      }
    }
  }

  /// A table's file with the journal's commits.
  func readUntilStable(_ table: TableKey) throws(StoreError) -> TableVersion {
    while true { if let version = try readFileAndReplay(of: table) { return version } }
  }

  /// - Returns: `nil` if the file was replaced in the meantime. Then the file and the journal may not belong together.
  private func readFileAndReplay(of key: TableKey) throws(StoreError) -> TableVersion? {
    let read = try readFile(of: key)
    let found: (lineage: Int, pending: PendingTable?, through: UInt64)? = try state.withLock {
      state throws(StoreError) in
      try readOn(&state)
      let (file, status) = try folder.file(of: key.text)
      guard file == read.path, FileStamp.areSame(status?.stamp, read.stamp) else { return nil }
      if let status, try folder.isOpenToMore(than: status) { folder.checkAgain() }
      let known = state.setFile(read.content, at: file, read.stamp, of: key)
      return (known.lineage, state.pending[key], state.lastSequence)
    }
    guard let found else { return nil }
    let state =
      if let pending = found.pending { try replay(pending, on: read, of: key) } else { try read.table.get() }
    return TableVersion(state: state, lineage: found.lineage, through: found.through)
  }

  /// A table's file with the commits that wait.
  private func replay(
    _ pending: PendingTable, on read: ReadFile, of key: TableKey
  ) throws(StoreError) -> TableState {
    guard let start = pending.replayStart(of: read.content.version) else {
      do throws(SaveConflict) {
        guard case .success(let saved) = read.table else { throw SaveConflict(records: []) }
        return try pending.carriedOut(on: saved, read.content.version)
      } catch {
        throw conflict(key, read.path, error.records)
      }
    }
    var table = try read.table.get()
    for commit in pending.commits where commit.sequence > start {
      do throws(StoreError) { for change in commit.changes { try table.apply(change) } } catch {
        throw damage("commit \(commit.sequence) does not fit the table: \(error.message)", table: key)
      }
    }
    return table
  }

  func conflict(_ table: TableKey, _ file: String, _ records: [AnyRecordID] = []) -> StoreError {
    let named = records.prefix(20).map(\.description).joined(separator: ", ")
    let more = records.count > 20 ? " and \(records.count - 20) more" : ""
    // A single record is named at the beginning of the message.
    let what = records.count > 1 ? "this file (records \(named)\(more))" : "this file"
    var error = StoreError(
      .conflict,
      "another program changed \(what) while commits were waiting in the journal; 'filedb repair --keep' settles it",
      file: file, table: table.text)
    if records.count == 1 { error.record = records[0] }
    return error
  }

  /// What is wrong with a journal that can be read: a commit that cannot be carried out, or no number for another
  /// commit. `nil` if nothing is wrong.
  func misfit() throws(StoreError) -> StoreError? {
    if let fault = numberFault { return fault }
    for table in state.withLock({ $0.pending.keys.sorted() }) {
      guard StoreFolder.isAllowed(table) else {
        return damage("a commit changes '\(table.text)', which is not a table's name")
      }
      do throws(StoreError) { _ = try readUntilStable(table) } catch  where error.code == .damagedJournal {
        return error
      } catch {
        // The table's file is what is wrong. Repairing the journal would not help.
      }
    }
    return nil
  }

  /// Whether the commits of a table cannot be carried out on its file.
  func isInConflict(_ table: TableKey) throws(StoreError) -> Bool {
    do throws(StoreError) {
      _ = try base(of: table, unless: nil)
    } catch  where error.code == .conflict {
      return true
    } catch {
      // The file or a commit is damaged. That is reported elsewhere.
    }
    return false
  }
}

extension FileLog {
  /// The commits in the journal that are not in their tables' files yet, with only the changes of such tables. Reads
  /// the journal from the beginning.
  /// - Throws: ``StoreError/Code/damagedJournal``, and the disk's errors.
  package func waitingCommits() throws(StoreError) -> [LoggedCommit] {
    let fresh = FileLog(folder, options: options)
    try fresh.readOn()
    return fresh.state.withLock { state in
      (state.parked + state.commits).compactMap { commit in
        let changes = commit.changes.filter { change in
          state.pending[change.table]?.commits.first.map { $0.sequence <= commit.sequence } ?? false
        }
        if changes.isEmpty { return nil }
        return LoggedCommit(
          sequence: commit.sequence, date: commit.date, token: commit.token, changes: changes,
          tables: commit.tables)
      }
    }
  }

  /// Reads back the journal that a repair wrote, before it takes the journal's name.
  func readBack(_ journal: StagedFile, changeCount: Int) throws(StoreError) {
    let bytes = try disk.read(journal)
    let scan = JournalScan(bytes, at: 0, after: nil)
    var found = 0
    for frame in scan.frames.map(\.frame) where frame.kind == .commit {
      found += try commit(in: frame).commit.changes.count
    }
    let isWhole = scan.frames.first?.frame.kind == .start && bytes.count >= Journal.allocation
    if scan.damage == nil, isWhole, found == changeCount { return }
    throw StoreError(
      .inputOutput, "what was written cannot be read back; the journal is as it was",
      file: folder.journalFile)
  }
}

extension ArraySlice<UInt8> {
  /// Whether a line begins with this many tabs.
  fileprivate func isIndented(by count: Int) -> Bool {
    split(separator: UInt8(ascii: "\n")).contains { $0.prefix { $0 == UInt8(ascii: "\t") }.count >= count }
  }
}
