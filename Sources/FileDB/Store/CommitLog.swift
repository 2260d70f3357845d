import FileDBPlist
import FileDBStorage
import Foundation
import Synchronization

/// The commits in the store's journal, as far as this process has read it, and the tables in memory, which follow them.
final class CommitLog: Sendable {
  private struct State {
    var journal: Journal?
    /// Whether this process has synced the folder since it saw this journal in it.
    var isNameSynced = false
    /// The tables' files that this process knows to survive a power cut.
    var durableFiles: [TableKey: FileVersion] = [:]
    /// How many journals were read until now: each checkpoint puts another in place.
    var journalCount = 0
    var pending: [TableKey: PendingTable] = [:]
    /// Commits of this process that wait for their sync.
    var waiting: [CommitTicket] = []
    /// Why the last sync failed. The system reports that once and may have dropped the bytes, so a second sync that
    /// succeeds proves nothing: see https://wiki.postgresql.org/wiki/Fsync_Errors.
    var failure: DiskError?
  }

  private let folder: StoreFolder
  private let options: StoreOptions
  private let state = Mutex(State())
  /// Locked after ``state`` where both are, and never while the disk is at work: readers take it.
  private let cache = Mutex(TableCache())
  private let syncs = GroupSync()

  init(folder: StoreFolder, options: StoreOptions) {
    self.folder = folder
    self.options = options
  }

  /// The table as readers see it; `nil` where it was never read.
  func published(_ table: TableKey) -> CachedTable? { cache.withLock { $0.published[table] } }

  /// The table with the commits that wait for their sync.
  func newest(_ table: TableKey) -> CachedTable? { cache.withLock { $0.newest(table) } }

  /// How many journals were read until now.
  var journalCount: Int { state.withLock(\.journalCount) }

  var knownTables: [TableKey] { cache.withLock { $0.keys.sorted() } }
}

/// A commit that is in the journal and waits for its sync.
final class CommitTicket: Sendable {
  enum Outcome {
    case durable
    case unknown(DiskError)
  }

  let sequence: UInt64
  let file: any OpenFile
  fileprivate let outcome = Mutex<Outcome?>(nil)

  fileprivate init(sequence: UInt64, file: any OpenFile) {
    self.sequence = sequence
    self.file = file
  }
}

// MARK: - Reading

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
      let version = FileVersion(content?.bytes)
      let decoded: TableState
      do throws(StoreError) {
        decoded =
          try content.map { content throws(StoreError) in
            try TableFile.decode(content.bytes, file: file, table: table.text, limits: options.limits)
          } ?? TableState()
      } catch {
        try checkVersion(version, of: table, file: file)
        throw error
      }
      var loaded = CachedTable(
        state: decoded, sequence: 0, file: file, version: version, stamp: content?.stamp)
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
      table.state.index()
      cache.withLock { $0.put([key: table]) }
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

  private func catchUp(_ state: inout State) throws(StoreError) {
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
    cache.withLock { $0.restart(at: start, stale: former) }
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
    cache.withLock { $0.put(followed) }
  }

  private func conflict(_ table: TableKey, _ file: String) -> StoreError {
    StoreError(
      StoreError.conflict,
      "another program changed this file while commits were waiting in the journal; 'filedb repair --keep' settles it",
      file: file, table: table.text)
  }

  private func damage(_ message: String, table: TableKey?) -> StoreError {
    StoreError(StoreError.damagedJournal, message, file: folder.journalFile, table: table?.text)
  }
}

// MARK: - Writing

