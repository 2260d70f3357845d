import FileDBTables
import Synchronization

/// A table in memory. No commit after its version has changed it, unless it ``isBehind``.
struct LoadedTable: Sendable {
  var version: TableVersion
  /// Whether there are commits that it does not include. Then it must be checked again before anybody builds on it.
  var isBehind = false
  /// Whether it must be read again.
  var isStale = false
}

/// The tables in memory, which follow the log. All code above gets its tables from here.
final class TablesInMemory: Sendable {
  private let log: any CommitLog
  let listeners = CommitListeners()
  /// Never locked during disk access, because readers lock it.
  private let cache = Mutex(TableCache())

  init(_ log: any CommitLog) { self.log = log }

  /// The table as readers see it; `nil` if it has never been read.
  func published(_ table: TableKey) -> TableState? { cache.withLock { $0.published[table]?.version.state } }

  /// The tables in memory whose schemas refer to this one.
  /// - Complexity: O(*t*) in the tables that were read.
  func tables(referringTo key: TableKey) -> [TableKey] {
    cache.withLock { cache in cache.published.compactMap { $1.version.state.refers(to: key) ? $0 : nil } }
  }

  /// All tables that have been read, at one moment.
  var allPublished: [TableKey: TableState] { cache.withLock { $0.published.mapValues(\.version.state) } }

  var known: [TableKey] { cache.withLock { $0.keys.sorted() } }

  /// The last commit that was applied.
  var position: UInt64 { cache.withLock(\.position) }

  /// How often a table fell behind the others, or got another base.
  var setbackCount: Int { cache.withLock(\.setbackCount) }

  /// Applies what others have committed since.
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

  /// The table with all commits up to the log's end, including commits of this process that are not durable yet. A
  /// writer has caught up before, and so has a reader that refreshes. A reader that reads a table for the first time
  /// may not have.
  /// - Throws: ``StoreError/Code/conflict``, the errors of reading the table, ``StoreError/Code/damagedJournal``.
  func newest(_ key: TableKey) throws(StoreError) -> TableVersion {
    while true {
      let known = cache.withLock { $0.newest(key) }
      let usable = known.flatMap { $0.isStale ? nil : $0 }
      // If the log has forgotten something by now, it is in the base that is checked next.
      let news = try usable.flatMap { table throws(StoreError) in
        table.isBehind ? try log.commits(after: table.version.through) : nil
      }
      let brought: TableVersion?
      if let version = try log.base(of: key, unless: usable?.version.base) {
        brought = try bring(key, version)
      } else if let usable {
        switch news {
        case nil: return usable.version
        case .forgotten(let start)?:
          let isWhole = log.includesAll(of: key, through: usable.version.through)
          cache.withLock { if isWhole { $0.advance(key, to: start) } else { $0.noteStale(key) } }
          continue
        case .commits?: brought = try bring(key, usable.version)
        }
      } else {
        continue
      }
      if let brought { return brought }
    }
  }

  /// The table with all commits up to the newest one that was applied here.
  /// - Throws: as ``newest(_:)``.
  func whole(_ key: TableKey) throws(StoreError) -> TableVersion {
    while true {
      try catchUp()
      _ = try newest(key)
      let version: TableVersion? = cache.withLock { cache in
        guard let known = cache.newest(key), !known.isBehind, !known.isStale else { return nil }
        return TableVersion(state: known.version.state, base: known.version.base, through: cache.position)
      }
      if let version { return version }
    }
  }

  /// The table as readers see it, with every commit that has returned, of any writer.
  /// - Throws: as ``newest(_:)``.
  /// - Complexity: if nothing has changed, one look at the log's end and at the base.
  func durable(_ key: TableKey) throws(StoreError) -> TableState {
    try catchUp()
    let newest = try newest(key)
    // Only the next writer may see commits that wait for their sync.
    return published(key) ?? newest.state
  }

  /// Brings a table up to the log's end, and keeps it.
  /// - Returns: `nil` if there was another base or another commit in between.
  private func bring(_ key: TableKey, _ version: TableVersion) throws(StoreError) -> TableVersion? {
    var version = version
    try catchUp()
    let end = position
    guard case .commits(let commits) = try log.commits(after: version.through) else { return nil }
    for commit in commits where commit.sequence <= end {
      let changes = commit.changes(of: key)
      if changes.isEmpty { continue }
      guard commit.tables[key]?.base == version.base else {
        cache.withLock { $0.noteStale(key) }
        return nil
      }
      do throws(StoreError) { for change in changes { try version.state.apply(change) } } catch {
        throw StoreError(
          .damagedJournal, "commit \(commit.sequence) does not fit the table: \(error.message)",
          table: key.text)
      }
    }
    version.through = end
    let table = LoadedTable(version: version)
    return show { $0.put(table, of: key, at: end) } ? version : nil
  }

  /// Adds a commit of this process. Readers do not see it yet.
  func add(_ commit: LoggedCommit, states: [TableKey: TableState]) {
    cache.withLock { $0.add(commit, states: states) }
  }

  /// Shows readers the commits up to this one.
  func publish(through sequence: UInt64) {
    // Reading a table shows it together with all waiting commits, so that no commit is seen in part. A table that
    // cannot be read stays as it was.
    for table in cache.withLock({ $0.staleTables(through: sequence) }) { _ = try? newest(table) }
    // Others committed first, to other tables.
    if position < sequence { try? catchUp() }
    show { $0.publish(through: sequence) }
  }

  /// Takes over a table that a repair has written.
  func replace(_ key: TableKey, by state: TableState, base: Int) {
    show { $0.replace(key, by: state, base: base) }
  }

  /// Changes what readers see, and notifies those who wait for changes.
  /// - Parameter change: returns the tables that changed for readers; `nil` if nothing could be done.
  @discardableResult
  private func show(_ change: (inout TableCache) -> Set<TableKey>?) -> Bool {
    // The listeners look at the cache, so it must not be locked when they are called.
    guard let tables = cache.withLock({ change(&$0) }) else { return false }
    listeners.tell(of: tables)
    return true
  }
}
