import FileDBPlist
import FileDBStorage
import FileDBTables

/// The commits of a damaged journal that can still be read, by table, and what became of the others.
struct SalvagedJournal {
  private(set) var notes: [String]
  private(set) var lostCount: Int
  private(set) var pending: [TableKey: PendingTable] = [:]
  private var written: [TableKey: WrittenFiles.File] = [:]
  private(set) var lostIDs = LostIDs()
  /// The commit after which the repaired journal begins: the last one, or 0 if there is no higher number.
  let sequence: UInt64

  private let log: FileLog
  /// The files of records to which commits refer that can be read.
  private var recordsFiles: Set<String> = []

  /// - Parameter bytes: the journal.
  /// - Throws: ``StoreError/Code/newerFormat``.
  init(_ bytes: [UInt8], of log: FileLog) throws(StoreError) {
    let salvage = try log.disk.salvageJournal(bytes, path: log.folder.journalFile)
    self.log = log
    notes = salvage.notes.map { "byte \($0.offset): \($0.text)" }
    lostCount = salvage.lost.count
    let last = salvage.frames.map(\.sequence).max() ?? 0
    sequence = last < JournalFrame.highestSequence ? last : 0
    for frame in salvage.frames { take(frame) }
    for lost in salvage.lost { lostIDs.add(lost) }
    if !lostIDs.isEmpty { addLostRecords() }
  }

  private mutating func take(_ frame: JournalFrame) {
    switch frame.kind {
    case .start: break
    case .checkpoint:
      for (table, file) in (try? log.checkpoint(in: frame))?.files ?? [:] {
        if let saved = file.saved { pending[table]?.adopt(saved: saved) }
        pending[table]?.append(file.new)
      }
    case .written:
      for (table, file) in (try? log.written(in: frame))?.files ?? [:] {
        written[table] = file
        pending[table]?.settle(file)
        if pending[table]?.commits.isEmpty ?? false { pending[table] = nil }
      }
    case .parked:
      guard let parked = try? log.parkedCommit(in: frame) else {
        notes.append("a commit to a table in conflict cannot be understood; it is left out")
        lostCount += 1
        return
      }
      if let file = parked.recordsFile { recordsFiles.insert(file.name) }
      add(parked.commit.changes, of: parked.table, sequence: parked.commit.sequence, base: nil)
    case .commit:
      if let (commit, _, file) = try? log.commit(in: frame) {
        if let file { recordsFiles.insert(file.name) }
        take(commit, in: frame)
      } else if let salvaged = log.salvagedCommit(in: frame) {
        recordsFiles.insert(salvaged.file.name)
        notes += salvaged.notes.map { "commit \(frame.sequence): \($0)" }
        lostCount += salvaged.lostCount
        if salvaged.leftOutCount > 0 {
          lostIDs.add(recordCount: salvaged.leftOutCount, in: Set(salvaged.commit.tables.keys))
        }
        take(salvaged.commit, in: frame)
      } else {
        notes.append("commit \(frame.sequence) cannot be understood; it is left out")
        lostCount += 1
        lostIDs.add(commit: frame.payload)
      }
    }
  }

  private mutating func take(_ commit: JournalCommit, in frame: JournalFrame) {
    for table in commit.tables.keys.sorted() where !StoreFolder.isAllowed(table) {
      notes.append(
        "commit \(frame.sequence) changes '\(table.text)', which is not a table's name; it is left out")
      lostCount += 1
    }
    for (table, former) in commit.tables where StoreFolder.isAllowed(table) {
      let changes = commit.changes.filter { $0.table == table }
      add(changes, of: table, sequence: frame.sequence, base: former.base)
    }
  }

  private mutating func add(
    _ changes: [LoggedChange], of table: TableKey, sequence: UInt64, base: FileVersion?
  ) {
    guard sequence > written[table]?.known.through ?? 0 || pending[table] != nil else { return }
    // The frame that named the table's file may be the one that is lost. Then the present file is used.
    if pending[table] == nil {
      let named = base.map { KnownVersion(version: $0, through: sequence - 1) }
      pending[table] = PendingTable(versions: [named ?? written[table]?.known].compactMap(\.self))
    }
    pending[table]?.append(.init(sequence: sequence, changes: changes, byteCount: 0))
  }

  /// Adds the files of records that only commits which cannot be read may have referred to.
  private mutating func addLostRecords() {
    for file in log.folder.recordsFiles() where !recordsFiles.contains(file) {
      guard let bytes = try? log.folder.disk.read("\(log.folder.ownFolder)/\(file)").bytes else { continue }
      lostIDs.add(records: bytes, of: lostIDs.mayConcernAll ? nil : lostIDs.tables)
    }
  }
}
