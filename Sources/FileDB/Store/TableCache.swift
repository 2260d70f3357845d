import FileDBTables

/// The tables in memory as values. Those that readers see are durable; a commit that waits for its sync is seen by the
/// next writer alone. Each verb returns the tables that readers see anew.
struct TableCache: Sendable {
  private(set) var published: [TableKey: LoadedTable] = [:]
  private var unpublished: [TableKey: LoadedTable] = [:]
  private var waiting: [WaitingCommit] = []
  /// The last commit that was taken in. Every table includes it, except those that are behind.
  private(set) var position: UInt64 = 0
  /// How often a table fell behind the others, or got another base.
  private(set) var setbackCount = 0

  /// A commit of this process that readers do not see yet.
  private struct WaitingCommit: Sendable {
    let sequence: UInt64
    /// As it made them.
    let tables: [TableKey: LoadedTable]
    /// Of which another thread has read another file meanwhile.
    let staleTables: [TableKey]
  }

  /// The table with all commits, the ones that wait included.
  func newest(_ table: TableKey) -> LoadedTable? { unpublished[table] ?? published[table] }

  var keys: Set<TableKey> { Set(published.keys).union(unpublished.keys) }

  /// Adds a commit of this process that is in the log, and not yet durable. Behind commits of others that were not taken
  /// in yet, it comes with these.
  mutating func add(_ commit: LoggedCommit, states: [TableKey: TableState]) {
    guard commit.sequence == position + 1 else { return }
    var (tables, staleTables): ([TableKey: LoadedTable], [TableKey]) = ([:], [])
    for (table, state) in states {
      guard var known = newest(table) else { continue }
      // Another thread has read another file while the commit was on its way.
      guard known.base == commit.tables[table]?.base else {
        published[table]?.isBehind = true
        published[table]?.isStale = true
        staleTables.append(table)
        setbackCount += 1
        continue
      }
      known.state = state
      known.sequence = commit.sequence
      known.hasCommits = true
      tables[table] = known
    }
    unpublished.merge(tables) { $1 }
    waiting.append(
      WaitingCommit(sequence: commit.sequence, tables: tables, staleTables: staleTables))
    position = commit.sequence
  }

  /// The tables that must be read anew before the commits up to `sequence` can be shown.
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
    unpublished = unpublished.filter { $0.value.sequence > sequence }
    return shown
  }

  /// Brings the tables up to the commits of others, all at once. What still waits for its sync is shown with them.
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

  /// Goes on behind commits that the log has forgotten: the tables may lack some of them. Or before, if it is
  /// another log by now: then nothing of the tables is sure.
  /// - Parameter asked: the ``position`` after which the log was asked.
  mutating func skip(from asked: UInt64, to sequence: UInt64) -> Set<TableKey>? {
    guard position == asked else { return nil }  // Another thread was faster.
    let shown = publish(through: .max)
    let isAnotherLog = sequence < asked
    for (table, known) in published where isAnotherLog || !known.isBehind {
      published[table]?.isBehind = true
      published[table]?.sequence = asked
      // Its commits are in another base by now, also if that looks the same: a table that was made and dropped has
      // no file before and none afterwards.
      if known.hasCommits || isAnotherLog { published[table]?.isStale = true }
    }
    position = sequence
    setbackCount += 1
    return shown
  }

  /// Takes a table that was read, and includes all up to `end`.
  /// - Returns: `nil` if the others are as of another commit by now.
  mutating func put(_ table: LoadedTable, of key: TableKey, at end: UInt64) -> Set<TableKey>? {
    guard position == end else { return nil }
    let shown = publish(through: .max)
    published[key] = table
    return shown.union([key])
  }

  /// Remembers that a commit was made for another base than a table's.
  mutating func noteStale(_ table: TableKey) { published[table]?.isStale = true }

  /// Remembers that a table that is behind includes all up to `sequence`.
  mutating func note(_ table: TableKey, includes sequence: UInt64) {
    guard let known = published[table], known.isBehind else { return }
    published[table]?.sequence = max(known.sequence, sequence)
    if sequence >= position { published[table]?.isBehind = false }
  }

  mutating func note(_ bases: [TableKey: Int], states: [TableKey: TableState]) -> Set<TableKey> {
    var shown = publish(through: .max)
    for (table, base) in bases {
      published[table]?.base = base
      published[table]?.hasCommits = false
      guard let state = states[table] else { continue }
      published[table] = LoadedTable(state: state, base: base, sequence: position)
      shown.insert(table)
    }
    setbackCount += 1
    return shown
  }
}

extension LoadedTable {
  /// Carries out what another process committed; behind if that cannot be.
  fileprivate mutating func follow(
    _ commit: LoggedCommit, of table: TableKey, from former: LoggedCommit.Former
  ) {
    guard !isStale, former.base == base else { return fallBehind(commit) }
    do throws(StoreError) {
      var next = state
      for change in commit.changes(of: table) { try next.apply(change) }
      state = next
      sequence = commit.sequence
      hasCommits = true
    } catch {
      fallBehind(commit)  // Reading it anew tells what is wrong.
    }
  }

  private mutating func fallBehind(_ commit: LoggedCommit) {
    (isBehind, isStale) = (true, true)
    sequence = commit.sequence - 1
  }
}
