import FileDBTables
import Synchronization

/// A table in memory.
struct LoadedTable: Sendable {
  var state: TableState
  /// The ``TableBase/number`` of what it was read from.
  var base: Int
  /// The last commit that changed it here; if it ``isBehind``, the last one that it includes.
  var sequence: UInt64
  /// Whether commits were carried out on it since it was read, or last written.
  var hasCommits = false
  /// Whether commits came that it does not include: it must be looked at again before anybody builds on it.
  var isBehind = false
  /// Whether it must be read again.
  var isStale = false
}

/// The tables in memory, which follow the log: the only way to a table for all that is above it.
final class TablesInMemory: Sendable {
  private let log: any CommitLog
  let listeners = CommitListeners()
  /// Never locked while the disk is at work, for readers take it.
  private let cache = Mutex(TableCache())

  init(_ log: any CommitLog) { self.log = log }

  /// The table as readers see it; `nil` if it was never read.
  func published(_ table: TableKey) -> TableState? { cache.withLock { $0.published[table]?.state } }

  /// The tables that were read whose schemas refer to this one.
  /// - Complexity: O(*t*) in the tables that were read.
  func tables(referringTo key: TableKey) -> [TableKey] {
    cache.withLock { cache in cache.published.compactMap { $1.state.refers(to: key) ? $0 : nil } }
  }

  /// All tables that were read, as of one moment.
  var allPublished: [TableKey: TableState] { cache.withLock { $0.published.mapValues(\.state) } }

  var known: [TableKey] { cache.withLock { $0.keys.sorted() } }

  /// The last commit that was taken in.
  var position: UInt64 { cache.withLock(\.position) }

  /// How often a table fell behind the others, or got another base.
  var setbackCount: Int { cache.withLock(\.setbackCount) }

  /// Takes in what others committed since.
  /// - Throws: ``StoreError/Code/damagedJournal``, and the disk's errors.
  func catchUp() throws(StoreError) {
    while true {
      let position = position
      switch try log.commits(after: position) {
      case .commits(let commits):
        if !commits.isEmpty { show { $0.follow(commits) } }
        return
      case .forgotten(let start): show { $0.skip(from: position, to: start) }
      }
    }
  }

  /// The table with all commits up to the log's end, also those of this process that are not durable yet. Who writes or
  /// refreshes has caught up before; who reads a table for the first time need not have.
  /// - Throws: ``StoreError/Code/conflict``, what reading it throws, ``StoreError/Code/damagedJournal``.
  func newest(_ key: TableKey) throws(StoreError) -> LoadedTable {
    while true {
      let known = cache.withLock { $0.newest(key) }
      let usable = known.flatMap { $0.isStale ? nil : $0 }
      // What the log has forgotten by now is in the base that is looked at next.
      let news = try usable.flatMap { table throws(StoreError) in
        table.isBehind ? try log.commits(after: table.sequence) : nil
      }
      let brought: LoadedTable?
      if let base = try log.base(of: key, unless: usable?.base) {
        let table = LoadedTable(
          state: base.state, base: base.number, sequence: base.sequence, hasCommits: base.isMerged)
        brought = try bring(key, table, lookedAt: base.end)
      } else if let usable {
        switch news {
        case nil: return usable
        case .forgotten(let start)?:
          cache.withLock { $0.note(key, includes: start) }
          continue
        case .commits(let commits)?:
          brought = try bring(key, usable, lookedAt: commits.last?.sequence ?? usable.sequence)
        }
      } else {
        continue
      }
      if let brought { return brought }
    }
  }

  /// The table as readers see it, with every commit that returned before, whoever made it.
  /// - Throws: as ``newest(_:)``.
  /// - Complexity: without news a look at the log's end and at the base.
  func durable(_ key: TableKey) throws(StoreError) -> TableState {
    try catchUp()
    let newest = try newest(key)
    // Commits that wait for their sync are the next writer's to see.
    return published(key) ?? newest.state
  }

  /// Brings a table up to the log's end, and keeps it.
  /// - Parameter lookedAt: the last commit that was there when the base was found to be the newest.
  /// - Returns: `nil` if there was a checkpoint or another commit in between.
  private func bring(
    _ key: TableKey, _ table: LoadedTable, lookedAt: UInt64
  ) throws(StoreError) -> LoadedTable? {
    var table = table
    try catchUp()
    let end = position
    guard case .commits(let commits) = try log.commits(after: table.sequence) else { return nil }
    for commit in commits where commit.sequence <= end {
      let changes = commit.changes(of: key)
      if changes.isEmpty { continue }
      if commit.sequence > lookedAt, commit.tables[key]?.base != table.base {
        cache.withLock { $0.noteStale(key) }
        return nil
      }
      table.hasCommits = true
      do throws(StoreError) { for change in changes { try table.state.apply(change) } } catch {
        throw StoreError(
          .damagedJournal, "commit \(commit.sequence) does not fit the table: \(error.message)",
          table: key.text)
      }
    }
    (table.sequence, table.isBehind, table.isStale) = (end, false, false)
    return show { $0.put(table, of: key, at: end) } ? table : nil
  }

  /// Takes a commit of this process, which readers do not see yet.
  func add(_ commit: LoggedCommit, states: [TableKey: TableState]) {
    cache.withLock { $0.add(commit, states: states) }
  }

  /// Shows readers the commits up to this one.
  func publish(through sequence: UInt64) {
    // Each shows what it reads together with all that waits, so that no commit is seen by half. What cannot be read stays as
    // it was.
    for table in cache.withLock({ $0.staleTables(through: sequence) }) { _ = try? newest(table) }
    // Others were quicker, with other tables.
    if position < sequence { try? catchUp() }
    show { $0.publish(through: sequence) }
  }

  /// Takes over the numbers of bases that a checkpoint or a repair has written.
  /// - Parameter states: those that became other tables by that.
  func note(_ bases: [TableKey: Int], states: [TableKey: TableState] = [:]) {
    show { $0.note(bases, states: states) }
  }

  /// Changes what readers see, and tells those who wait for that.
  /// - Parameter change: returns the tables that are seen anew; `nil` if nothing could be done.
  @discardableResult
  private func show(_ change: (inout TableCache) -> Set<TableKey>?) -> Bool {
    // Who is told looks at the cache, which must not be locked then.
    guard let tables = cache.withLock({ change(&$0) }) else { return false }
    listeners.tell(of: tables)
    return true
  }
}
