import FileDBPlist
import FileDBStorage
import Foundation

/// What ``RecordStore/repairJournal()`` does, or would do.
public struct JournalRepairPlan: Sendable {
  /// What is mended, a sentence each, with the place in the journal; empty for a sound one.
  public let notes: [String]
  /// How many pieces of the journal cannot be read, and stay in the backup alone.
  public let lostCount: Int

  let original: [UInt8]
  let commit: LoggedCommit
  let sequence: UInt64
}

extension RecordStore {
  /// Says how ``repairJournal()`` would mend the journal. Writes nothing.
  ///
  /// A single wrong byte in a commit is put right by the commit's checksum. A commit that is damaged further is left out, and
  /// of those behind it each change is carried out as far as there is anything for it. A commit that a crash cut off
  /// before it was done is no damage.
  /// - Throws: ``StoreError/newerFormat`` for a journal of which nothing is known; the disk's errors.
  public func journalRepairPlan() throws -> JournalRepairPlan? {
    let read = try onDisk { () throws(DiskError) -> [UInt8]? in
      guard try folder.disk.status(folder.journalFile) != nil else { return nil }
      return try folder.disk.read(folder.journalFile).bytes
    }
    guard let original = read else { return nil }
    do throws(StoreError) {
      try log.catchUp()
      return nil
    } catch  where error.code != StoreError.damagedJournal {
      throw error
    } catch {
      return try plan(for: original, because: error)
    }
  }

  /// Mends the journal as ``journalRepairPlan()`` says. The journal as it was is kept in `.filedb/backups`; a sound one is
  /// left alone.
  /// - Returns: what was done, and the file that keeps the original; `nil` where nothing was done.
  /// - Throws: as ``journalRepairPlan()`` and ``write(_:)``; ``StoreError/insideWrite`` within a write.
  @discardableResult
  public func repairJournal() throws -> (plan: JournalRepairPlan, backup: URL)? {
    try repairing(nil) {
      guard let plan = try journalRepairPlan() else { return nil }
      let backup = try folder.keepBackup(of: folder.journalFile, plan.original)
      let payload = plan.commit.changes.isEmpty ? nil : plan.commit.payload
      try onDisk { () throws(DiskError) in
        let disk = folder.disk
        let staged = try Journal.stage(
          folder.journalFile, on: disk, after: plan.sequence, commit: payload)
        for folder in try disk.install([staged]) { try disk.syncFolder(folder) }
      }
      try log.catchUp()
      return (plan, URL(fileURLWithPath: backup))
    }
  }

  private func plan(
    for original: [UInt8], because error: StoreError
  ) throws(StoreError) -> JournalRepairPlan {
    let salvage = try onJournal { () throws(JournalError) in
      do throws(JournalDamage) { return try JournalSalvage(original) } catch {
        throw .damaged(error, path: folder.journalFile)
      }
    }
    var notes = salvage.notes.map { "byte \($0.offset): \($0.text)" }
    var lostCount = salvage.lostCount
    var pending: [TableKey: PendingTable] = [:]
    for frame in salvage.frames {
      switch frame.kind {
      case .start: break
      case .checkpoint:
        if let checkpoint = try? LoggedCheckpoint(payload: frame.payload) {
          pending.note(checkpoint, at: frame.sequence)
        }
      case .commit:
        guard let commit = try? LoggedCommit(payload: frame.payload, depth: options.limits.depth) else {
          notes.append("commit \(frame.sequence) cannot be understood; it is left out")
          lostCount += 1
          continue
        }
        // The frame that said which file this changes may be the one that is lost: then it is the file that is there.
        for table in commit.tables where pending[table] == nil { pending[table] = PendingTable(versions: []) }
        pending.noteOwn(commit, sequence: frame.sequence, byteCount: frame.payload.count)
      }
    }
    if notes.isEmpty { notes.append(error.message) }
    var rest = LoggedCommit(date: Date(), bases: [:], changes: [])
    for (table, pending) in pending.sorted(by: { $0.key < $1.key }) {
      let (base, changes) = fit(pending, to: table)
      rest.bases[table] = base
      rest.changes += changes.map { (table, $0) }
    }
    rest.bases = rest.bases.filter { rest.tables.contains($0.key) }
    let sequence = salvage.frames.map(\.sequence).max() ?? 0
    return JournalRepairPlan(
      notes: notes, lostCount: lostCount, original: original, commit: rest, sequence: sequence)
  }

  /// What the commits come to on the file that is there; for one that the journal does not know, what they say.
  private func fit(_ pending: PendingTable, to table: TableKey) -> (base: FileVersion, changes: [Change]) {
    let all = pending.commits.flatMap(\.changes)
    guard let (file, content) = try? folder.readFile(of: table, limits: options.limits) else {
      return (pending.versions.last?.version ?? .absent, all)
    }
    let version = FileVersion(content?.bytes)
    let inFile = pending.versions.isEmpty ? 0 : pending.lastCommit(in: version)
    guard let inFile, var state = state(of: content?.bytes, file: file, table: table) else {
      return (pending.versions.last?.version ?? .absent, all)
    }
    let changes = pending.commits.filter { $0.sequence > inFile }.flatMap(\.changes)
    return (version, changes.flatMap { state.applyFitting($0) })
  }

  private func state(of bytes: [UInt8]?, file: String, table: TableKey) -> TableState? {
    guard let bytes else { return TableState() }
    return try? TableFile.decode(bytes, file: file, table: table.text, limits: options.limits)
  }
}
