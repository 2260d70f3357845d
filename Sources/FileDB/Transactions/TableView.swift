import FileDBEssentials
import FileDBTables

/// The view that readers have of the tables in a store's log. Usually it shows exactly these. For a store over an
/// attached one, it shows both as one.
protocol TableView: Sendable {
  /// The tables that readers see, given those of the log.
  func tables(_ own: Set<TableKey>) throws(StoreError) -> Set<TableKey>

  /// Reads what the view of a table needs, if it has changed.
  func read(_ table: TableKey) throws(StoreError)

  /// Reads changes outside the log.
  /// - Returns: whether there may be something new.
  func refresh() throws -> Bool

  /// The view of a table of the log.
  func seen(_ table: TableKey, own: TableState) throws(StoreError) -> TableState

  /// The same for readers. If the view cannot be made, they get the previous one.
  func lastSeen(_ table: TableKey, own: TableState) -> TableState

  /// - Parameters:
  ///   - seen: the view of the table.
  ///   - own: the log's part of it; `nil` if that is all.
  /// - Throws: if the change is not allowed.
  func permit(_ change: Change, to table: TableKey, seen: TableState, own: TableState?) throws(StoreError)

  /// What a transaction must commit: the changes of the log's table after which the view is `after`, and the resulting
  /// table.
  /// - Returns: `nil` if the changes are the transaction's own.
  func ownEdit(
    of table: TableKey, own: TableState, from before: TableState, to after: TableState,
    moving ids: Set<AnyRecordID>
  ) throws(StoreError) -> ChangeRecorder?

  /// Records the view of a table after a transaction.
  func remember(_ seen: TableState, of table: TableKey, own: TableState)

  /// The file of a table that is not in the log's folder.
  func url(of table: TableKey) throws -> URL?

  /// The folders besides the log's own in which changes may affect the view.
  var folders: [StoreFolder] { get }

  /// Other places that a record may come from.
  func sources(of table: TableKey) -> [(table: TableKey, folder: StoreFolder)]

  /// The same view of the same tables, read again.
  func reopened() throws(StoreError) -> any TableView
}

/// Shows the tables of the log as they are.
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
  func remember(_ seen: TableState, of table: TableKey, own: TableState) {}
  func url(of table: TableKey) -> URL? { nil }
  var folders: [StoreFolder] { [] }
  func sources(of table: TableKey) -> [(table: TableKey, folder: StoreFolder)] { [] }
  func reopened() -> any TableView { self }
}
