import FileDBEssentials
import FileDBPlist

/// What ``RecordStore/repairJournal()`` has to do.
public struct JournalRepairPlan: Sendable {
  /// The repairs, one sentence each, with the place in the journal. Empty for a journal without damage.
  public let notes: [String]
  /// The number of pieces of the journal that cannot be read. Only the backup keeps them.
  public let lostCount: Int

  let original: [UInt8]
  let commit: JournalCommit
  let sequence: UInt64
}

/// What ``RecordStore/repairJournal()`` did.
public struct JournalRepairReport: Sendable {
  /// What was repaired.
  public let plan: JournalRepairPlan
  /// The file that keeps the old journal.
  public let backup: URL
}

extension RecordStore {
  /// Returns what ``repairJournal()`` would do. Writes nothing.
  ///
  /// - In a commit of up to 4 KB, a single wrong byte is corrected with the help of the commit's checksum.
  /// - A commit with more damage is left out. The changes after it are made as far as they fit.
  /// - A commit that a crash cut off before `write` returned is not damage.
  /// - In an undamaged journal, a commit that does not fit its table is made as far as it fits, and changes to a table
  ///   with a forbidden name are left out. The backup keeps both as text.
  /// - Returns: the plan; `nil` if there is nothing to repair.
  /// - Throws: ``StoreError/Code/newerFormat`` for a journal in a format that this version does not know; the disk's
  ///   errors.
  /// - Complexity: O(*n*) in the size of the journal and of the tables that it changes.
  public func journalRepairPlan() throws -> JournalRepairPlan? {
    let (folder, log) = (try folder, try fileLog)
    guard try folder.disk.status(folder.journalFile) != nil else { return nil }
    let original = try folder.disk.read(folder.journalFile).bytes
    do throws(StoreError) {
      try log.readOn()
      guard let misfit = try log.misfit() else { return nil }
      return try plan(for: original, because: misfit)
    } catch {
      guard error.code == .damagedJournal else { throw error }
      return try plan(for: original, because: error)
    }
  }

  /// Repairs the journal as ``journalRepairPlan()`` describes. The old journal is kept in `.filedb/backups`. A journal
  /// without damage is left alone.
  /// - Returns: what was done, and the backup; `nil` if there was nothing to repair.
  /// - Throws: as ``journalRepairPlan()`` and `write(_:)`; ``StoreError/Code/insideWrite`` inside a write.
  /// - Complexity: as ``journalRepairPlan()``.
  @discardableResult
  public func repairJournal() throws -> JournalRepairReport? {
    try repairing(nil) {
      guard let plan = try journalRepairPlan() else { return nil }
      let (folder, disk) = (try folder, try folder.disk)
      let backup = try folder.keepBackupOfJournal()[0]
      let staged = try disk.stageJournal(
        folder.journalFile, after: plan.sequence,
        frames: plan.commit.changes.isEmpty ? [] : [(.commit, plan.commit.payload())])
      do { try fileLog.readBack(staged, changeCount: plan.commit.changes.count) } catch {
        disk.discard([staged])
        throw error
      }
      for folder in try disk.install([staged]) { try disk.syncFolder(folder) }
      try tables.catchUp()
      return JournalRepairReport(plan: plan, backup: URL(fileURLWithPath: backup))
    }
  }

  private func plan(
    for original: [UInt8], because error: StoreError
  ) throws(StoreError) -> JournalRepairPlan {
    let (folder, log) = (try folder, try fileLog)
    let salvage = try folder.disk.salvageJournal(original, path: folder.journalFile)
    var notes = salvage.notes.map { "byte \($0.offset): \($0.text)" }
    var lostCount = salvage.lostCount
    var pending: [TableKey: PendingTable] = [:]
    for frame in salvage.frames {
      switch frame.kind {
      case .start: break
      case .checkpoint:
        if let checkpoint = try? log.checkpoint(in: frame, format: salvage.format) {
          pending.note(checkpoint, at: frame.sequence)
        }
      case .written:
        if let written = try? log.written(in: frame) {
          for table in written.files.keys { pending[table] = nil }
        }
      case .commit:
        guard let commit = try? log.commit(in: frame, format: salvage.format).commit else {
          notes.append("commit \(frame.sequence) cannot be understood; it is left out")
          lostCount += 1
          continue
        }
        // The frame that named the table's file may be the one that is lost. Then the present file is used.
        for table in commit.tables.keys.sorted() where !StoreFolder.isAllowed(table) {
          notes.append(
            "commit \(frame.sequence) changes '\(table.text)', which is not a table's name; it is left out")
          lostCount += 1
        }
        for (table, former) in commit.tables where pending[table] == nil && StoreFolder.isAllowed(table) {
          let versions = former.base.map { [($0, frame.sequence - 1)] } ?? []
          pending[table] = PendingTable(versions: versions.map { (version: $0.0, lastCommit: $0.1) })
        }
        for table in commit.tables.keys {
          let changes = commit.changes.filter { $0.table == table }
          pending[table]?.append(
            .init(sequence: frame.sequence, changes: changes, byteCount: frame.payload.count))
        }
      }
    }
    if notes.isEmpty { notes.append(error.message) }
    var rest = JournalCommit(date: Date(), token: .random(), tables: [:], changes: [])
    for (table, pending) in pending.sorted(by: { $0.key < $1.key }) {
      let (base, changes) = fit(pending, to: table, in: folder)
      guard !changes.isEmpty else { continue }
      rest.tables[table] = .init(sequence: nil, base: base)
      rest.changes += changes
    }
    let sequence = salvage.frames.map(\.sequence).max() ?? 0
    return JournalRepairPlan(
      notes: notes, lostCount: lostCount, original: original, commit: rest, sequence: sequence)
  }

  /// The result of the commits on the present file. If the journal does not know the file, only what the commits
  /// contain.
  private func fit(
    _ pending: PendingTable, to table: TableKey, in folder: StoreFolder
  ) -> (base: FileVersion, changes: [LoggedChange]) {
    let all = pending.commits.flatMap(\.changes)
    guard let (file, content) = try? folder.readFile(of: table, limits: options.limits) else {
      return (pending.versions.first?.version ?? .absent, all)
    }
    let version = FileVersion(content?.bytes)
    let inFile = pending.versions.isEmpty ? 0 : pending.lastCommit(in: version)
    guard let inFile, var state = state(of: content?.bytes, file: file, table: table) else {
      return (pending.versions.first?.version ?? .absent, all)
    }
    let changes = pending.commits.filter { $0.sequence > inFile }.flatMap(\.changes)
    return (version, changes.flatMap { state.applyFitting($0.change) }.map { LoggedChange($0, of: table) })
  }

  private func state(of bytes: [UInt8]?, file: String, table: TableKey) -> TableState? {
    guard let bytes else { return TableState() }
    return try? TableFile.decode(bytes, file: file, table: table.text, limits: options.limits)
  }
}
