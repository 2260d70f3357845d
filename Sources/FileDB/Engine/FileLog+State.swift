import FileDBStorage
import FileDBTables

extension FileLog {
  /// What a process knows of a folder: the journal as far as it has read it, and the tables' files.
  struct State {
    var journal: Journal?
    /// The salt of the journal that was read last.
    var salt: UInt32 = 0
    /// The last commit before the journal, and its token if it is known.
    var start: (sequence: UInt64, token: CommitToken?) = (0, nil)
    /// The commits in the journal.
    private(set) var commits: [LoggedCommit] = []
    /// Where the frame of each of them ends.
    private var commitEnds: [Int] = []
    /// Where the last frame ends that this state includes.
    private var end = 0
    /// The commits from earlier journals that wait because their table is in conflict.
    private(set) var parked: [LoggedCommit] = []
    /// Their length, with their records. It does not count for the length of the journal, because the next journal has
    /// these commits as well.
    private(set) var parkedBytes = 0
    /// The files of records that commits of the journal refer to, by the commit's number.
    private(set) var recordsFiles: [(sequence: UInt64, file: RecordsFile)] = []
    /// The newest step of the undo log.
    var undoHead: CommitToken?
    /// The commits that wait, by table.
    private(set) var pending: [TableKey: PendingTable] = [:]
    /// The tables' files, as last read or written.
    var files: [TableKey: KnownFile] = [:]
    private var lastLineage = 0
    /// What the last checkpoint of each table has written, according to the journal.
    private(set) var written: [TableKey: WrittenFiles.File] = [:]
    /// Whether the journal's name is durable: either this process has synced the folder since it saw this journal
    /// there, or the journal says that another process has.
    var isNameSynced = false
    /// Whether this process holds the store's lock, so that nobody else adds to the journal.
    var isLocked = false
    /// Commits of this process that wait for their sync.
    var waiting: [FileTicket] = []
    /// Why a sync failed. The system reports this once and may have dropped the bytes, so a later sync that succeeds
    /// proves nothing: see https://wiki.postgresql.org/wiki/Fsync_Errors.
    var failure: DiskError?
  }

  /// A table's file as it was read or written, without the commits in the journal.
  struct KnownFile {
    /// The same for this content and for what checkpoints make of it; see ``TableVersion/lineage``.
    let lineage: Int
    let path: String
    let content: FileContent
    /// `nil` if there is no file.
    let stamp: FileStamp?
    /// The file includes at least the commits up to this one. A table that was read from a former file of the lineage
    /// may lack some of them, and must get these from the journal.
    var through: UInt64 = 0
    /// Whether this process has made the file and its name durable.
    var isDurable = false
    /// Whether a checkpoint has replaced this file since, as far as the journal was read. Then a file with the same
    /// content is another one: somebody has put it back, and it lacks the commits since.
    var isReplaced = false
  }
}

/// How long a journal is, and the files that it changes, in bytes.
package struct JournalSizes: Sendable {
  package let journal: Int
  package let files: Int
  package let largestFile: Int

  /// A journal with its files of records that is longer than this is written into all files, also into the large ones.
  var limit: Int { min(max(largestFile / 8, 4 << 20), 32 << 20) }
}

extension FileLog.State {
  /// The number of the last commit that is known.
  var lastSequence: UInt64 { start.sequence + UInt64(commits.count) }

  /// The last commit that is known, and its token if that is known.
  var last: (sequence: UInt64, token: CommitToken?) {
    commits.last.map { ($0.sequence, $0.token) } ?? start
  }

  var sizes: JournalSizes {
    // Nobody checks the sizes that a journal names.
    let sizes = pending.values.map { $0.versions.first?.version.size ?? 0 }
    let files = sizes.reduce(0) { sum, size in
      let (larger, isTooLarge) = sum.addingReportingOverflow(size)
      return isTooLarge ? .max : larger
    }
    let records = recordsFiles.reduce(0) { $0 &+ $1.file.size }
    return JournalSizes(
      journal: (journal?.end ?? 0) &+ records &- parkedBytes, files: files, largestFile: sizes.max() ?? 0)
  }

  /// The length of the journal's frames after a commit.
  func byteCount(after sequence: UInt64) -> Int {
    guard sequence > start.sequence else { return end }
    return end - commitEnds[Int(sequence - start.sequence) - 1]
  }

  // MARK: The journal

  /// Switches to another journal, of which no frames have been taken over yet.
  /// - Parameter isContinuation: whether it has the same commits as the one before, as far as both have any.
  mutating func begin(_ journal: Journal?, after start: UInt64, isContinuation: Bool) {
    self.journal = journal
    if let journal { salt = journal.salt }
    self.start = (start, journal?.lastToken.flatMap { CommitToken(text: $0) })
    undoHead = journal?.undoStep.flatMap { CommitToken(text: $0) }
    (commits, commitEnds, end, parked, parkedBytes, recordsFiles) = ([], [], 0, [], 0, [])
    // Nobody knows what became of the commits that waited. And a table without a file may have been created and dropped
    // since, with another counter.
    if !isContinuation { files = files.filter { $1.stamp != nil && pending[$0] == nil } }
    (pending, written, isNameSynced) = ([:], [:], false)
  }

