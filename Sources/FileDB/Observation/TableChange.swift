/// How the records of a table, or of a part of it, were at one moment and are at a later one, and the steps between.
///
/// The records to show are those of ``after``: a list that asks the table itself may get newer ones, which fit other
/// steps.
///
///     for await change in notes.changes() {
///       tableView.performBatchUpdates {
///         records = change.after
///         tableView.deleteRows(at: change.steps.deletions.map { [0, $0.index] }, with: .automatic)
///         tableView.insertRows(at: change.steps.insertions.map { [0, $0.index] }, with: .automatic)
///         for move in change.steps.moves { tableView.moveRow(at: [0, move.oldIndex], to: [0, move.newIndex]) }
///       }
///       tableView.reconfigureRows(at: change.steps.updates.map { [0, $0.newIndex] })
///     }
public struct TableChange<Value: Codable & Sendable>: Sendable {
  public let before: TableSnapshot<Value>
  public let after: TableSnapshot<Value>
  /// None where only ``TableSnapshot/exists`` is another.
  public let steps: ListSteps

  /// - Complexity: O(*m* log *m*), where *m* is the number of records in the parts of the table that were changed in
  ///   between, mostly some hundreds for each changed record; O(*n* log *n*) for tables that have nothing to do with
  ///   each other.
  public init(from before: TableSnapshot<Value>, to after: TableSnapshot<Value>) {
    self.before = before
    self.after = after
    steps = ListSteps(RecordsDifference(from: before.state.records, to: after.state.records))
  }

  /// Whether there is nothing to tell.
  var isEmpty: Bool { steps.isEmpty && before.exists == after.exists }
}

/// How a record was at one moment and is at a later one.
public struct RecordChange<Value: Codable & Sendable>: Sendable {
  /// `nil` where there was no such record.
  public let before: StoredRecord<Value>?
  /// `nil` where there is none any more.
  public let after: StoredRecord<Value>?
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
  public func change<Value>(of table: TableName<Value>) -> TableChange<Value>? {
    let key = TableKey(table.text)
    guard tables.contains(where: { TableKey($0) == key }), let new = after[key] else { return nil }
    let source = TableSource(table: key.text, in: store)
    return TableChange(
      from: TableSnapshot(source: source, state: before[key] ?? TableState()),
      to: TableSnapshot(source: source, state: new))
  }
}
