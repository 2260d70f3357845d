import FileDBStorage
import FileDBTables

/// The frames that the next journal begins with: those about tables that the checkpoint left out. Their commits get new
/// numbers.
struct CarriedFrames {
  private(set) var frames: [(kind: JournalFrame.Kind, payload: [UInt8])] = []
  /// The files of records that these frames refer to, and those among them that were written for this.
  private(set) var recordsFiles: Set<String> = []
  private(set) var newRecordsFiles: Set<String> = []

  init(of tables: Set<TableKey>, from log: FileLog) throws(StoreError) {
    if tables.isEmpty { return }
    guard let (journal, frames) = try log.disk.openJournal(log.folder.journalFile) else {
      throw log.damage("the journal is gone")
    }
    do throws(StoreError) {
      let starts = try Self.starts(in: frames, of: log)
      for (number, frame) in frames.enumerated() {
        let tables = tables.filter { starts[$0, default: 0] <= number }
        switch frame.kind {
        case .start, .written: break
        case .checkpoint: try add(log.checkpoint(in: frame, format: journal.format), of: tables)
        case .commit: try add(frame, of: tables, from: log, format: journal.format)
        }
      }
    } catch {
      log.folder.remove(newRecordsFiles)
      throw error
    }
  }

  /// For each table, the first frame with a commit that still waits. Everything before it is in the table's file.
  private static func starts(
    in frames: [JournalFrame], of log: FileLog
  ) throws(StoreError) -> [TableKey: Int] {
    var starts: [TableKey: Int] = [:]
    for (number, frame) in frames.enumerated() where frame.kind == .written {
      for table in try log.written(in: frame).files.keys { starts[table] = number }
    }
    return starts
  }

  private mutating func add(_ checkpoint: JournalCheckpoint, of tables: Set<TableKey>) {
    var checkpoint = checkpoint
    checkpoint.files = checkpoint.files.filter { tables.contains($0.key) }
    if !checkpoint.files.isEmpty { frames.append((.checkpoint, checkpoint.payload)) }
  }

  private mutating func add(
    _ frame: JournalFrame, of tables: Set<TableKey>, from log: FileLog, format: Int
  ) throws(StoreError) {
    let read = try log.commit(in: frame, format: format)
    var commit = read.commit
    commit.tables = commit.tables.filter { tables.contains($0.key) }
      .mapValues { JournalCommit.Table(sequence: nil, base: $0.base) }
    commit.changes = commit.changes.filter { tables.contains($0.table) }
    commit.undo = .none  // The start frame of the next journal contains it.
    if commit.tables.isEmpty { return }
    if let file = read.recordsFile, commit.changes.count == read.commit.changes.count {
      recordsFiles.insert(file.name)
      frames.append((.commit, commit.payload(recordsIn: file)))
    } else {
      let (payload, file) = try log.payload(of: commit)
      if let file {
        recordsFiles.insert(file.name)
        newRecordsFiles.insert(file.name)
      }
      frames.append((.commit, payload))
    }
  }
}
