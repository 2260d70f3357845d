import FileDBStorage
import Foundation

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
      let byteCount = payload.count
      let ticket = try append(.commit, payload, &state)
      state.pending.noteOwn(commit, sequence: ticket.sequence, byteCount: byteCount)
      state.waiting.append(ticket)
      let changed = tables.compactMap { table, newState -> (TableKey, CachedTable)? in
        guard var known = newest(table) else { return nil }
        known.state = newState
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
    _ kind: JournalFrame.Kind, _ payload: consuming [UInt8], _ state: inout State
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
    guard let known = newest(table), known.content.size + added > limit else { return }
    if TableFile.encode(state).count > limit {
      throw StoreError(
        StoreError.unrepresentableValue, "the table would be longer than \(limit) bytes", file: known.file,
        table: table.text)
    }
  }

  private func checkTargets(_ tables: Set<TableKey>) throws(StoreError) {
    // A folder that a rehearsal does not make has no links.
    guard try onDisk({ () throws(DiskError) in try folder.disk.status(folder.path) }) != nil else { return }
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
    syncs.run(
      until: { ticket.outcome.withLock { $0 != nil } },
      work: { _ = syncWaiting(options.durability.syncStrength) })
    if case .unknown(let error)? = ticket.outcome.withLock({ $0 }) { throw StoreError.outcomeUnknown(error) }
  }

  /// Makes all that is in the journal survive a power cut.
  func syncAll() throws(StoreError) {
    var outcome: CommitTicket.Outcome?
    syncs.run(until: { outcome != nil }, work: { outcome = syncWaiting(.full) })
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
      show { $0.publish(through: sequence) }
    }
    for ticket in tickets { ticket.outcome.withLock { $0 = outcome } }
    return outcome
  }
}

extension CommitLog {
  /// Takes tables whose files were written and synced.
  func put(_ tables: [TableKey: CachedTable]) { state.withLock { put(tables, &$0) } }

  private func put(_ tables: [TableKey: CachedTable], _ state: inout State) {
    show { $0.put(tables) }
    for (table, written) in tables { state.durableFiles[table] = written.version }
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
