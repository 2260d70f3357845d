import FileDBTables

/// All tables of a store at one moment, between two commits. Reading it needs neither a lock nor the disk, and later
/// commits do not change it.
///
///     let all = try store.snapshot()  // a Note has a `folder: RecordID<Folder>`
///     let orphans = try all[.notes].records.filter { all[.folders][id: $0.folder] == nil }
public struct StoreSnapshot: Sendable {
  private let tables: [TableKey: TableState]
  private let store: TableSource.Store

  init(_ tables: [TableKey: TableState], in store: TableSource.Store) {
    (self.tables, self.store) = (tables, store)
  }

  /// The names of the tables that existed, in the order of their UTF-8 bytes.
  /// - Complexity: O(*t* log *t*) in the number of tables.
  public var tableNames: [String] { tables.filter(\.value.exists).keys.sorted().map(\.text) }

  /// The records of a table. If the table did not exist, it has no records.
  /// - Complexity: O(1).
  @_disfavoredOverload
  public subscript<Value>(name: TableName<Value>) -> TableSnapshot<Value> {
    let key = TableKey(name.text)
    return TableSnapshot(source: TableSource(table: key.text, in: store), state: tables[key] ?? TableState())
  }

  /// The records of a table, without a Swift type: you read them field by field.
  public subscript(name: String) -> TableSnapshot<Fields> { self[.records(name)] }
}

extension RecordStore {
  /// The tables as readers last saw them.
  var seen: SeenTables { SeenTables(tables: tables, view: view) }

  /// All tables at one moment. They include every commit that returned before, in this process or another, and what
  /// other programs saved. Inside a `write(_:)` on this thread, they include its changes so far.
  ///
  /// It waits for no writer.
  /// - Throws: as `table(_:)`, for the first table that cannot be read.
  /// - Complexity: O(*t*) in the number of tables, each of which it looks at on the disk; O(*n*) in the size of the
  ///   tables that were not read yet.
  public func snapshot() throws -> StoreSnapshot {
    if let transaction = writers.currentTransaction {
      for name in try tableNames { _ = try transaction.table(name) }
      return StoreSnapshot(transaction.states, in: source)
    }
    while true {
      try tables.catchUp()
      let start = tables.position
      try readAllTables()
      try refresh()  // They may have been read at different moments.
      let all = seen.all
      if try !hasNewTables(after: start, besides: all) {
        return StoreSnapshot(all, in: source)
      }
    }
  }

  /// Whether a commit may have created a table since the tables were listed.
  private func hasNewTables(
    after sequence: UInt64, besides known: [TableKey: TableState]
  ) throws(StoreError) -> Bool {
    guard case .commits(let commits) = try log.commits(after: sequence) else { return true }
    return commits.flatMap(\.changes).contains { change in
      if case .create = change.change { known[change.table] == nil } else { false }
    }
  }

  /// Reads the tables that have not been read yet.
  /// - Throws: the error for the first table that cannot be read, after all others have been read.
  func readAllTables() throws(StoreError) {
    var failure: StoreError?
    for table in try tableKeys {
      do throws(StoreError) { _ = try current(table) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }
}

/// The tables as readers see them, for objects that may outlive the store.
struct SeenTables: Sendable {
  let tables: TableVersions
  let view: any TableView

  /// The last committed and read version of the table; a table without records if it has not been read yet.
  subscript(table: TableKey) -> TableState {
    view.lastSeen(table, own: tables.published(table) ?? TableState())
  }

  /// All tables that have been read, at one moment.
  var all: [TableKey: TableState] {
    var all: [TableKey: TableState] = [:]
    for (table, own) in tables.allPublished { all[table] = try? view.seen(table, own: own) }
    return all
  }
}
