import FileDBPlist
import FileDBStorage
import Foundation
import Synchronization

/// The commits in the store's journal, as far as this process has read it, and the tables in memory, which follow them.
final class CommitLog: Sendable {
  struct State {
    var journal: Journal?
    /// Whether this process has synced the folder since it saw this journal in it.
    var isNameSynced = false
    /// The tables' files that this process knows to survive a power cut.
    var durableFiles: [TableKey: FileVersion] = [:]
    /// How many journals were read until now: each checkpoint puts another in place.
    var journalCount = 0
    var pending: [TableKey: PendingTable] = [:]
    /// Commits of this process that wait for their sync.
    var waiting: [CommitTicket] = []
    /// Why the last sync failed. The system reports that once and may have dropped the bytes, so a second sync that
    /// succeeds proves nothing: see https://wiki.postgresql.org/wiki/Fsync_Errors.
    var failure: DiskError?
  }

  let folder: StoreFolder
  let options: StoreOptions
  let state = Mutex(State())
  /// Locked after ``state`` where both are, and never while the disk is at work: readers take it.
  let cache = Mutex(TableCache())
  let syncs = GroupSync()
  let signals = ChangeSignals()

  init(folder: StoreFolder, options: StoreOptions) {
    self.folder = folder
    self.options = options
  }

  /// The table as readers see it; `nil` where it was never read.
  func published(_ table: TableKey) -> CachedTable? { cache.withLock { $0.published[table] } }

  /// The table with the commits that wait for their sync.
  func newest(_ table: TableKey) -> CachedTable? { cache.withLock { $0.newest(table) } }

  /// Changes what readers see, and wakes those who wait for that.
  func show(_ change: (inout TableCache) -> Set<TableKey>) {
    // Who is woken looks at the cache, which must not be locked then.
    let tables = cache.withLock { change(&$0) }
    signals.tell(of: tables)
  }

  /// How many journals were read until now.
  var journalCount: Int { state.withLock(\.journalCount) }

  var knownTables: [TableKey] { cache.withLock { $0.keys.sorted() } }

  /// The last commit.
  var sequence: UInt64 { state.withLock { $0.journal?.sequence ?? 0 } }

  /// The tables that the journal holds commits for, in the order of their names.
  var pendingTables: [TableKey] { state.withLock { $0.pending.keys.sorted() } }

  func pendingTable(_ table: TableKey) -> PendingTable? { state.withLock { $0.pending[table] } }

  /// Which of the user's tables the journal makes exist, or not exist any more.
  var pendingExistence: [TableKey: Bool] {
    var existence = state.withLock { $0.pending.compactMapValues(\.exists) }
    existence[TableKey(StoreFolder.installedTable)] = nil
    return existence
  }

  /// How long the journal is, and the files that it changes.
  var sizes: (journal: Int, files: Int) {
    state.withLock { state in
      let files = state.pending.values.reduce(0) { $0 + ($1.versions.first?.version.size ?? 0) }
      return (state.journal?.end ?? 0, files)
    }
  }
}

/// A commit that is in the journal and waits for its sync.
final class CommitTicket: Sendable {
  enum Outcome {
    case durable
    case unknown(DiskError)
  }

  let sequence: UInt64
  let file: any OpenFile
  let outcome = Mutex<Outcome?>(nil)

  init(sequence: UInt64, file: any OpenFile) {
    self.sequence = sequence
    self.file = file
  }
}