  /// Forgets all files, because another process removed or replaced the journal. Even a table that still has no file
  /// may have had one since.
  mutating func forgetFiles() { files = [:] }

  /// Whether another journal continues the one that was read: it has the last commit that was read.
  func isContinued(by journal: Journal, _ frames: [JournalFrame], token: (JournalFrame) -> CommitToken?)
    -> Bool
  {
    let (sequence, known) = last
    guard let start = frames.first?.sequence, (start...journal.sequence).contains(sequence) else {
      return false
    }
    let frame = frames.first { $0.kind == .commit && $0.sequence == sequence }
    let found = start == sequence ? journal.lastToken.flatMap { CommitToken(text: $0) } : frame.flatMap(token)
    if let known, let found { return known == found }
    return journal.salt == salt
  }

  /// Takes over a journal to which a frame was written. Other syncs may have ended in the meantime.
  mutating func take(_ changed: Journal) {
    let synced = journal?.synced ?? 0
    journal = changed
    journal?.didSync(through: synced)
    end = changed.end
  }

  /// Moves on to the end of a frame that was read.
  mutating func pass(_ frame: JournalFrame) { end += JournalFrame.paddedCount(frame.payload.count) }

  /// Adds a commit at the journal's end, also to those that wait.
  /// - Parameters:
  ///   - sequence: its number.
  ///   - byteCount: its length in the journal, with its records.
  ///   - recordsFile: the file with its records, if it has one.
  /// - Returns: the commit as readers of the log get it.
  /// - Throws: if the commit was made for another state of the tables.
  mutating func add(
    _ commit: JournalCommit, sequence: UInt64, byteCount: Int, recordsFile: RecordsFile?
  ) throws(PayloadFault) -> LoggedCommit {
    try addToPending(commit, sequence: sequence, byteCount: byteCount)
    if let recordsFile { recordsFiles.append((sequence, recordsFile)) }
    let logged = LoggedCommit(
      sequence: sequence, date: commit.date, token: commit.token, changes: commit.changes,
      tables: commit.tables.reduce(into: [:]) { $0[$1.key] = lineage(of: $1.key, asFor: $1.value) })
    commits.append(logged)
    commitEnds.append(end)
    switch commit.undo {
    case .none: break
    case .step: undoHead = commit.token
    case .end: undoHead = nil
    }
    return logged
  }

  /// The lineage of the table that a commit was made for: the present file's, or that of one that a checkpoint made of
  /// it. If a repair wrote the commit, the table may already include it.
  private func lineage(of table: TableKey, asFor former: JournalCommit.Table) -> Int? {
    guard let file = files[table], former.sequence != nil,
      pending[table]?.lastCommit(in: file.content.version) != nil
    else { return nil }
    return file.lineage
  }

  /// What a commit after the one with this number says of the tables that it changes.
  func tables(
    _ keys: some Sequence<TableKey>, forCommitAfter sequence: UInt64
  ) -> [TableKey: JournalCommit.Table] {
    var tables: [TableKey: JournalCommit.Table] = [:]
    for table in keys {
      let version = files[table]?.content.version ?? .absent
      let isKnown = pending[table]?.lastCommit(in: version) != nil
      tables[table] = JournalCommit.Table(sequence: sequence, base: isKnown ? nil : version)
    }
    return tables
  }

  /// Adds a commit to those that wait.
  private mutating func addToPending(
    _ commit: JournalCommit, sequence: UInt64, byteCount: Int
  ) throws(PayloadFault) {
    // A checkpoint has written some of the commits that a journal begins with.
    let tables = commit.tables.filter { sequence > written[$0.key]?.known.through ?? 0 }
    for (table, former) in tables {
      if let base = former.base {
        forgetReplacedFile(of: table)
        if pending[table] == nil {
          pending[table] = PendingTable(versions: [KnownVersion(version: base, through: sequence - 1)])
        } else {
          pending[table]?.adopt(saved: base)
        }
      } else if pending[table] == nil {
        guard let written = written[table] else {
          throw PayloadFault(message: "it does not say which file of '\(table.text)' it changes")
        }
        pending[table] = PendingTable(written)
      }
      if let former = former.sequence, let last = pending[table]?.commits.last, last.sequence > former {
        throw PayloadFault(message: "it was made for '\(table.text)' as of commit \(former)")
      }
    }
    for table in tables.keys {
      let changes = commit.changes.filter { $0.table == table }
      pending[table]?.append(
        PendingTable.Commit(sequence: sequence, changes: changes, byteCount: byteCount))
    }
  }

