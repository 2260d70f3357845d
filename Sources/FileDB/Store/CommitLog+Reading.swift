import FileDBPlist
import FileDBStorage

extension CommitLog {
  /// Takes in what other processes committed since.
  /// - Throws: ``StoreError/damagedJournal``, and the disk's errors.
  func catchUp() throws(StoreError) {
    try state.withLock { state throws(StoreError) in try catchUp(&state) }
  }

  /// Reads a table from its file, and carries out what the journal adds to it.
  /// - Throws: ``StoreError/conflict`` where the file is none that the journal knows, and what decoding throws.
  func load(_ table: TableKey) throws(StoreError) -> CachedTable {
    while true {
      let (file, content) = try folder.readFile(of: table, limits: options.limits)
      let fileContent = content.map { FileContent($0.bytes) } ?? FileContent(.absent)
      let decoded: TableState
      do throws(StoreError) {
        decoded =
          try content.map { content throws(StoreError) in
            try TableFile.decode(
              content.bytes, file: file, table: table.text, limits: options.limits, shape: options.shape)
          } ?? TableState(shape: options.shape)
      } catch {
        try checkVersion(fileContent.version, of: table, file: file)
        throw error
      }
      var loaded = CachedTable(
        state: decoded, sequence: 0, file: file, content: fileContent, stamp: content?.stamp)
      if try complete(&loaded, of: table) { return loaded }
    }
  }

  /// Brings a table that was read up to the end of the journal.
  /// - Returns: false where its file was replaced since, so that file and journal may not belong together.
  private func complete(_ table: inout CachedTable, of key: TableKey) throws(StoreError) -> Bool {
    try state.withLock { state throws(StoreError) in
      try catchUp(&state)
      let (file, status) = try folder.file(of: key.text)
      guard file == table.file, FileStamp.areSame(status?.stamp, table.stamp) else { return false }
      table.sequence = state.journal?.sequence ?? 0
      if let pending = state.pending[key] {
        guard let inFile = pending.lastCommit(in: table.version) else { throw conflict(key, table.file) }
        try replay(pending.commits.filter { $0.sequence > inFile }, onto: &table.state, of: key)
      }
      show { $0.put([key: table]) }
      return true
    }
  }

  private func replay(
    _ commits: [PendingTable.Commit], onto state: inout TableState, of table: TableKey
  ) throws(StoreError) {
    for commit in commits {
      do throws(StoreError) {
        for change in commit.changes { try state.apply(change) }
      } catch {
        throw damage("commit \(commit.sequence) does not fit the table: \(error.message)", table: table)
      }
    }
  }

  private func checkVersion(_ version: FileVersion, of table: TableKey, file: String) throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      try catchUp(&state)
      if let pending = state.pending[table], pending.lastCommit(in: version) == nil {
        throw conflict(table, file)
      }
    }
  }

  func catchUp(_ state: inout State) throws(StoreError) {
    do throws(StoreError) {
      for frame in try newFrames(&state) { try take(frame, &state) }
    } catch {
      state.journal = nil  // To be read from the start, and found damaged again.
      throw error
    }
  }

  private func newFrames(_ state: inout State) throws(StoreError) -> [JournalFrame] {
    let isCurrent = try onDisk { () throws(DiskError) in
      try state.journal?.isCurrent(on: folder.disk) ?? false
    }
    if isCurrent { return try onJournal { () throws(JournalError) in try state.journal?.readOn() ?? [] } }
    // Another process made a checkpoint: what was pending is in the files, perhaps with more.
    let former = state.pending.keys
    let opened = try onJournal { () throws(JournalError) in
      try Journal.open(folder.journalFile, on: folder.disk)
    }
    let start = opened?.frames.first?.sequence ?? 0
    show { $0.restart(at: start, stale: former) }
    state.pending = [:]
    state.journal = opened?.journal
    state.isNameSynced = false
    if opened != nil { state.journalCount += 1 }
    return opened?.frames ?? []
  }

  private func take(_ frame: JournalFrame, _ state: inout State) throws(StoreError) {
    do throws(PayloadFault) {
      switch frame.kind {
      case .start: break
      case .checkpoint: state.pending.note(try LoggedCheckpoint(payload: frame.payload), at: frame.sequence)
      case .commit:
        let commit = try LoggedCommit(payload: frame.payload, depth: options.limits.depth)
        try state.pending.note(commit, sequence: frame.sequence, byteCount: frame.payload.count)
        follow(commit, sequence: frame.sequence, state.pending)
      }
    } catch {
      throw damage("frame \(frame.sequence) cannot be understood: \(error.message)", table: nil)
    }
  }

  /// Brings the tables in memory up to a commit of another process, all at once.
  private func follow(_ commit: LoggedCommit, sequence: UInt64, _ pending: [TableKey: PendingTable]) {
    var followed: [TableKey: CachedTable] = [:]
    for table in commit.tables {
      guard var known = newest(table), let pending = pending[table] else { continue }
      known.follow(commit, sequence: sequence, of: table, in: pending)
      followed[table] = known
    }
    show { $0.put(followed) }
  }

  private func conflict(_ table: TableKey, _ file: String) -> StoreError {
    StoreError(
      StoreError.conflict,
      "another program changed this file while commits were waiting in the journal; 'filedb repair --keep' settles it",
      file: file, table: table.text)
  }

  func damage(_ message: String, table: TableKey?) -> StoreError {
    StoreError(StoreError.damagedJournal, message, file: folder.journalFile, table: table?.text)
  }
}
