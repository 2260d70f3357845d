import FileDBEssentials
import FileDBPlist
import FileDBStorage
import FileDBTables

/// Used for a folder that follows a log shared by several machines. Its journal takes over the commits of that log,
/// with their numbers.
extension FileLog {
  /// The number of the last commit, as far as the journal was read.
  package var end: UInt64 { state.withLock(\.lastSequence) }

  /// The last commit, as far as the journal was read, and its token if that is known.
  package var last: (sequence: UInt64, token: CommitToken?) { state.withLock(\.last) }

  /// Takes over the commits after ``end``. They are not synced, because the log that they come from keeps them.
  ///
  /// Call it within ``whileLocked(timeout:_:)``.
  /// - Parameter undo: what each commit means for this folder's undo log.
  /// - Complexity: that of the changes. In addition, this looks at the file of each table, and reads it if it is
  ///   unknown.
  package func take(
    _ commits: [LoggedCommit], undo: (CommitToken?) -> UndoEffect
  ) throws(StoreError) {
    for table in Set(commits.flatMap(\.tables.keys)) {
      let known = state.withLock { $0.files[table]?.lineage }
      if let known, try isCurrent(known, of: table) { continue }
      // The journal then records the file on which to carry out the commits.
      _ = try readUntilStable(table)
    }
    for commit in commits {
      guard commit.sequence == end + 1 else {
        throw damage("commit \(commit.sequence) does not follow commit \(end)")
      }
      let tables = state.withLock {
        $0.tables(commit.tables.keys, forCommitAfter: commit.sequence - 1)
      }
      let own = JournalCommit(
        date: commit.date, token: commit.token, undo: undo(commit.token), tables: tables,
        changes: commit.changes)
      let (journal, byteCount, records) = try writeCommit(own)
      try updateState(after: journal) { state throws(PayloadFault) in
        _ = try state.add(
          own, sequence: journal.sequence, byteCount: byteCount, recordsFile: records)
      }
    }
  }
}

extension FileLog {
  /// How long to wait for other processes.
  package var lockTimeout: Duration { options.lockTimeout }

  /// Whether the file of a table includes all commits, as far as the journal was read.
  package func hasWholeFile(of table: TableKey) -> Bool { state.withLock { $0.pending[table] == nil } }

  /// The last commit that the file of a table includes, as far as the journal was read; `nil` if that is not known.
  package func lastCommitInFile(of table: TableKey) -> UInt64? {
    state.withLock { $0.pending[table] == nil ? $0.lastSequence : $0.written[table]?.known.through }
  }

  /// Replaces everything in the folder with other tables. Until all of them are here, readers get the former ones.
  ///
  /// If this crashes while it renames files, some of them are new, and the folder has to start over again. Call it
  /// within ``whileLocked(timeout:_:)``.
  /// - Parameter bases: passes on each table, and dropped tables for their counters. It may begin again, and pass them
  ///   on a second time. Returns the last commit that they include, and its token if it is known.
  package func startOver(
    with bases: (_ take: (TableKey, TableState) throws(StoreError) -> Void) throws(StoreError)
      -> (sequence: UInt64, token: CommitToken?)
  ) throws(StoreError) {
    var tables = TablesOfSharedLog(folder: folder)
    let last: (sequence: UInt64, token: CommitToken?)
    var folders: Set<String> = []
    do throws(StoreError) {
      last = try bases { table, state throws(StoreError) in try tables.stage(table, state) }
      try folder.keepCounters(tables.counters)
      // From here on, the journal knows both versions of each file. The new ones include all of its commits.
      try appendCheckpoint(tables.checkpoint(at: end))
      for file in tables.files.values { folders.insert(try disk.install(file)) }
    } catch {
      for file in tables.files.values { disk.discard(file) }
      throw error
    }
    try sync(folders)
    for name in try tables.removed() { try disk.remove(folder.file(of: name).path) }
    try disk.syncFolder(folder.path)
    let journal = try disk.stageJournal(
      folder.journalFile, after: last.sequence, lastToken: last.token)
    try sync([disk.install(journal)])
    try state.withLock { state throws(StoreError) in
      state.journal = nil
      state.forgetFiles()
      try readOn(&state)
      state.isNameSynced = true
    }
  }
}

