import FileDBTables
import Synchronization

/// The versions of a store's tables that are in memory, for the next writer and for readers. They follow the log, of
/// whatever kind it is. All code above gets its tables from here.
///
/// A version in memory is right as long as its lineage is that of the log's base; see ``TableVersion``. Then it needs
/// only the commits after its number.
final class TableVersions: Sendable {
  private let log: any CommitLog
  let listeners = CommitListeners()
  /// Never locked during disk access, because readers lock it.
  private let state = Mutex(State())

  init(_ log: any CommitLog) { self.log = log }

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

  // MARK: Writing

  /// Appends a commit to the log. The next writer sees it at once. Readers see it after ``wait(for:)``.
  /// - Parameters:
  ///   - timeout: how long to wait for other writers.
  ///   - transact: called when all commits of others are applied; `nil` if there is nothing to commit. It may be called
  ///     again if another writer was first.
  /// - Returns: `nil` if there was no commit.
  /// - Throws: as the log's ``CommitLog/append(timeout:_:beforeOthersSee:)``.
  func append(timeout: Duration, _ transact: () throws -> NewCommit?) throws -> AppendedCommit? {
    var (states, sequence): ([TableKey: TableState], UInt64) = ([:], 0)
    let ticket = try log.append(timeout: timeout) {
      try catchUp()
      let commit = try transact()
      states = commit?.states ?? [:]
      return commit
    } beforeOthersSee: { commit in
      // Add the commit before anybody can read it in the log. Otherwise another thread would take it for the commit of
      // another process, and show it to readers before it is durable.
      state.withLock { $0.add(commit, states: states) }
      sequence = commit.sequence
    }
    return ticket.map { AppendedCommit(ticket: $0, sequence: sequence) }
  }

  /// Waits until a commit is durable, and shows it to readers.
  /// - Throws: ``StoreError/Code/outcomeUnknown``.
  func wait(for commit: AppendedCommit) throws(StoreError) {
    // If the sync fails, readers see the commit all the same: it is in the log now, even if a power cut might remove
    // it.
    defer { publish(through: commit.sequence) }
    try commit.ticket.wait()
  }

  /// Shows readers the commits up to this one.
  private func publish(through sequence: UInt64) {
    // Reading a table shows it together with all waiting commits, so that no commit is seen in part. A table that
    // cannot be read stays as it was.
    for table in state.withLock({ $0.outdatedTables(through: sequence) }) { _ = try? newest(table) }
    // Other processes committed to other tables before it.
    if position < sequence { try? catchUp() }
    show { $0.publish(through: sequence) }
  }

  /// Takes over a table that a repair has written.
  func replace(_ key: TableKey, by table: TableState, lineage: Int) {
    show { $0.replace(key, by: table, lineage: lineage) }
  }

  /// Changes what readers see, and notifies those who wait for changes.
  /// - Parameter change: returns the tables that changed for readers; `nil` if nothing could be done.
  @discardableResult
  private func show(_ change: (inout State) -> Set<TableKey>?) -> Bool {
    // The listeners look at the tables, so the lock must be free when they are called.
    guard let tables = state.withLock({ change(&$0) }) else { return false }
    listeners.tell(of: tables)
    return true
  }
}

/// A commit of this process that is in the log, but may not be durable yet.
struct AppendedCommit: Sendable {
  fileprivate let ticket: any CommitTicket
  fileprivate let sequence: UInt64
}

// MARK: - Reading

extension TableVersions {
  /// The table with all commits up to ``TableVersion/through``, including commits of this process that are not durable
  /// yet. A writer has caught up before, and so has a reader that refreshes. A reader that reads a table for the first
  /// time may not have.
  /// - Throws: ``StoreError/Code/conflict``, the errors of reading the table, ``StoreError/Code/damagedJournal``.
  func newest(_ key: TableKey) throws(StoreError) -> TableVersion {
    while true {
      let found = state.withLock { $0.newest(key) }
      let known = found.flatMap { $0.standing == .outdated ? nil : $0 }
      // If the log forgets commits after this, the base includes them, and it is checked next.
      let news = try known.flatMap { known throws(StoreError) in
        known.standing == .behind ? try log.commits(after: known.version.through) : nil
      }
      let brought: TableVersion?
      if let base = try log.base(of: key, unless: known?.version) {
        brought = try bring(key, base)
      } else if let known {
        switch news {
        case nil: return known.version
        case .commits?: brought = try bring(key, known.version)
        case .forgotten(let start)?:
          state.withLock { $0.advance(key, to: start) }
          // This notices if another log has taken its place.
          try catchUp()
          continue
        }
      } else {
        continue
      }
      if let brought { return brought }
    }
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
      guard commit.tables[key] == version.lineage else {
        state.withLock { $0.outdate(key) }
        return nil
      }
      do throws(StoreError) { for change in changes { try version.state.apply(change) } } catch {
        throw StoreError(
          .damagedJournal, "commit \(commit.sequence) does not fit the table: \(error.message)",
          table: key.text)
      }
    }
    version.through = end
    return show { $0.put(version, of: key) } ? version : nil
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

