import FileDBPlist
import FileDBStorage
import FileDBTables

extension FileLog {
  package func commits(after sequence: UInt64) throws(StoreError) -> LogNews {
    try state.withLock { state throws(StoreError) in
      try readOn(&state)
      guard sequence >= state.start else { return .forgotten(upTo: state.start) }
      guard sequence <= state.end else { return .forgotten(upTo: state.end) }
      // The numbers of commits have no gaps.
      return .commits(Array(state.commits.dropFirst(Int(sequence - state.start))))
    }
  }

  package func base(of table: TableKey, unless known: Int?) throws(StoreError) -> TableBase? {
    if let known, try isCurrent(known, of: table) { return nil }
    while true { if let base = try readBase(of: table) { return base } }
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
    return try folder.tablesWithKeptCounters().union(dropped).subtracting(present)
  }

  /// The tables that are created or dropped by the commits that can still be read.
  private func existenceInDamagedJournal() throws(StoreError) -> [TableKey: Bool] {
    let bytes = try disk.read(folder.journalFile).bytes
    guard let salvage = try? disk.salvageJournal(bytes, path: folder.journalFile) else { return [:] }
    var existence: [TableKey: Bool] = [:]
    for frame in salvage.frames {
      if frame.kind == .written, let written = try? written(in: frame) {
        for table in written.files.keys { existence[table] = nil }
      }
      guard frame.kind == .commit, let commit = try? commit(in: frame, format: salvage.format).commit else {
        continue
      }
      for change in commit.changes where StoreFolder.isAllowed(change.table) {
        switch change.change {
        case .create: existence[change.table] = true
        case .drop: existence[change.table] = false
        default: break
        }
      }
    }
    return existence
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
          throw StoreError(.damagedJournal, "the records of a commit are missing", file: error.file)
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
    if opened != nil { folder.noteOwnFolder() }
    let start = opened?.frames.first?.sequence ?? 0
    if start < state.end, opened?.journal.salt != state.salt { state.forgetFiles() }
    begin(opened?.journal, after: start, &state)
    return opened?.frames ?? []
  }

  /// Switches to another journal, from which no commit has been taken yet.
  func begin(_ journal: Journal?, after start: UInt64, _ state: inout State) {
    state.journal = journal
    if let journal { state.salt = journal.salt }
    state.start = start
    state.commits = []
    state.undoHead = journal?.undoStep.flatMap { CommitToken(text: $0) }
    state.pending = [:]
    // A table without a file may have existed in the meantime, and may have another counter.
    state.files = state.files.filter { $0.value.stamp != nil }
    (state.writtenFiles, state.isNameSynced, state.hasRecordsFiles) = ([:], false, false)
  }

  private func take(_ frame: JournalFrame, _ state: inout State) throws(StoreError) {
    let format = state.journal?.format ?? JournalStart.newestFormat
    switch frame.kind {
    case .start: break
    case .checkpoint: state.pending.add(try checkpoint(in: frame, format: format), at: frame.sequence)
    case .commit:
      let (commit, byteCount, recordsFile) = try commit(in: frame, format: format)
      try understanding(frame) { () throws(PayloadFault) in
        try state.pending.add(commit, sequence: frame.sequence, byteCount: byteCount)
      }
      state.commits.append(state.logged(commit, sequence: frame.sequence))
      state.noteUndo(commit)
      if recordsFile != nil { state.hasRecordsFiles = true }
    case .written:
      let written = try written(in: frame)
      state.settle(written)
      // A table without a file may have existed in the meantime, and may have another counter.
      for table in written.files.keys where state.files[table]?.stamp == nil { state.files[table] = nil }
    }
  }

  /// The commit in a frame, its length in bytes, including its file of records, and that file.
  func commit(
    in frame: JournalFrame, format: Int
  ) throws(StoreError) -> (commit: JournalCommit, byteCount: Int, recordsFile: RecordsFile?) {
    let file = try understanding(frame) { () throws(PayloadFault) in
      format == 1 ? nil : try JournalCommit.recordsFile(of: frame.payload)
    }
    let records = try file.map { file throws(StoreError) in try folder.readRecords(file) }
    let depth = options.limits.depth
    do throws(StoreError) {
      let commit = try understanding(frame) { () throws(PayloadFault) in
        try format == 1
          ? JournalFormat1.commit(frame.payload, depth: depth)
          : JournalCommit(payload: frame.payload, depth: depth, records: records)
      }
      return (commit, frame.payload.count + (file?.size ?? 0), file)
    } catch {
      // This limit is a setting of the program. It is not damage, so nobody may repair it.
      guard frame.payload.isIndented(by: depth) || records?[...].isIndented(by: depth) ?? false else {
        throw error
      }
      throw StoreError(PlistError(.tooDeep(limit: depth)), file: folder.journalFile, table: nil)
    }
  }

