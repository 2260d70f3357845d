/// How the rows of a table, or of a part of it, were at one moment and are at a later one, and the steps between.
///
/// The rows to show are those of ``after``: a list that asks the table itself may get newer ones, which fit other steps.
///
///     for await change in notes.changes() {
///       tableView.performBatchUpdates {
///         rows = change.after
///         tableView.deleteRows(at: change.steps.deletions.map { [0, $0.row] }, with: .automatic)
///         tableView.insertRows(at: change.steps.insertions.map { [0, $0.row] }, with: .automatic)
///         for move in change.steps.moves { tableView.moveRow(at: [0, move.oldRow], to: [0, move.newRow]) }
///       }
///       tableView.reconfigureRows(at: change.steps.updates.map { [0, $0.newRow] })
///     }
public struct TableChange<Row: Codable & Sendable>: Sendable {
  public let before: TableSnapshot<Row>
  public let after: TableSnapshot<Row>
  /// None where only ``TableSnapshot/exists`` is another.
  public let steps: ListSteps

  /// - Complexity: O(*m* log *m*), where *m* is the number of records in the parts of the table that were changed in
  ///   between, mostly some hundreds for each changed record; O(*n* log *n*) for tables that have nothing to do with each other.
  public init(from before: TableSnapshot<Row>, to after: TableSnapshot<Row>) {
    self.before = before
    self.after = after
    steps = ListSteps(RecordsDifference(from: before.state.records, to: after.state.records))
  }

  /// Whether there is nothing to tell.
  var isEmpty: Bool { steps.isEmpty && before.exists == after.exists }
}

/// How a record was at one moment and is at a later one.
public struct RowChange<Row: Codable & Sendable>: Sendable {
  /// `nil` where there was no such record.
  public let before: StoredRow<Row>?
  /// `nil` where there is none any more.
  public let after: StoredRow<Row>?
}

/// How the tables of a store were at one moment and are at a later one, both between two commits.
public struct StoreChange: Sendable {
  /// The names of the tables that changed, in the order of their UTF-8 bytes.
  public let tables: [String]
  let before: [TableKey: TableState]
  let after: [TableKey: TableState]
  private let store: TableSource.Store

  init(
    from before: [TableKey: TableState], to after: [TableKey: TableState], in store: TableSource.Store
  ) {
    (self.before, self.after, self.store) = (before, after, store)
    tables = after.filter { key, new in
      let old = before[key] ?? TableState()
      return old.exists != new.exists || !RecordsDifference(from: old.records, to: new.records).isEmpty
    }.keys.sorted().map(\.text)
  }

  /// How one of the tables changed.
  /// - Returns: `nil` for a table that is not in ``tables``.
  /// - Complexity: as ``TableChange/init(from:to:)``.
  public func change<Row>(of table: TableName<Row>) -> TableChange<Row>? {
    let key = TableKey(table.text)
    guard tables.contains(where: { TableKey($0) == key }), let new = after[key] else { return nil }
    let source = TableSource(table: key.text, in: store)
    return TableChange(
      from: TableSnapshot(source: source, state: before[key] ?? TableState()),
      to: TableSnapshot(source: source, state: new))
  }
}
