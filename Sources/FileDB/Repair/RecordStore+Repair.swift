import FileDBEssentials
import FileDBPlist

/// What ``RecordStore/repair(_:keeping:)`` has done to a table, or what it would do.
public struct RepairReport: Sendable {
  /// The table's name.
  public let table: String
  /// The repairs, one sentence each, with the line in the file if there is one. Empty for a table without damage.
  public internal(set) var notes: [String] = []
  /// The number of pieces of a damaged file that cannot be read as records. Only the backup keeps them.
  public internal(set) var lostCount = 0
  /// The number of records that the table has after the repair.
  public var recordCount: Int { repaired.records.count }
  /// For a file with git's conflict markers: the data that both versions changed in different ways. The table keeps our
  /// version.
  public internal(set) var conflicts: [MergeConflict] = []
  /// For such a file: the records whose id differs from their id in one of the versions.
  public internal(set) var renumbered: [MergeRenumbering] = []
  /// The files that keep the old table and, after a conflict, the old journal. Empty if nothing was done.
  public internal(set) var backups: [URL] = []
  /// ``ConflictVersions/identity``, if git has versions of the file.
  var gitVersions: String?

  let file: String
  /// `nil` if there is no file.
  let original: [UInt8]?
  var repaired = TableState()
}

extension RecordStore {
  /// Returns what ``repair(_:keeping:)`` would do to a table. Writes nothing.
  ///
  /// - If the index map is out of date, the counter is low or missing, or the file has comments, FileDB only writes the
  ///   file again.
  /// - A record without an id gets a new one, and so does the second of two records with the same id. If the index map
  ///   still fits the other records, the record gets back its old id from there.
  /// - An element of the array that is not a record becomes a record with the field `value`.
  /// - If a file is cut off or damaged inside, FileDB keeps every record that can be read by itself. A file that was
  ///   cut off before its first record has no records to keep, but the commits in the journal may add some.
  /// - If git merged the file as text and left conflict markers, FileDB merges the versions between them record by
  ///   record, as ``TableMerge`` does; see ``RepairReport/conflicts``. If the file lacks the version that both began
  ///   with, FileDB keeps the records that only one side has. Git writes that version into the file only if
  ///   `merge.conflictStyle` is `diff3` or `zdiff3`.
  /// - Parameters:
  ///   - table: the table's name.
  ///   - choice: the version to keep if another program changed the file while commits were waiting in the journal.
  /// - Throws: ``StoreError/Code/conflict`` if there is such a conflict and `choice` is `nil`;
  ///   ``StoreError/Code/tableNotFound``; ``StoreError/Code/notATable`` if nothing in the file looks like a table;
  ///   ``StoreError/Code/conflictMarkers`` if these do not enclose two versions of a table;
  ///   ``StoreError/Code/ambiguousTable``; ``StoreError/Code/damagedJournal``, see ``repairJournal()``; the disk's
  ///   errors.
  /// - Complexity: O(*n*) in the size of the file.
  public func repairPlan(for table: String, keeping choice: ConflictChoice? = nil) throws -> RepairReport {
    try repairPlan(for: table, keeping: choice) { _ in nil }
  }

  /// Like ``repairPlan(for:keeping:)``.
  /// - Parameter versions: returns git's versions of a file with conflict markers. It is called only for such a file.
  package func repairPlan(
    for table: String, keeping choice: ConflictChoice?, versions: (_ file: String) throws -> ConflictVersions?
  ) throws -> RepairReport {
    let key = TableKey(table)
    let log = try fileLog
    // The journal before the file, since a checkpoint moves the commits from there to here.
    try log.readOn()
    let pending = log.pendingTable(key)
    let (file, content) = try folder.readFile(of: key, limits: options.limits)
    guard content != nil || pending != nil else {
      throw StoreError(.tableNotFound, "there is no such table", table: table)
    }
    var plan = RepairReport(table: table, file: file, original: content?.bytes)
    let isConflict = if pending == nil { false } else { try log.isInConflict(key) }
    if !isConflict, pending != nil {
      // The journal knows this file, so it only waits for its commits.
      plan.repaired = try log.readUntilStable(key).state
      return plan
    }
    if isConflict, choice == nil { _ = try log.readUntilStable(key) }  // Throws the conflict.
    // New ids must differ from those that the commits gave.
    let waiting = isConflict && choice != .file ? pending : nil
    try repair(&plan, waiting: waiting, versions: versions)
    if let choice, let pending, isConflict {
      plan.notes.append(Self.settle(pending, by: choice, in: &plan.repaired))
    }
    return plan
  }

  /// Repairs a table as ``repairPlan(for:keeping:)`` describes. The old file is kept in `.filedb/backups`,
  /// and after a conflict the old journal too. A table without damage is left alone.
  /// - Returns: what was done, and the backups; no backups if there was nothing to repair.
  /// - Throws: as ``repairPlan(for:keeping:)`` and `write(_:)`; ``StoreError/Code/insideWrite`` inside a
  ///   write.
  /// - Complexity: O(*n*) in the size of the file.
  @discardableResult
  public func repair(
    _ table: String, keeping choice: ConflictChoice? = nil
  ) throws -> RepairReport {
    try repair(table, keeping: choice) { _ in nil }
  }

