import FileDBPlist
import FileDBStorage
import FileDBTables

/// The commits of a damaged journal that can still be read, by table, and what became of the others.
struct SalvagedJournal {
  private(set) var notes: [String]
  private(set) var lostCount: Int
  private(set) var pending: [TableKey: PendingTable] = [:]
  private(set) var lostIDs = LostIDs()
  /// The commit after which the repaired journal begins: the last one, or 0 if there is no higher number.
  let sequence: UInt64

  private let log: FileLog
  private let format: Int
  /// The files of records to which commits refer that can be read.
  private var recordsFiles: Set<String> = []

  /// - Parameter bytes: the journal.
  /// - Throws: ``StoreError/Code/newerFormat``.
  init(_ bytes: [UInt8], of log: FileLog) throws(StoreError) {
    let salvage = try log.disk.salvageJournal(bytes, path: log.folder.journalFile)
    self.log = log
    format = salvage.format
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
      if let checkpoint = try? log.checkpoint(in: frame, format: format) {
        pending.add(checkpoint, at: frame.sequence)
      }
    case .written:
      if let written = try? log.written(in: frame) {
        for table in written.files.keys { pending[table] = nil }
      }
    case .commit:
      if let (commit, _, file) = try? log.commit(in: frame, format: format) {
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
      // The frame that named the table's file may be the one that is lost. Then the present file is used.
      if pending[table] == nil {
        let versions = former.base.map { [(version: $0, lastCommit: frame.sequence - 1)] } ?? []
        pending[table] = PendingTable(versions: versions)
      }
      let changes = commit.changes.filter { $0.table == table }
      pending[table]?.append(
        .init(sequence: frame.sequence, changes: changes, byteCount: frame.payload.count))
    }
  }

  /// Adds the files of records that only commits which cannot be read may have referred to.
  private mutating func addLostRecords() {
    for file in log.folder.recordsFiles() where !recordsFiles.contains(file) {
      guard let bytes = try? log.folder.disk.read("\(log.folder.ownFolder)/\(file)").bytes else { continue }
      lostIDs.add(records: bytes, of: lostIDs.mayConcernAll ? nil : lostIDs.tables)
    }
  }
}