extension CommitLog {
  /// Makes the journal where it is missing, and sees to it that what is added to it survives a power cut under its name.
  /// For who holds the store's lock.
  func prepare() throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      try catchUp(&state)
      if state.journal == nil {
        try onDisk { () throws(DiskError) in
          _ = try folder.disk.install([Journal.stage(folder.journalFile, on: folder.disk, after: 0)])
        }
        try catchUp(&state)
      }
      // Another process may have put it there, and died before it synced the name.
      guard !state.isNameSynced else { return }
      try onDisk { () throws(DiskError) in try folder.disk.syncFolder(folder.ownFolder) }
      state.isNameSynced = true
    }
  }

  /// Says whether ``append(_:tables:)`` would refuse this.
  func rehearse(
    _ changes: [(table: TableKey, change: Change)], tables: [TableKey: TableState]
  ) throws(StoreError) {
    _ = try state.withLock { state throws(StoreError) in try encode(changes, tables, state.pending) }
  }

  /// Puts a commit into the journal. It survives a power cut once ``sync(_:)`` has returned for it.
  /// - Parameter tables: those that changed, as they are now.
  func append(
    _ changes: [(table: TableKey, change: Change)], tables: [TableKey: TableState]
  ) throws(StoreError) -> CommitTicket {
    try state.withLock { state throws(StoreError) in
      let (commit, payload) = try encode(changes, tables, state.pending)
      try makeDurable(commit.bases, &state)
      let ticket = try append(.commit, payload, &state)
      state.pending.noteOwn(commit, sequence: ticket.sequence, byteCount: payload.count)
      state.waiting.append(ticket)
      let changed = tables.compactMap { table, newState -> (TableKey, CachedTable)? in
        guard var known = newest(table) else { return nil }
        known.state = newState
        known.state.index()
        known.sequence = ticket.sequence
        return (table, known)
      }
      cache.withLock { $0.add(Dictionary(uniqueKeysWithValues: changed), of: ticket.sequence) }
      return ticket
    }
  }

  /// Syncs the files that the journal is about to build on: whoever wrote them may have died before, and a commit would not
  /// fit what a power cut puts back.
  private func makeDurable(_ bases: [TableKey: FileVersion], _ state: inout State) throws(StoreError) {
    for (table, version) in bases.sorted(by: { $0.key < $1.key }) where state.durableFiles[table] != version {
      let (file, status) = try folder.file(of: table.text)
      try onDisk { () throws(DiskError) in
        if status != nil { try folder.disk.open(file).syncData(.full) }
        try folder.disk.syncFolder(parentFolder(of: folder.disk.resolve(file)))
      }
      state.durableFiles[table] = version
    }
  }

  /// Puts what the files are about to be into the journal.
  func append(_ checkpoint: LoggedCheckpoint) throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      let ticket = try append(.checkpoint, checkpoint.payload, &state)
      state.pending.note(checkpoint, at: ticket.sequence)
    }
  }

  private func append(
    _ kind: JournalFrame.Kind, _ payload: [UInt8], _ state: inout State
  ) throws(StoreError) -> CommitTicket {
    guard var journal = state.journal else { throw damage("the journal is gone", table: nil) }
    do {
      try journal.append(kind, payload)
    } catch {
      // A journal that may only be read is opened anew for the next write, which may be permitted.
      state.journal = error.kind == .permissionDenied || error.kind == .readOnly ? nil : journal
      throw StoreError(error)
    }
    state.journal = journal
    return CommitTicket(sequence: journal.sequence, file: journal.file)
  }

  private func encode(
    _ changes: [(table: TableKey, change: Change)], _ tables: [TableKey: TableState],
    _ pending: [TableKey: PendingTable]
  ) throws(StoreError) -> (commit: LoggedCommit, payload: [UInt8]) {
    let new = tables.keys.filter { pending[$0] == nil }
    if !new.isEmpty { try checkTargets(Set(tables.keys).union(pending.keys)) }
    let bases = Dictionary(uniqueKeysWithValues: new.map { ($0, newest($0)?.version ?? .absent) })
    let commit = LoggedCommit(date: Date(), bases: bases, changes: changes)
    let payload = commit.payload
    guard payload.count <= UInt32.max else {
      throw StoreError(StoreError.unrepresentableValue, "a transaction may have 4 GB at most")
    }
    for (table, state) in tables {
      try checkSize(state, of: table, added: 2 * (payload.count + (pending[table]?.byteCount ?? 0)))
    }
    return (commit, payload)
  }

  /// What a checkpoint could not write must not be committed.
  private func checkSize(_ state: TableState, of table: TableKey, added: Int) throws(StoreError) {
    let limit = options.limits.fileBytes
    guard let known = newest(table), known.version.size + added > limit else { return }
    if TableFile.encode(state).count > limit {
      throw StoreError(
        StoreError.unrepresentableValue, "the table would be longer than \(limit) bytes", file: known.file,
        table: table.text)
    }
  }

  private func checkTargets(_ tables: Set<TableKey>) throws(StoreError) {
    var targets: Set<TableKey> = []
    for table in tables {
      let file = try folder.file(of: table.text).path
      let target = try onDisk { () throws(DiskError) in try folder.disk.resolve(file) }
      guard targets.insert(TableKey(target)).inserted else {
        throw StoreError(StoreError.ambiguousTable, "links make two tables of this transaction one file")
      }
    }
  }

  /// Waits until a commit survives a power cut, and shows it to readers.
  /// - Throws: ``StoreError/outcomeUnknown``.
  func sync(_ ticket: CommitTicket) throws(StoreError) {
    syncs.run(until: { ticket.outcome.withLock { $0 != nil } }) {
      _ = syncWaiting(options.durability.syncStrength)
    }
    if case .unknown(let error)? = ticket.outcome.withLock({ $0 }) { throw StoreError.outcomeUnknown(error) }
  }

  /// Makes all that is in the journal survive a power cut.
  func syncAll() throws(StoreError) {
    var outcome: CommitTicket.Outcome?
    syncs.run(until: { outcome != nil }) { outcome = syncWaiting(.full) }
    if case .unknown(let error)? = outcome { throw StoreError(error) }
  }

  /// One sync for all commits that wait by now.
  private func syncWaiting(_ strength: SyncStrength?) -> CommitTicket.Outcome {
    let (tickets, journal, failure) = state.withLock { ($0.waiting, $0.journal, $0.failure) }
    let sequence = tickets.last?.sequence ?? journal?.sequence ?? 0
    var outcome = CommitTicket.Outcome.durable
    do throws(DiskError) {
      if let failure { throw failure }
      if let strength { try (tickets.last?.file ?? journal?.file)?.syncData(strength) }
    } catch {
      outcome = .unknown(error)
    }
    state.withLock { state in
      switch outcome {
      case .unknown(let error): state.failure = error
      case .durable: if strength != nil { state.journal?.noteSynced(through: sequence) }
      }
      state.waiting.removeAll { $0.sequence <= sequence }
      cache.withLock { $0.publish(through: sequence) }
    }
    for ticket in tickets { ticket.outcome.withLock { $0 = outcome } }
    return outcome
  }
}