  /// Like ``repair(_:keeping:)``. It also keeps the conflicts that it finds, for ``openConflicts(of:)``.
  /// - Parameter versions: returns git's versions of a file with conflict markers. It is called only for such a file.
  package func repair(
    _ table: String, keeping choice: ConflictChoice?,
    versions: (_ file: String) throws -> ConflictVersions?
  ) throws -> RepairReport {
    try repairing(table) {
      var report = try repairPlan(for: table, keeping: choice, versions: versions)
      report.backups = try carryOut(report)
      if !report.conflicts.isEmpty {
        try folder.write(
          OpenConflicts(gitVersions: report.gitVersions, conflicts: report.conflicts), of: table)
      }
      return report
    }
  }

  /// Makes a table readable before it is replaced: like ``repair(_:keeping:)`` with the content of the file, or if that
  /// contains no table, with an empty one.
  /// - Returns: the backups of the original files.
  func repairForReplacement(_ table: String) throws -> [URL] {
    try repairing(table) {
      do {
        return try carryOut(repairPlan(for: table, keeping: .file))
      } catch let error as StoreError where Self.tableDamage.contains(error.code) {
        let (file, content) = try folder.readFile(of: TableKey(table), limits: options.limits)
        return try carryOut(
          RepairReport(
            table: table, notes: [error.message], lostCount: 1, file: file, original: content?.bytes,
            repaired: TableState(counter: 0, records: [], foreignKeys: PlistDictionary())))
      }
    }
  }

  private func carryOut(_ plan: RepairReport) throws -> [URL] {
    if plan.notes.isEmpty { return [] }
    let (key, log) = (TableKey(plan.table), try fileLog)
    try log.beginWriting()
    defer { log.finishWriting() }
    var backups = try plan.original.map { [try folder.keepBackup(of: plan.file, $0)] } ?? []
    if log.pendingTable(key) != nil { backups += try folder.keepBackupOfJournal() }
    let lineage = try log.installRepair(of: key, by: plan.repaired, repairing: FileVersion(plan.original))
    try tables.catchUp()
    tables.replace(key, by: plan.repaired, lineage: lineage)
    return backups.map { URL(fileURLWithPath: $0) }
  }

  func repairing<Result>(_ table: String?, _ body: () throws -> Result) throws -> Result {
    guard writers.currentTransaction == nil else {
      throw StoreError(.insideWrite, "a repair cannot be part of a transaction", table: table)
    }
    guard try folder.disk.status(folder.ownFolder) != nil else {
      return try exclusively(timeout: options.lockTimeout, body)
    }
    let turn = try folder.lockCheckpoints(timeout: options.lockTimeout)
    defer { withExtendedLifetime(turn) {} }
    return try exclusively(timeout: options.lockTimeout, body)
  }

  /// Runs `body` while nobody else writes to the store, in this process or in another.
  func exclusively<Result>(timeout: Duration, _ body: () throws -> Result) throws -> Result {
    try writers.enter(timeout: timeout) {
      try checkOpen()
      let lock = try folder.lock(timeout: timeout)
      defer { withExtendedLifetime(lock) {} }
      return try body()
    }
  }

  /// Plans the repair of the original file.
  private func repair(
    _ plan: inout RepairReport, waiting: PendingTable?,
    versions: (_ file: String) throws -> ConflictVersions?
  ) throws {
    guard let bytes = plan.original else { return }
    do throws(StoreError) {
      // If a record does not match the schema and can be repaired, a write does it.
      let warnings =
        (try? check(plan.table))?.filter { $0.error.code == .damagedTable && $0.severity == .warning } ?? []
      let (state, repair) = try TableRepair.repair(
        bytes, file: plan.file, table: plan.table, waiting: waiting, limits: options.limits)
      plan.notes =
        warnings.map { Self.note($0.error.message, line: $0.error.line) } + repair.notes.map(Self.note)
      (plan.lostCount, plan.repaired) = (repair.lostCount, state)
    } catch {
      guard error.code == .conflictMarkers else { throw error }
      let versions = try versions(plan.file)
      let marked = try MarkedTable(
        bytes, versions: versions, fault: error, newIDsAbove: waiting?.highestID ?? 0, limits: options.limits)
      plan.notes = [Self.note(marked.note, line: error.line)]
      (plan.repaired, plan.gitVersions) = (marked.merge.merged, versions?.identity)
      (plan.conflicts, plan.renumbered) = (marked.merge.conflicts, marked.merge.renumbered)
    }
  }

  private static func settle(
    _ pending: PendingTable, by choice: ConflictChoice, in state: inout TableState
  ) -> String {
    let commits = pending.commits.count.counted("commit") + (pending.commits.count == 1 ? " was" : " were")
    let found = "the file was changed while \(commits) waiting in the journal"
    // This includes commits that are left out, so that no id is used for two records.
    defer { state.raiseCounter(to: pending.counter) }
    switch choice {
    case .file: return "\(found); the file stays as it is, without them"
    case .journal:
      for change in pending.changes { _ = state.applyFitting(change) }
      return "\(found); they were carried out on it"
    case .both:
      for change in pending.changes { state.applyAdding(change, newIDsAbove: pending.highestID) }
      return "\(found); what they added was added to it"
    }
  }

  private static func note(_ text: String, line: Int?) -> String {
    line.map { "line \($0): \(text)" } ?? text
  }
}
