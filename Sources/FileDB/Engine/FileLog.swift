import FileDBEssentials
import FileDBPlist
import FileDBStorage
import FileDBTables
import Synchronization

/// The log of a folder: its journal, and the tables' files, which include the commits up to some point.
///
/// ``append(timeout:_:beforeOthersSee:)`` is in `Commit.swift`, and ``checkpoint(_:patience:timeout:exclusively:of:)``
/// in `Checkpoint.swift`. Each of these files shows all steps for durability in order.
package final class FileLog: CommitLog {
  package let folder: StoreFolder
  let options: StoreOptions
  private let watched: [StoreFolder]
  let state = Mutex(State())
  let syncs = GroupSync()
  /// Whether the first checkpoint has looked for what a crash left beside linked tables. It does so once.
  let hasSweptLinks = Atomic<Bool>(false)

  /// - Parameter others: more folders whose changes the watch reports.
  package init(_ folder: StoreFolder, options: StoreOptions, alsoWatching others: [StoreFolder] = []) {
    (self.folder, self.options, watched) = (folder, options, [folder] + others)
  }

  var disk: StoreDisk { folder.disk }

  /// Whether a sync failed. Then nothing more may be built on what may be lost.
  package var hasFailed: Bool { state.withLock { $0.failure != nil } }

  /// The length of the journal with its files of records, and of the files that it changes, in bytes.
  package var sizes: JournalSizes { state.withLock(\.sizes) }

  /// The newest step of the undo log, as far as the journal has been read.
  var undoHead: CommitToken? { state.withLock(\.undoHead) }

  /// The file of a table as last read or written, if it includes all commits; `nil` if some commits are missing in it.
  func wholeFile(of table: TableKey) -> KnownFile? {
    state.withLock { $0.pending[table] == nil ? $0.files[table] : nil }
  }

  /// The number of commits in the journal that a table's file lacks, as of the last reading of both.
  package func commitCount(missingIn table: TableKey) -> Int {
    state.withLock { state in
      guard let pending = state.pending[table], let file = state.files[table] else { return 0 }
      let last = pending.lastCommit(in: file.content.version) ?? 0
      return pending.commits.count { $0.sequence > last }
    }
  }

  /// The tables whose files lack commits, as of the last reading of both.
  var tablesBehind: [TableKey] {
    state.withLock { Array($0.pending.keys) }.filter { commitCount(missingIn: $0) > 0 }
  }

  func pendingTable(_ table: TableKey) -> PendingTable? { state.withLock { $0.pending[table] } }

  func damage(_ message: String, table: TableKey? = nil) -> StoreError {
    StoreError(.damagedJournal, message, file: folder.journalFile, table: table?.text)
  }

  /// What is wrong if there is no number for another commit. It takes a damaged or a forged journal to get there.
  var numberFault: StoreError? {
    guard let journal = state.withLock(\.journal), journal.sequence >= JournalFrame.highestSequence else {
      return nil
    }
    return damage("the last commit has the highest number that there is; 'filedb repair' begins again with 1")
  }

  package func makeWatch() throws(StoreError) -> (any LogWatch)? {
    try disk.makeWatch().map { FileLogWatch($0, of: watched) }
  }
}

/// Reports changes in a store's folder and in the folders that its links lead to.
private struct FileLogWatch: LogWatch {
  private let watch: FolderWatch
  private let folders: [StoreFolder]

  init(_ watch: FolderWatch, of folders: [StoreFolder]) { (self.watch, self.folders) = (watch, folders) }

  func prepare() -> Bool { watch.watch(folders.flatMap(\.watchedFolders)) }
  func wait(upTo timeout: Duration?) { watch.wait(upTo: timeout) }
  func interrupt() { watch.interrupt() }
}