// MARK: - Checkpoints

extension CommitLog {
  /// The last commit.
  var sequence: UInt64 { state.withLock { $0.journal?.sequence ?? 0 } }

  /// The tables that the journal holds commits for, in the order of their names.
  var pendingTables: [TableKey] { state.withLock { $0.pending.keys.sorted() } }

  func pendingTable(_ table: TableKey) -> PendingTable? { state.withLock { $0.pending[table] } }

  /// Takes tables whose files were written and synced.
  func put(_ tables: [TableKey: CachedTable]) { state.withLock { put(tables, &$0) } }

  private func put(_ tables: [TableKey: CachedTable], _ state: inout State) {
    cache.withLock { $0.put(tables) }
    for (table, written) in tables { state.durableFiles[table] = written.version }
  }

  /// Which tables the journal makes exist, or not exist any more.
  var pendingExistence: [TableKey: Bool] { state.withLock { $0.pending.compactMapValues(\.exists) } }

  /// How long the journal is, and the files that it changes.
  var sizes: (journal: Int, files: Int) {
    state.withLock { state in
      (
        state.journal?.end ?? 0,
        state.pending.values.reduce(0) { $0 + ($1.versions.first?.version.size ?? 0) }
      )
    }
  }

  /// Goes over to the journal that a checkpoint put in place, and whose name it synced.
  /// - Parameter tables: those that were written, as they are now.
  func restart(with tables: [TableKey: CachedTable]) throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      try catchUp(&state)
      state.isNameSynced = true
      put(tables, &state)
    }
  }
}
