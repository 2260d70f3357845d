import FileDBEssentials
import FileDBPlist
import FileDBStorage
import FileDBTables
import Synchronization

/// The log of a folder: its journal, and the tables' files, which include the commits up to some point.
///
/// ``append(timeout:_:taking:)`` is in `Commit.swift`, and ``checkpoint(timeout:of:)`` in `Checkpoint.swift`. Each is
/// one function that shows all steps for durability in order.
package final class FileLog: CommitLog {
  struct State {
    var journal: Journal?
    /// The salt of the journal that was read last.
    var salt: UInt32 = 0
    /// The last commit before the journal.
    var start: UInt64 = 0
    /// The commits in the journal.
    var commits: [LoggedCommit] = []
    /// The newest step of the undo log.
    var undoHead: CommitToken?
    /// The commits by table.
    var pending: [TableKey: PendingTable] = [:]
    /// The tables' files, as last read or written.
    var files: [TableKey: KnownFile] = [:]
    var lastFileNumber = 0
    /// The numbers of the files that this process knows to be durable. Versions would not do, because another program
    /// may have saved something else in between.
    var durableFiles: [TableKey: Int] = [:]
    /// The files that are durable according to the journal.
    var writtenFiles: [TableKey: WrittenFiles.File] = [:]
    /// Whether the journal's name is durable: either this process has synced the folder since it saw this journal
    /// there, or the journal says that another process has.
    var isNameSynced = false
    /// Whether a commit of the journal refers to a file of records.
    var hasRecordsFiles = false
    /// Whether this process holds the store's lock, so that nobody else adds to the journal.
    var isLocked = false
    /// Commits of this process that wait for their sync.
    var waiting: [FileTicket] = []
    /// Why a sync failed. The system reports this once and may have dropped the bytes, so a later sync that succeeds
    /// proves nothing: see https://wiki.postgresql.org/wiki/Fsync_Errors.
    var failure: DiskError?
  }

  /// A table's file as it was read or written, without the commits in the journal.
  struct KnownFile {
    /// Distinguishes this content from others of the same table.
    let number: Int
    let path: String
    let content: FileContent
    /// `nil` if there is no file.
    let stamp: FileStamp?
  }

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
  package var sizes: (journal: Int, files: Int) {
    state.withLock { state in
      // Nobody checks the sizes that a journal names.
      let files = state.pending.values.reduce(0) { sum, table in
        let (larger, isTooLarge) = sum.addingReportingOverflow(table.versions.first?.version.size ?? 0)
        return isTooLarge ? .max : larger
      }
      let commits = state.pending.values.reduce(0) { max($0, $1.byteCount) }
      return (max(state.journal?.end ?? 0, commits), files)
    }
  }

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

extension FileLog.State {
  /// The last commit that is known.
  var end: UInt64 { start + UInt64(commits.count) }

  mutating func noteUndo(_ commit: JournalCommit) {
    switch commit.undo {
    case .none: break
    case .step: undoHead = commit.token
    case .end: undoHead = nil
    }
  }

  /// Another process removed or replaced the journal. So no file is known to be the one from before, and neither is a
  /// missing file.
  mutating func forgetFiles() { (files, durableFiles) = ([:], [:]) }

  /// Whether the journal says that the present file is durable. It does not say so of another file, or of a file that
  /// another program has touched.
  func isKnownToBeWritten(_ table: TableKey) -> Bool {
    guard let written = writtenFiles[table], let identity = written.identity, let known = files[table] else {
      return false
    }
    return known.stamp.flatMap { WrittenFiles.Identity($0) } == identity
      && known.content.version == written.version
  }

  /// Takes over what a checkpoint has done: nothing waits for these tables any more.
  mutating func settle(_ written: WrittenFiles) {
    for (table, file) in written.files {
      pending[table] = nil
      writtenFiles[table] = file
    }
    if let inode = written.journal, inode == journal.flatMap({ Int64(exactly: $0.inode) }) {
      isNameSynced = true
    }
  }

  /// Records the present content of a table's file.
  /// - Returns: the file, with its former number if the content is the same.
  mutating func setFile(
    _ content: FileContent, at path: String, _ stamp: FileStamp?, of table: TableKey
  ) -> FileLog.KnownFile {
    if let known = files[table], known.path == path, known.stamp == stamp, stamp?.isSettled ?? true {
      return known
    }
    lastFileNumber += 1
    let file = FileLog.KnownFile(number: lastFileNumber, path: path, content: content, stamp: stamp)
    files[table] = file
    return file
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