  /// The table as readers see it; `nil` if it has never been read.
  func published(_ table: TableKey) -> TableState? { state.withLock { $0.published[table]?.version.state } }

  /// All tables that have been read, at one moment.
  var allPublished: [TableKey: TableState] { state.withLock { $0.published.mapValues(\.version.state) } }

  /// The tables that have been read.
  var known: [TableKey] { state.withLock { $0.published.keys.sorted() } }

  /// The tables that have been read and that are wanted.
  /// - Complexity: O(*t*) in the tables that were read.
  func tables(where isWanted: (TableState) -> Bool) -> [TableKey] {
    state.withLock { state in state.published.compactMap { isWanted($1.version.state) ? $0 : nil } }
  }

  /// The last commit that was applied.
  var position: UInt64 { state.withLock(\.position) }

  /// How often a table fell behind the others, or got another lineage.
  var setbackCount: Int { state.withLock(\.setbackCount) }
}

// MARK: - The state

extension TableVersions {
  /// A table in memory, and whether it can be used.
  struct Known: Sendable {
    enum Standing: Sendable {
      /// It includes all commits up to the position.
      case current
      /// The log has forgotten commits, which the table may lack. It must be checked again before it is used.
      case behind
      /// Its lineage has ended. It must be read again.
      case outdated
    }

    var version: TableVersion
    var standing = Standing.current
  }

  /// The tables that readers see are durable. A commit that waits for its sync is seen only by the next writer. The
  /// functions that change what readers see return these tables.
  struct State: Sendable {
    /// What readers see.
    private(set) var published: [TableKey: Known] = [:]
    /// The commits of this process that readers do not see yet.
    private var waiting: [WaitingCommit] = []
    /// The last commit that was applied. Every current table includes it.
    private(set) var position: UInt64 = 0
    /// How often a table fell behind the others, or got another lineage.
    private(set) var setbackCount = 0

    private struct WaitingCommit: Sendable {
      let sequence: UInt64
      /// The tables as this commit left them.
      let tables: [TableKey: Known]
      /// The tables whose files were replaced meanwhile, and read by another thread.
      let outdatedTables: [TableKey]
    }
  }
}

extension TableVersions.State {
  /// The table with all commits, including those that wait.
  func newest(_ key: TableKey) -> TableVersions.Known? {
    let last = waiting.last { $0.tables[key] != nil || $0.outdatedTables.contains(key) }
    guard var known = last?.tables[key] ?? published[key] else { return nil }
    if known.standing == .current { known.version.through = position }
    return known
  }

  /// Adds a commit of this process that is in the log, but not yet durable. If commits of others before it were not
  /// applied yet, it is applied together with these.
  mutating func add(_ commit: LoggedCommit, states: [TableKey: TableState]) {
    guard commit.sequence == position + 1 else { return }
    var (tables, outdatedTables): ([TableKey: TableVersions.Known], [TableKey]) = ([:], [])
    for (table, state) in states {
      guard var known = newest(table) else { continue }
      // Another thread read another file while the commit was being appended.
      guard commit.tables[table] == known.version.lineage else {
        outdate(table)
        outdatedTables.append(table)
        continue
      }
      known.version.state = state
      known.version.through = commit.sequence
      tables[table] = known
    }
    waiting.append(
      WaitingCommit(sequence: commit.sequence, tables: tables, outdatedTables: outdatedTables))
    position = commit.sequence
  }

  /// The tables that must be read again before the commits up to `sequence` can be shown.
  func outdatedTables(through sequence: UInt64) -> [TableKey] {
    waiting.prefix { $0.sequence <= sequence }.flatMap(\.outdatedTables)
  }

