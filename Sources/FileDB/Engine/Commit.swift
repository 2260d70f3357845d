import FileDBStorage
import FileDBTables
import Foundation
import Synchronization

extension FileLog {
  /// A commit from its lock to the moment at which the journal holds it. ``sync(_:)`` makes it durable.
  ///
  /// This has every lock, sync and rename in its order, as ``checkpoint(timeout:of:)`` has for the tables' files.
  package func append(
    timeout: Duration, _ makeCommit: () throws -> NewCommit?, taking: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    // The lock of the queue, and then the store's. The folder is made where it is missing, and synced.
    let lock = try folder.lock(timeout: timeout)
    defer { withExtendedLifetime(lock) {} }

    try state.withLock { state throws(StoreError) in try prepare(&state) }
    defer { state.withLock { $0.isLocked = false } }

    // A journal of format 1 goes with a checkpoint; the next one takes over what is in conflict.
    if state.withLock({ $0.journal?.format != JournalStart.newestFormat }) {
      _ = try writeFiles(of: replayed)
    }

    while true {
      // The transaction's body. Where it throws, nothing happened.
      guard let commit = try makeCommit() else { return nil }
      let ticket = try state.withLock { state throws(StoreError) -> FileTicket? in
        // Somebody in this process has read another file meanwhile: the body runs again.
        guard state.isMade(for: commit) else { return nil }
        let ticket = try write(commit, &state)
        if let logged = state.commits.last { taking(logged) }
        return ticket
      }
      if let ticket { return ticket }
    }
  }

  /// Makes the journal ready to be added to. For who holds the store's lock.
  func prepare() throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      try prepare(&state)
      state.isLocked = false
    }
  }

  func prepare(_ state: inout State) throws(StoreError) {
    if state.failure != nil { throw StoreError.closed(folder.path) }
    try readOn(&state)
    if state.journal == nil {
      // A draft, written and synced; a rename; and the sync of the folder below.
      _ = try disk.install([disk.stageJournal(folder.journalFile, after: 0)])
      try readOn(&state)
    }
    try syncName(&state)
    state.isLocked = true
  }

  /// Another process may have put the journal there, and died before it synced the name.
  func syncName(_ state: inout State) throws(StoreError) {
    if state.isNameSynced { return }
    try disk.syncFolder(folder.ownFolder)
    state.isNameSynced = true
  }

  /// Puts a commit into the journal.
  private func write(_ new: NewCommit, _ state: inout State) throws(StoreError) -> FileTicket {
    guard var journal = state.journal else { throw damage("the journal is gone") }
    let commit = try journalCommit(new, state)

    // 1. The files that the journal builds on from here: whoever wrote them may have died before they were synced, and a
    //    commit would not fit what a power cut puts back.
    try makeDurable(commit.bases, &state)

    // 2. Many records go into a file of their own, which is synced, as is its name.
    let (payload, records) = try payload(of: commit)

    // 3. The frame. Room for it is made first, and made durable.
    do throws(DiskError) {
      if try journal.clean() { try sync(journal, &state) }
      if try journal.reserve(payload.count) {
        try sync(journal, &state)
        journal.noteLengthSynced()
      }
      try journal.rewriteDoubtful()
      try journal.write(.commit, payload)  // One write. The commit point is the sync behind it.
      state.journal = journal
    } catch {
      // No frame leads to them, and on a full disk they would be in the way.
      if let records { folder.remove(records) }
      throw failed(error, journal, &state)
    }

    // 4. In memory.
    let sequence = journal.sequence
    let byteCount = payload.count + (records?.size ?? 0)
    do throws(PayloadFault) { try state.pending.note(commit, sequence: sequence, byteCount: byteCount) } catch
    {
      throw damage(error.message)
    }
    state.commits.append(LoggedCommit(new, sequence: sequence))
    let ticket = FileTicket(sequence: sequence, file: journal.file, log: self)
    state.waiting.append(ticket)
    return ticket
  }

  /// Syncs tables' files and their names, unless this process knows these versions to survive a power cut.
  func makeDurable(
    _ files: [(key: TableKey, version: FileVersion)], _ state: inout State
  ) throws(StoreError) {
    for (table, version) in files where state.durableFiles[table] != version {
      let (file, status) = try folder.file(of: table.text)
      if status != nil { try disk.syncFile(file) }
      try disk.syncFolder(parentFolder(of: disk.resolve(file)))
      state.durableFiles[table] = version
    }
  }

  /// A sync that what follows is built on: where it fails, the log takes no more commits.
  func sync(_ journal: Journal, _ state: inout State) throws(DiskError) {
    do { try journal.file.syncData(.full) } catch {
      state.failure = error
      throw error
    }
  }

  /// The frame is not there: a full disk leaves the journal as it was.
  func failed(_ error: DiskError, _ journal: Journal, _ state: inout State) -> StoreError {
    // A journal that may only be read is opened anew for the next write, which may be permitted.
    state.journal = error.kind == .permissionDenied || error.kind == .readOnly ? nil : journal
    return StoreError(error)
  }

  /// The payload of a commit's frame, and the file of records that it leads to. That is durable.
  func payload(of commit: JournalCommit) throws(StoreError) -> (bytes: [UInt8], records: RecordsFile?) {
    var records: RecordsFile?
    if commit.recordBytes > options.longestFrame {
      records = try folder.writeRecords(commit)  // Written and synced under its own name.
      try disk.syncFolder(folder.ownFolder)
    }
    let bytes = commit.payload(recordsIn: records)
    guard bytes.count <= UInt32.max else {
      throw StoreError(StoreError.unrepresentableValue, "a transaction may have 4 GB at most")
    }
    return (bytes, records)
  }
}

