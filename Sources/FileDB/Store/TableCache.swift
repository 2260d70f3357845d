import FileDBStorage

/// A table as it was committed, and the file that holds it or will.
struct CachedTable: Sendable {
  var state: TableState
  /// The last commit that ``state`` includes.
  var sequence: UInt64
  /// The file as it was read, without what the journal adds to it.
  var file: String
  var content: FileContent
  /// `nil` for a table without a file.
  var stamp: FileStamp?
  /// True where the state is known to be behind the disk, so that it must be read again.
  var isStale = false

  var version: FileVersion { content.version }
}

/// The tables in memory. Those that readers see are durable; a commit that waits for its sync is seen by the next writer
/// alone.
struct TableCache: Sendable {
  private(set) var published: [TableKey: CachedTable] = [:]
  private var unpublished: [TableKey: CachedTable] = [:]
  private var waiting: [(sequence: UInt64, tables: [TableKey: CachedTable])] = []

  /// The table with all commits, the ones that wait included.
  func newest(_ table: TableKey) -> CachedTable? { unpublished[table] ?? published[table] }

  var keys: Set<TableKey> { Set(published.keys).union(unpublished.keys) }

  /// Adds a commit that is in the journal and not yet synced.
  mutating func add(_ tables: [TableKey: CachedTable], of sequence: UInt64) {
    unpublished.merge(tables) { $1 }
    waiting.append((sequence, tables))
  }

  /// Shows readers the commits up to `sequence`.
  /// - Returns: the tables that readers see anew, as do the following.
  mutating func publish(through sequence: UInt64) -> Set<TableKey> {
    let count = waiting.prefix { $0.sequence <= sequence }.count
    var shown: Set<TableKey> = []
    for (_, tables) in waiting.prefix(count) {
      published.merge(tables) { $1 }
      shown.formUnion(tables.keys)
    }
    waiting.removeFirst(count)
    unpublished = unpublished.filter { $0.value.sequence > sequence }
    return shown
  }

  /// Takes tables as the disk has them, or as another process made them, all at once. What still waits for its sync is in
  /// them, and shown with them.
  mutating func put(_ tables: [TableKey: CachedTable]) -> Set<TableKey> {
    let shown = publish(through: .max)
    published.merge(tables) { $1 }
    return shown.union(tables.keys)
  }

  /// Follows the store to another journal, whose first commit has the number after `sequence`. The tables for which the
  /// former one held commits are stale: there may have been more of them.
  mutating func restart(at sequence: UInt64, stale tables: some Sequence<TableKey>) -> Set<TableKey> {
    let shown = publish(through: .max)
    for table in published.keys { published[table]?.sequence = sequence }
    for table in tables { published[table]?.isStale = true }
    return shown
  }
}

extension CachedTable {
  /// Carries out what another process committed; stale where that cannot be.
  mutating func follow(_ commit: LoggedCommit, sequence: UInt64, of table: TableKey, in pending: PendingTable)
  {
    guard !isStale, self.sequence < sequence else { return }
    // The first change in a journal says to which file it belongs.
    guard pending.commits.count > 1 || pending.versions.first?.version == version else {
      isStale = true
      return
    }
    do throws(StoreError) {
      for change in commit.changes where change.table == table { try state.apply(change.change) }
      self.sequence = sequence
    } catch {
      isStale = true  // Reading it anew tells what is wrong.
    }
  }
}