  /// Shows readers the commits of this process up to `sequence`.
  mutating func publish(through sequence: UInt64) -> Set<TableKey> {
    let count = waiting.prefix { $0.sequence <= sequence }.count
    var shown: Set<TableKey> = []
    for commit in waiting.prefix(count) {
      published.merge(commit.tables) { $1 }
      // They were not read again.
      for table in commit.outdatedTables { published[table]?.standing = .outdated }
      shown.formUnion(commit.tables.keys)
    }
    waiting.removeFirst(count)
    return shown
  }

  /// Applies the commits of others to the tables, all at once. Commits that still wait for their sync are shown
  /// together with them.
  mutating func follow(_ commits: [LoggedCommit]) -> Set<TableKey> {
    var shown = publish(through: .max)
    for commit in commits where commit.sequence > position {
      for (table, lineage) in commit.tables {
        guard let known = published[table], known.standing == .current else { continue }
        shown.insert(table)
        if lineage == known.version.lineage, let next = known.version.following(commit, of: table) {
          published[table]?.version = next
        } else {
          outdate(table)
        }
      }
      position = commit.sequence
    }
    return shown
  }

  /// Continues after commits that the log has forgotten: the tables may lack some of them. If another log has taken its
  /// place, it may end before these commits. Then nothing about the tables is certain.
  /// - Parameter asked: the ``position`` for which the log was asked.
  mutating func skip(from asked: UInt64, to sequence: UInt64) -> Set<TableKey>? {
    guard position == asked else { return nil }  // Another thread was first.
    let shown = publish(through: .max)
    let isAnotherLog = sequence < asked
    for (table, known) in published {
      if isAnotherLog {
        published[table]?.standing = .outdated
      } else if known.standing == .current {
        published[table]?.standing = .behind
        published[table]?.version.through = asked
      }
    }
    position = sequence
    setbackCount += 1
    return shown
  }

  /// Adds a table that was read.
  /// - Returns: `nil` if the other tables are at another commit by now.
  mutating func put(_ version: TableVersion, of key: TableKey) -> Set<TableKey>? {
    guard position == version.through else { return nil }
    let shown = publish(through: .max)
    published[key] = TableVersions.Known(version: version)
    return shown.union([key])
  }

  /// From now on, the table must be read again before it is used.
  mutating func outdate(_ table: TableKey) {
    published[table]?.standing = .outdated
    setbackCount += 1
  }

  /// Moves a table that is behind on to `sequence`: it includes all commits up to there.
  mutating func advance(_ table: TableKey, to sequence: UInt64) {
    guard let known = published[table], known.standing == .behind else { return }
    published[table]?.version.through = max(known.version.through, sequence)
    if sequence >= position { published[table]?.standing = .current }
  }

  /// Takes over a table that was written without a commit.
  mutating func replace(_ key: TableKey, by table: TableState, lineage: Int) -> Set<TableKey> {
    let shown = publish(through: .max)
    let version = TableVersion(state: table, lineage: lineage, through: position)
    published[key] = TableVersions.Known(version: version)
    setbackCount += 1
    return shown.union([key])
  }
}

extension TableVersion {
  /// The version after a commit of another process; `nil` if the commit does not fit. Then reading the table again
  /// reports what is wrong.
  fileprivate func following(_ commit: LoggedCommit, of table: TableKey) -> TableVersion? {
    var next = self
    do throws(StoreError) { for change in commit.changes(of: table) { try next.state.apply(change) } } catch {
      return nil
    }
    next.through = commit.sequence
    return next
  }
}

/// An object that is notified when readers see something new.
protocol CommitListener: Sendable {
  func tell(of tables: Set<TableKey>)
  /// The store was closed or released.
  func finish()
}

final class CommitListeners: Sendable {
  private struct State {
    var listeners: [any CommitListener] = []
    var isFinished = false
  }

  private let state = Mutex(State())

  /// Adds a listener. If the store has ended already, the listener is notified of that.
  func add(_ listener: any CommitListener) {
    let isFinished = state.withLock { state in
      state.listeners.append(listener)
      return state.isFinished
    }
    if isFinished { listener.finish() }
  }

  func tell(of tables: Set<TableKey>) {
    if tables.isEmpty { return }
    for listener in state.withLock(\.listeners) { listener.tell(of: tables) }
  }

  func finish() {
    let listeners = state.withLock { state in
      state.isFinished = true
      return state.listeners
    }
    for listener in listeners { listener.finish() }
  }
}