// MARK: - The commit point

/// A commit that is in the journal and waits for its sync.
final class FileTicket: CommitTicket {
  enum Outcome {
    case durable
    case unknown(DiskError)
  }

  let sequence: UInt64
  let file: any OpenFile
  let outcome = Mutex<Outcome?>(nil)
  private let log: FileLog

  init(sequence: UInt64, file: any OpenFile, log: FileLog) {
    (self.sequence, self.file, self.log) = (sequence, file, log)
  }

  func wait() throws(StoreError) { try log.sync(self) }
}

extension FileLog {
  /// Waits until a commit survives a power cut. Those that wait at the same time share a sync.
  fileprivate func sync(_ ticket: FileTicket) throws(StoreError) {
    syncs.run(
      until: { ticket.outcome.withLock { $0 != nil } },
      work: { _ = syncWaiting(options.durability.syncStrength) })
    if case .unknown(let error)? = ticket.outcome.withLock({ $0 }) { throw StoreError.outcomeUnknown(error) }
  }

  /// Makes all that is in the journal survive a power cut.
  func syncAll() throws(StoreError) {
    var outcome: FileTicket.Outcome?
    syncs.run(until: { outcome != nil }, work: { outcome = syncWaiting(.full) })
    if case .unknown(let error)? = outcome { throw StoreError(error) }
  }

  /// One sync for all commits that wait by now. Nobody holds a lock meanwhile.
  private func syncWaiting(_ strength: SyncStrength?) -> FileTicket.Outcome {
    let (tickets, journal, failure) = state.withLock { ($0.waiting, $0.journal, $0.failure) }
    let sequence = tickets.last?.sequence ?? journal?.sequence ?? 0
    var outcome = FileTicket.Outcome.durable
    do throws(DiskError) {
      if let failure { throw failure }
      if let strength { try (tickets.last?.file ?? journal?.file)?.syncData(strength) }
    } catch {
      outcome = .unknown(error)
    }
    state.withLock { state in
      // Another sync of the journal failed meanwhile, and it may have dropped the bytes that this one was to write.
      if case .durable = outcome, let failure = state.failure { outcome = .unknown(failure) }
      switch outcome {
      case .unknown(let error): state.failure = error
      case .durable: if strength != nil { state.journal?.noteSynced(through: sequence) }
      }
      state.waiting.removeAll { $0.sequence <= sequence }
    }
    for ticket in tickets { ticket.outcome.withLock { $0 = outcome } }
    return outcome
  }
}

// MARK: - What is written

extension FileLog.State {
  /// Whether the tables of a commit are still what it was made for.
  fileprivate func isMade(for commit: NewCommit) -> Bool {
    commit.tables.allSatisfy { table, expected in
      files[table]?.number == expected.base
        && pending[table]?.commits.last.map { $0.sequence <= expected.sequence } ?? true
    }
  }
}

extension FileLog {
  /// Says whether ``append(timeout:_:taking:)`` would refuse a commit.
  package func validate(_ commit: NewCommit) throws(StoreError) {
    _ = try state.withLock { state throws(StoreError) in try journalCommit(commit, state) }
  }

  private func journalCommit(_ new: NewCommit, _ state: State) throws(StoreError) -> JournalCommit {
    let unpending = new.tables.keys.filter { state.pending[$0] == nil }
    if !unpending.isEmpty { try checkTargets(Set(new.tables.keys).union(state.pending.keys)) }
    var tables: [TableKey: JournalCommit.Table] = [:]
    for (table, expected) in new.tables {
      let version = state.files[table]?.content.version ?? .absent
      let isKnown = state.pending[table]?.lastCommit(in: version) != nil
      tables[table] = JournalCommit.Table(sequence: expected.sequence, base: isKnown ? nil : version)
    }
    let commit = JournalCommit(date: new.date, token: new.token, tables: tables, changes: new.changes)
    let byteCount = commit.recordBytes + 64 * commit.changes.count
    for (table, tableState) in new.states {
      try checkSize(
        tableState, of: table, added: 2 * (byteCount + (state.pending[table]?.byteCount ?? 0)), state)
    }
    return commit
  }

  /// What a checkpoint could not write must not be committed.
  private func checkSize(
    _ table: TableState, of key: TableKey, added: Int, _ state: State
  ) throws(StoreError) {
    let limit = options.limits.fileBytes
    guard let known = state.files[key], known.content.size + added > limit else { return }
    var size = 0
    TableFile.encode(table) { size += $0.count }
    if size > limit {
      throw StoreError(
        StoreError.unrepresentableValue, "the table would be longer than \(limit) bytes", file: known.path,
        table: key.text)
    }
  }

  private func checkTargets(_ tables: Set<TableKey>) throws(StoreError) {
    // A folder that a dry run does not make has no links.
    guard try disk.status(folder.path) != nil else { return }
    var targets: Set<TableKey> = []
    for table in tables {
      let target = try disk.resolve(folder.file(of: table.text).path)
      guard targets.insert(TableKey(target)).inserted else {
        throw StoreError(StoreError.ambiguousTable, "links make two tables of this transaction one file")
      }
    }
  }
}

extension JournalCommit {
  fileprivate var bases: [(key: TableKey, version: FileVersion)] {
    tables.compactMap { key, table in table.base.map { (key, $0) } }.sorted { $0.key < $1.key }
  }

  fileprivate var recordBytes: Int { records.reduce(0) { $0 + $1.bytes.count } }
}
