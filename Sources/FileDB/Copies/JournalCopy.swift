import FileDBEssentials
import FileDBPlist
import FileDBTables

/// A copy of the journal that a sync service made, because two machines had written to the store before either had the
/// other's journal. The commits that wait in it may be nowhere else.
package struct JournalCopy: Sendable {
  package let stray: StrayFile
  let path: String
  private let log: FileLog

  init(_ stray: StrayFile, in folder: StoreFolder, options: StoreOptions) {
    self.stray = stray
    path = "\(folder.ownFolder)/\(stray.file)"
    var options = options
    options.reading = .whole
    log = FileLog(folder.reading(journal: stray.file), options: options)
  }

  /// The tables for which commits wait in the copy. Their files may already have what these commits did.
  /// - Throws: ``StoreError/Code/damagedJournal``, for example while only a part of the copy has arrived.
  package var tables: [String] {
    get throws(StoreError) {
      try log.readOn()
      let waiting = log.state.withLock { Array($0.pending.keys) }
      return waiting.map(\.text).filter { $0 != StoreFolder.installedTable }.sorted {
        compareUTF8($0, $1) < 0
      }
    }
  }

  /// A table without and with the commits that wait in the copy. If they do not fit the table's file, only what they add
  /// is added, as for ``ConflictChoice/both``.
  func versions(of table: String) throws(StoreError) -> (file: TableState, table: TableState) {
    let key = TableKey(table)
    try log.readOn()
    let file = try log.readFile(of: key).table.get()
    do throws(StoreError) { return (file, try log.readNewest(key).state) } catch {
      guard error.code == .conflict, let waiting = log.pendingTable(key) else { throw error }
      var state = file
      for change in waiting.changes { _ = state.applyAdding(change, newIDsAbove: waiting.highestID) }
      state.raiseCounter(to: waiting.counter)
      return (file, state)
    }
  }
}

extension RecordStore {
  /// The copies of the journal. In the folder of a shared store, no commit waits in the journal alone.
  package var journalCopies: [JournalCopy] {
    get throws {
      guard shownFiles == nil, let folder = visibleFolder else { return [] }
      return try folder.journalCopies().map { JournalCopy($0, in: folder, options: options) }
    }
  }
}