  func checkpoint(in frame: JournalFrame, format: Int) throws(StoreError) -> JournalCheckpoint {
    try understanding(frame) { () throws(PayloadFault) in
      try format == 1 ? JournalFormat1.checkpoint(frame.payload) : JournalCheckpoint(payload: frame.payload)
    }
  }

  func written(in frame: JournalFrame) throws(StoreError) -> WrittenFiles {
    try understanding(frame) { () throws(PayloadFault) in try WrittenFiles(payload: frame.payload) }
  }

  private func understanding<Result>(
    _ frame: JournalFrame, _ body: () throws(PayloadFault) -> Result
  ) throws(StoreError) -> Result {
    do { return try body() } catch {
      throw damage("frame \(frame.sequence) cannot be understood: \(error.message)")
    }
  }
}

extension FileLog.State {
  /// A commit of the journal in the form of ``LoggedCommit``.
  fileprivate func logged(_ commit: JournalCommit, sequence: UInt64) -> LoggedCommit {
    var tables: [TableKey: LoggedCommit.Former] = [:]
    for (table, former) in commit.tables {
      // The commit was made for the last content of the file. If a repair wrote it or a checkpoint took it over, the
      // table may already include it.
      let file = files[table].flatMap {
        former.sequence != nil && $0.content.version == pending[table]?.versions.last?.version ? $0 : nil
      }
      tables[table] = LoggedCommit.Former(base: file?.number)
    }
    return LoggedCommit(
      sequence: sequence, date: commit.date, token: commit.token, changes: commit.changes, tables: tables)
  }
}

// MARK: - A table's file

extension FileLog {
  /// Whether a table still has the file that was read.
  private func isCurrent(_ number: Int, of table: TableKey) throws(StoreError) -> Bool {
    let (known, journal) = state.withLock { ($0.files[table], $0.journal) }
    guard let known, known.number == number else { return false }
    let (path, status) = try folder.file(of: table.text)
    switch (known.stamp, status?.stamp) {
    // If another folder took the place of the store's, this is another table.
    case (nil, nil):
      return try journal.map { journal throws(StoreError) in try disk.isCurrent(journal) } ?? true
    case (let old?, let new?): return path == known.path && new.provesUnchanged(since: old)
    default: return false
    }
  }

  /// - Returns: `nil` if the file was replaced in the meantime. Then file and journal may not belong together.
  private func readBase(of key: TableKey) throws(StoreError) -> TableBase? {
    let read = try readFile(of: key)
    return try state.withLock { state throws(StoreError) in
      try readOn(&state)
      let (file, status) = try folder.file(of: key.text)
      guard file == read.path, FileStamp.areSame(status?.stamp, read.stamp) else { return nil }
      var (sequence, isMerged) = (state.journal?.sequence ?? 0, false)
      var merged: TableState?
      if let pending = state.pending[key] {
        if let start = pending.replayStart(of: read.content.version) {
          sequence = start
        } else {
          do throws(SaveConflict) {
            guard case .success(let saved) = read.table else { throw SaveConflict(records: []) }
            merged = try pending.carriedOut(on: saved, read.content.version)
          } catch {
            throw conflict(key, file, error.records)
          }
          (sequence, isMerged) = (state.end, true)
        }
      }
      let table = if let merged { merged } else { try read.table.get() }
      if let status, try folder.isOpenToMore(than: status) { folder.forgetMade() }
      let known = state.setFile(read.content, at: file, read.stamp, of: key)
      return TableBase(
        state: table, sequence: sequence, number: known.number, end: state.end, isMerged: isMerged)
    }
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
      state.commits.compactMap { commit in
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
      found += try commit(in: frame, format: JournalStart.newestFormat).commit.changes.count
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
