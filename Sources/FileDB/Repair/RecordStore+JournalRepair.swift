import FileDBEssentials
import FileDBPlist
import FileDBTables

/// What ``RecordStore/repairJournal()`` has done, or what it would do.
public struct JournalRepairReport: Sendable {
  /// The repairs, one sentence each, with the place in the journal. Empty for a journal without damage.
  public let notes: [String]
  /// The number of pieces of the journal that cannot be read. Only the backup keeps them.
  public let lostCount: Int
  /// The file that keeps the old journal; `nil` if the repair was not done.
  public internal(set) var backup: URL?

  let commit: JournalCommit
  /// The counters of tables that do not exist, but existed if a commit that is left out created them.
  let counters: [TableKey: Int64]
  let sequence: UInt64
}

extension RecordStore {
  /// Returns what ``repairJournal()`` would do. Writes nothing.
  ///
  /// - In a commit of up to 4 KB, a single wrong byte is corrected with the help of the commit's checksum.
  /// - A commit with more damage is left out. The changes after it are made as far as they fit. The ids that it may
  ///   have given are not given again.
  /// - If a long commit's file of records is damaged, each record that can be read is kept.
  /// - If the beginning of the journal is lost, and text in a record looks like a part of a journal, a note says so.
  /// - A journal that another folder has a hard link to is replaced by one of this folder's own.
  /// - A commit that a crash cut off before `write` returned is not damage.
  /// - In an undamaged journal, a commit that does not fit its table is made as far as it fits, and changes to a table
  ///   with a forbidden name are left out. The backup keeps both as text.
  /// - Returns: the plan; `nil` if there is nothing to repair.
  /// - Throws: ``StoreError/Code/newerFormat`` for a journal in a format that this version does not know; the disk's
  ///   errors.
  /// - Complexity: O(*n*) in the size of the journal and of the tables that it changes.
  public func journalRepairPlan() throws -> JournalRepairReport? {
    let (folder, log) = (try folder, try fileLog)
    guard try folder.disk.status(folder.journalFile) != nil else { return nil }
    let original = try folder.disk.read(folder.journalFile).bytes
    let fault: StoreError?
    do throws(StoreError) {
      try log.readOn()
      fault = if let refusal = log.refusalOfSharedJournal { refusal } else { try log.misfit() }
    } catch {
      guard error.code == .damagedJournal else { throw error }
      fault = error
    }
    return try fault.map { try plan(for: original, because: $0) }
  }

  /// Repairs the journal as ``journalRepairPlan()`` describes. The old journal is kept in `.filedb/backups`. A journal
  /// without damage is left alone.
  /// - Returns: what was done, and the backup; `nil` if there was nothing to repair.
  /// - Throws: as ``journalRepairPlan()`` and `write(_:)`; ``StoreError/Code/insideWrite`` inside a write.
  /// - Complexity: as ``journalRepairPlan()``.
  @discardableResult
  public func repairJournal() throws -> JournalRepairReport? {
    try repairing(nil) {
      guard var report = try journalRepairPlan() else { return nil }
      let (folder, disk) = (try folder, try folder.disk)
      let backup = try folder.keepBackupOfJournal()[0]
      let staged = try disk.stageJournal(
        folder.journalFile, after: report.sequence,
        frames: report.commit.changes.isEmpty ? [] : [(.commit, report.commit.payload())])
      do {
        if !report.counters.isEmpty { try folder.keepCounters(report.counters) }
        try fileLog.readBack(staged, changeCount: report.commit.changes.count)
      } catch {
        disk.discard(staged)
        throw error
      }
      try disk.syncFolder(disk.install(staged))
      try tables.catchUp()
      report.backup = URL(fileURLWithPath: backup)
      return report
    }
  }

  private func plan(
    for original: [UInt8], because error: StoreError
  ) throws(StoreError) -> JournalRepairReport {
    let folder = try folder
    let journal = try SalvagedJournal(original, of: fileLog)
    var notes = journal.notes.isEmpty ? [error.message] : journal.notes
    var rest = JournalCommit(date: Date(), token: .random(), tables: [:], changes: [])
    var counters: [TableKey: Int64] = [:]
    for table in try tables(in: journal).sorted() {
      var fitted = fit(journal.pending[table] ?? PendingTable(versions: []), to: table, in: folder)
      if let counter = fitted.counter, case let raised = journal.lostIDs.counter(of: table, after: counter),
        raised > counter
      {
        notes.append(
          "'\(table.text)': what is left out may have given ids up to \(raised), so they stay unused"
        )
        if fitted.tableExists {
          fitted.changes.append(LoggedChange(.raiseCounter(to: raised), of: table, found: .nothing))
        } else {
          counters[table] = raised
        }
      }
      guard !fitted.changes.isEmpty else { continue }
      rest.tables[table] = .init(sequence: nil, base: fitted.base)
      rest.changes += fitted.changes
    }
    return JournalRepairReport(
      notes: notes, lostCount: journal.lostCount, commit: rest, counters: counters,
      sequence: journal.sequence)
  }

  /// The tables with commits that can be read, and those in which lost commits may have given ids.
  private func tables(in journal: SalvagedJournal) throws(StoreError) -> Set<TableKey> {
    let lost = journal.lostIDs
    let tables = Set(journal.pending.keys).union(lost.tables.filter(StoreFolder.isAllowed))
    return lost.mayConcernAll ? tables.union(try folder.tableNames().map(TableKey.init)) : tables
  }

  /// The result of the commits on the present file. If the journal does not know the file, only what the commits
  /// contain.
  private func fit(_ pending: PendingTable, to table: TableKey, in folder: StoreFolder) -> FittedChanges {
    let all = FittedChanges(commitsOf: pending)
    guard let (file, content) = try? folder.readFile(of: table, limits: options.limits) else { return all }
    let version = FileVersion(content?.bytes)
    let inFile = pending.versions.isEmpty ? 0 : pending.lastCommit(in: version)
    guard let inFile, var state = state(of: content?.bytes, file: file, table: table) else { return all }
    let changes = pending.commits.filter { $0.sequence > inFile }.flatMap(\.changes)
    let fitting = changes.flatMap { state.applyFitting($0.change) }.map { LoggedChange($0, of: table) }
    let kept = state.exists ? nil : try? folder.keptCounters()[table]
    return FittedChanges(
      base: version, changes: fitting, tableExists: state.exists, counter: max(state.counter, kept ?? 0))
  }

  private func state(of bytes: [UInt8]?, file: String, table: TableKey) -> TableState? {
    guard let bytes else { return TableState() }
    return try? TableFile.decode(bytes, file: file, table: table.text, limits: options.limits)
  }
}

/// The changes of one table that a repaired journal has.
private struct FittedChanges {
  let base: FileVersion
  var changes: [LoggedChange]
  /// Whether the table exists with them.
  let tableExists: Bool
  /// The counter of the table with them; `nil` if it is unknown.
  let counter: Int64?
}

extension FittedChanges {
  /// All commits, for a file that the journal does not know.
  init(commitsOf pending: PendingTable) {
    let tableExists = pending.exists ?? true
    self.init(
      base: pending.versions.first?.version ?? .absent, changes: pending.commits.flatMap(\.changes),
      tableExists: tableExists, counter: pending.changes.isEmpty || !tableExists ? nil : pending.counter)
  }
}