  /// Adds a commit to a table that is in conflict.
  mutating func park(_ commit: LoggedCommit, of table: TableKey, byteCount: Int, recordsFile: RecordsFile?) {
    if pending[table] == nil { pending[table] = written[table].map { PendingTable($0) } ?? PendingTable() }
    pending[table]?.append(
      PendingTable.Commit(sequence: commit.sequence, changes: commit.changes, byteCount: byteCount))
    parked.append(commit)
    parkedBytes += byteCount
    if let recordsFile { recordsFiles.append((commit.sequence, recordsFile)) }
  }

  /// Adds the versions that the files may have after a checkpoint has begun.
  mutating func add(_ checkpoint: JournalCheckpoint, at sequence: UInt64) throws(PayloadFault) {
    try check(checkpoint.files.values.map(\.new), at: sequence)
    for (table, file) in checkpoint.files {
      if let saved = file.saved {
        forgetReplacedFile(of: table)
        pending[table]?.adopt(saved: saved)
      }
      if pending[table] == nil { pending[table] = written[table].map { PendingTable($0) } }
      pending[table]?.append(file.new)
      if file.isRepaired { files[table] = nil }  // The table is another one than that in memory.
    }
  }

  /// Checks that the files include no commits that the journal does not have yet. The frames at its start say what was
  /// known of the files, which may include the commits that follow.
  private func check(_ files: [KnownVersion], at sequence: UInt64) throws(PayloadFault) {
    if sequence == start.sequence || files.allSatisfy({ $0.through <= sequence }) { return }
    throw PayloadFault(message: "a file includes a commit that is not there")
  }

  /// Takes over what a checkpoint has done: only later commits still wait for these tables.
  mutating func settle(_ done: WrittenFiles, at sequence: UInt64) throws(PayloadFault) {
    try check(done.files.values.map(\.known), at: sequence)
    for (table, file) in done.files {
      guard file.known.through >= written[table]?.known.through ?? 0 else {
        throw PayloadFault(message: "the file of '\(table.text)' includes fewer commits than before")
      }
      pending[table]?.settle(file)
      if pending[table]?.commits.isEmpty ?? false { pending[table] = nil }
      written[table] = file
      // Compare the stamps. To compare the versions, a file that is read in pieces would have to be read as a whole.
      if let known = files[table], known.stamp.flatMap({ FileIdentity($0) }) != file.known.identity {
        files[table]?.isReplaced = true
      }
    }
    if let inode = done.journal, inode == journal.flatMap({ Int64(exactly: $0.inode) }) {
      isNameSynced = true
    }
  }

  // MARK: Files

  /// Forgets a file that a checkpoint has replaced: another program has saved one, for which commits are made from here
  /// on.
  private mutating func forgetReplacedFile(of table: TableKey) {
    if files[table]?.isReplaced ?? false { files[table] = nil }
  }

  /// Whether the journal says that the present file is durable. It does not say so of another file, or of a file that
  /// another program has touched.
  func isKnownToBeWritten(_ table: TableKey) -> Bool {
    guard let written = written[table]?.known, let identity = written.identity, let known = files[table]
    else {
      return false
    }
    return known.stamp.flatMap { FileIdentity($0) } == identity && known.content.version == written.version
  }

  /// Records the content of a file that was read.
  /// - Returns: the file, of the former lineage if the content is the same.
  mutating func setFile(
    _ content: FileContent, at path: String, _ stamp: FileStamp?, of table: TableKey
  ) -> FileLog.KnownFile {
    if let known = files[table], known.path == path, known.stamp == stamp, stamp?.isSettled ?? true,
      !known.isReplaced
    {
      return known
    }
    lastLineage += 1
    let file = FileLog.KnownFile(lineage: lastLineage, path: path, content: content, stamp: stamp)
    files[table] = file
    return file
  }

  /// Records the file that a checkpoint has made of the one that is known. It has the same lineage: the table with all
  /// commits is the same.
  mutating func continueFile(
    _ version: FileVersion, through: UInt64, at path: String, _ stamp: FileStamp?, of table: TableKey,
    isDurable: Bool
  ) {
    guard let lineage = files[table]?.lineage else { return }
    files[table] = FileLog.KnownFile(
      lineage: lineage, path: path, content: FileContent(version), stamp: stamp, through: through,
      isDurable: isDurable)
  }

  /// Takes over a file that a checkpoint of another process has made of the one that is known, without reading it.
  /// - Returns: whether it is such a file.
  mutating func followFile(at path: String, _ stamp: FileStamp?, of table: TableKey) -> Bool {
    guard let known = files[table], let pending = pending[table],
      let made = pending.versions.last(where: { $0.isThere(stamp) }),
      pending.lastCommit(in: known.content.version) != nil
    else { return false }
    var stamp = stamp
    stamp?.isSettled = true  // Its time is the one that the checkpoint set. No other version has it.
    continueFile(made.version, through: made.through, at: path, stamp, of: table, isDurable: false)
    return true
  }
}
