import FileDBEssentials
import FileDBTables

/// What is seen of the tables in a store's log: mostly just these. A store over an attached one shows the two as one.
protocol TableView: Sendable {
  /// The tables that are seen, given those of the log.
  func tables(_ own: Set<TableKey>) throws(StoreError) -> Set<TableKey>

  /// Reads what a table needs to be seen, if it has changed.
  func read(_ table: TableKey) throws(StoreError)

  /// Reads in what has changed beside the log.
  /// - Returns: whether there may be something new.
  func refresh() throws -> Bool

  /// What is seen of a table of the log.
  func seen(_ table: TableKey, own: TableState) throws(StoreError) -> TableState

  /// The same for readers, who get the former one if it cannot be had.
  func lastSeen(_ table: TableKey, own: TableState) -> TableState

  /// - Parameters:
  ///   - seen: the table as it is seen.
  ///   - own: the log's part of it; `nil` if that is all.
  /// - Throws: if the change may not be made.
  func permit(_ change: Change, to table: TableKey, seen: TableState, own: TableState?) throws(StoreError)

  /// What a transaction is to commit: the changes of the log's table that make it be seen as `after`, and the table
  /// then.
  /// - Returns: `nil` if the changes are the transaction's own.
  func ownEdit(
    of table: TableKey, own: TableState, from before: TableState, to after: TableState,
    moving ids: Set<AnyRecordID>
  ) throws(StoreError) -> ChangeRecorder?

  /// Remembers what is seen of a table once it is as a transaction leaves it.
  func note(_ seen: TableState, of table: TableKey, own: TableState)

  /// The file of a table that is not in the log's folder.
  func url(of table: TableKey) throws -> URL?

  /// The folders beside the log's own in which a change may be seen.
  var folders: [StoreFolder] { get }

  /// Where else a record may be from.
  func sources(of table: TableKey) -> [(table: TableKey, folder: StoreFolder)]

  /// The same view of the same tables, read anew.
  func reopened() throws(StoreError) -> any TableView
}

/// The tables of the log, as they are.
struct PlainTables: TableView {
  func tables(_ own: Set<TableKey>) -> Set<TableKey> { own }
  func read(_ table: TableKey) {}
  func refresh() -> Bool { false }
  func seen(_ table: TableKey, own: TableState) -> TableState { own }
  func lastSeen(_ table: TableKey, own: TableState) -> TableState { own }
  func permit(_ change: Change, to table: TableKey, seen: TableState, own: TableState?) {}
  func ownEdit(
    of table: TableKey, own: TableState, from before: TableState, to after: TableState,
    moving ids: Set<AnyRecordID>
  ) -> ChangeRecorder? { nil }
  func note(_ seen: TableState, of table: TableKey, own: TableState) {}
  func url(of table: TableKey) -> URL? { nil }
  var folders: [StoreFolder] { [] }
  func sources(of table: TableKey) -> [(table: TableKey, folder: StoreFolder)] { [] }
  func reopened() -> any TableView { self }
}

/// The tables as readers see them, for those who may outlive the store.
struct SeenTables: Sendable {
  let tables: TablesInMemory
  let view: any TableView

  /// The table as it was last committed and read; without records if it was not read yet.
  subscript(table: TableKey) -> TableState {
    view.lastSeen(table, own: tables.published(table) ?? TableState())
  }

  /// All tables that were read, as of one moment.
  var all: [TableKey: TableState] {
    var all: [TableKey: TableState] = [:]
    for (table, own) in tables.allPublished { all[table] = try? view.seen(table, own: own) }
    return all
  }
}

extension RecordStore {
  var seen: SeenTables { SeenTables(tables: tables, view: view) }
}
