import FileDBEssentials
import FileDBTables

/// A copy of the journal that a sync service made, because two machines had written to the store before either had the
/// other's journal. The commits that wait in it may be nowhere else.
package struct JournalCopy: Sendable {
  /// The file's name.
  package let file: String
  /// What it is, such as "Syncthing's copy of a conflict".
  package let kind: String
  /// The machine that it came from, or the file: the commits of one journal are of one machine.
  let machine: String
  let path: String
  private let log: FileLog

  init(_ file: String, in folder: StoreFolder, options: StoreOptions) {
    let stray = StrayFile(file: file)
    (self.file, path) = (file, "\(folder.ownFolder)/\(file)")
    kind = stray?.kind ?? "perhaps a sync service's copy of a conflict"
    machine = stray.map(\.machine).flatMap { $0.isEmpty ? nil : $0 } ?? file
    var options = options
    options.reading = .whole
    log = FileLog(folder.reading(journal: file), options: options)
  }

  /// The tables for which commits wait in the copy. Their files may already have what these commits did.
  /// - Throws: ``StoreError/Code/damagedJournal``, for example while only a part of the copy has arrived.
  package var tables: [String] {
    get throws(StoreError) {
      try log.readOn()
      let waiting = log.state.withLock { Array($0.pending.keys) }
      return waiting.filter { StoreFolder.isAllowed($0) && $0.text != StoreFolder.installedTable }.sorted()
        .map(\.text)
    }
  }

  /// A table's file with the commits that wait in the copy. If they do not fit the file, only the records that they have
  /// added or changed.
  func state(of table: String) throws(StoreError) -> TableState {
    let key = TableKey(table)
    do throws(StoreError) { return try log.readUntilStable(key).state } catch {
      guard error.code == .conflict, let waiting = log.pendingTable(key) else { throw error }
      let file = try log.readFile(of: key).table.get()
      var state =
        file.exists ? TableState(counter: 0, records: [], foreignKeys: file.foreignKeys) : TableState()
      for change in waiting.changes { _ = state.applyFitting(change) }
      state.raiseCounter(to: waiting.counter)
      return state
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