/// The tables of a shared log. Their files are written and synced, but do not have their names yet.
private struct TablesOfSharedLog {
  let folder: StoreFolder
  private(set) var files: [TableKey: StagedFile] = [:]
  private(set) var counters: [TableKey: Int64] = [:]
  private var versions: [TableKey: FileVersion] = [:]

  init(folder: StoreFolder) { self.folder = folder }

  mutating func stage(_ table: TableKey, _ state: TableState) throws(StoreError) {
    if let former = files.removeValue(forKey: table) { folder.disk.discard(former) }
    (versions[table], counters[table]) = (nil, state.exists ? nil : state.counter)
    guard state.exists else { return }
    let bytes = TableFile.encode(state)
    let (path, mode) = try (folder.file(of: table.text).path, folder.modeOfNewTables())
    files[table] = try folder.disk.stage(path, mostOpen: mode) { file throws(DiskError) in
      try file.append(bytes)
    }
    versions[table] = FileVersion(bytes)
  }

  /// The names of the tables in the folder that the log does not have.
  func removed() throws(StoreError) -> [String] {
    try folder.tableNames().filter { files[TableKey($0)] == nil }
  }

  /// - Parameter sequence: the last commit in the journal.
  func checkpoint(at sequence: UInt64) throws(StoreError) -> JournalCheckpoint {
    let removed = Dictionary(uniqueKeysWithValues: try removed().map { (TableKey($0), FileVersion.absent) })
    return JournalCheckpoint(
      files: versions.merging(removed) { $1 }.mapValues {
        JournalCheckpoint.File(new: KnownVersion(version: $0, through: sequence), isRepaired: true)
      })
  }
}

// MARK: - Commits on their way between machines

extension NewCommit {
  /// The commit as the payload that <doc:Journal> describes, without the parts about files.
  /// - Parameter body: called with the range of each record and each schema in the payload, in order.
  package func payload(forEachElement body: (Range<Int>) -> Void = { _ in }) -> [UInt8] {
    JournalCommit(
      date: date, token: token, undo: undo,
      tables: tables.mapValues { _ in JournalCommit.Table(sequence: position, base: nil) }, changes: changes
    ).payload(forEachElement: body)
  }
}

extension TableState {
  /// A table of a log that stores records in the same bytes as its commits.
  package init(counter: Int64, records: [EncodedRecord], schema: [UInt8]?) {
    var keys = PlistDictionary()
    schema?.withUnsafeBytes { bytes in
      let reader = CanonicalReader(bytes)
      keys[TableFile.schemaKey] = reader.element(indentation: 1).map { reader.value(of: $0) }
    }
    self.init(counter: counter, records: records, foreignKeys: keys)
  }
}

extension LoggedCommit {
  /// Reads what ``NewCommit/payload(forEachElement:)`` wrote.
  /// - Parameters:
  ///   - depth: the depth of the deepest record.
  ///   - lineage: the ``TableVersion/lineage`` of all tables that the log has now.
  /// - Throws: ``StoreError/Code/damagedJournal``.
  package init(payload: [UInt8], sequence: UInt64, depth: Int, lineage: Int = 0) throws(StoreError) {
    let commit: JournalCommit
    do throws(PayloadFault) {
      commit = try JournalCommit(payload: payload[...], depth: depth, records: nil)
    } catch {
      throw StoreError(.damagedJournal, "commit \(sequence) cannot be understood: \(error.message)")
    }
    self.init(
      sequence: sequence, date: commit.date, token: commit.token, changes: commit.changes,
      tables: commit.tables.mapValues { _ in lineage })
  }
}
