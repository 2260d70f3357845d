import FileDBTables

/// The tables in memory, as values. The tables that readers see are durable. A commit that waits for its sync is seen
/// only by the next writer. Each function returns the tables that have changed for readers.
struct TableCache: Sendable {
  private(set) var published: [TableKey: LoadedTable] = [:]
  private var unpublished: [TableKey: LoadedTable] = [:]
  private var waiting: [WaitingCommit] = []
  /// The last commit that was applied. Every table includes it, except those that are behind.
  private(set) var position: UInt64 = 0
  /// How often a table fell behind the others, or got another base.
  private(set) var setbackCount = 0

  /// A commit of this process that readers do not see yet.
  private struct WaitingCommit: Sendable {
    let sequence: UInt64
    /// The tables as this commit left them.
    let tables: [TableKey: LoadedTable]
    /// The tables for which another thread has read another file in the meantime.
    let staleTables: [TableKey]
  }

  /// The table with all commits, including those that wait.
  func newest(_ table: TableKey) -> LoadedTable? { unpublished[table] ?? published[table] }

  var keys: Set<TableKey> { Set(published.keys).union(unpublished.keys) }

  /// Adds a commit of this process that is in the log, but not yet durable. If commits of others before it were not
  /// applied yet, it is applied together with these.
  mutating func add(_ commit: LoggedCommit, states: [TableKey: TableState]) {
    guard commit.sequence == position + 1 else { return }
    var (tables, staleTables): ([TableKey: LoadedTable], [TableKey]) = ([:], [])
    for (table, state) in states {
      guard var known = newest(table) else { continue }
      // Another thread read another file while the commit was being appended.
      guard known.version.base == commit.tables[table]?.base else {
        published[table]?.isBehind = true
        published[table]?.isStale = true
        staleTables.append(table)
        setbackCount += 1
        continue
      }
      known.version.state = state
      known.version.through = commit.sequence
      tables[table] = known
    }
    unpublished.merge(tables) { $1 }
    waiting.append(
      WaitingCommit(sequence: commit.sequence, tables: tables, staleTables: staleTables))
    position = commit.sequence
  }

  /// The tables that must be read again before the commits up to `sequence` can be shown.
  func staleTables(through sequence: UInt64) -> [TableKey] {
    waiting.prefix { $0.sequence <= sequence }.flatMap(\.staleTables)
  }

  /// Shows readers the commits of this process up to `sequence`.
  mutating func publish(through sequence: UInt64) -> Set<TableKey> {
    let count = waiting.prefix { $0.sequence <= sequence }.count
    var shown: Set<TableKey> = []
    for commit in waiting.prefix(count) {
      published.merge(commit.tables) { $1 }
      shown.formUnion(commit.tables.keys)
    }
    waiting.removeFirst(count)
    unpublished = unpublished.filter { $0.value.version.through > sequence }
    return shown
  }

  /// Applies the commits of others to the tables, all at once. Commits that still wait for their sync are shown
  /// together with them.
  mutating func follow(_ commits: [LoggedCommit]) -> Set<TableKey> {
    var shown = publish(through: .max)
    for commit in commits where commit.sequence > position {
      for (table, former) in commit.tables {
        guard var known = published[table], !known.isBehind else { continue }
        known.follow(commit, of: table, from: former)
        if known.isBehind { setbackCount += 1 }
        published[table] = known
        shown.insert(table)
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
    for (table, known) in published where isAnotherLog || !known.isBehind {
      published[table]?.isBehind = true
      published[table]?.version.through = asked
      if isAnotherLog { published[table]?.isStale = true }
    }
    position = sequence
    setbackCount += 1
    return shown
  }

  /// Adds a table that was read and includes all commits up to `end`.
  /// - Returns: `nil` if the other tables are at another commit by now.
  mutating func put(_ table: LoadedTable, of key: TableKey, at end: UInt64) -> Set<TableKey>? {
    guard position == end else { return nil }
    let shown = publish(through: .max)
    published[key] = table
    return shown.union([key])
  }

  /// Records that a commit was made for another base than the one of this table.
  mutating func noteStale(_ table: TableKey) { published[table]?.isStale = true }

  /// Records that a table that is behind includes all commits up to `sequence`.
  mutating func advance(_ table: TableKey, to sequence: UInt64) {
    guard let known = published[table], known.isBehind else { return }
    published[table]?.version.through = max(known.version.through, sequence)
    if sequence >= position { published[table]?.isBehind = false }
  }

  /// Takes over a table that was written without a commit.
  mutating func replace(_ key: TableKey, by state: TableState, base: Int) -> Set<TableKey> {
    let shown = publish(through: .max)
    published[key] = LoadedTable(version: TableVersion(state: state, base: base, through: position))
    setbackCount += 1
    return shown.union([key])
  }
}

extension LoadedTable {
  /// Carries out a commit of another process. If that is impossible, the table falls behind.
  fileprivate mutating func follow(
    _ commit: LoggedCommit, of table: TableKey, from former: LoggedCommit.Former
  ) {
    guard !isStale, former.base == version.base else { return fallBehind(commit) }
    do throws(StoreError) {
      var next = version.state
      for change in commit.changes(of: table) { try next.apply(change) }
      version.state = next
      version.through = commit.sequence
    } catch {
      fallBehind(commit)  // Reading it again reports what is wrong.
    }
  }

  private mutating func fallBehind(_ commit: LoggedCommit) {
    (isBehind, isStale) = (true, true)
    version.through = commit.sequence - 1
  }
}
