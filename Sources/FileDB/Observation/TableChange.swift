/// The records of a table, or of a filtered list, before and after a change, and the steps between them.
///
/// Show the records of ``after``. If a list asks the table itself, it may get newer records, which do not fit these
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
  /// The records before the change.
  public let before: TableSnapshot<Value>
  /// The records after the change.
  public let after: TableSnapshot<Value>
  /// The steps from ``before`` to ``after``. They are empty if the table was only created or dropped, without records.
  public let steps: ListSteps

  /// Compares two snapshots.
  /// - Complexity: O(*m* log *m*), where *m* is the number of records in the parts of the table that changed in
  ///   between, usually some hundreds for each changed record; O(*n* log *n*) for unrelated tables.
  public init(from before: TableSnapshot<Value>, to after: TableSnapshot<Value>) {
    self.before = before
    self.after = after
    steps = ListSteps(RecordsDifference(from: before.state.records, to: after.state.records))
  }

  /// Whether nothing has changed.
  var isEmpty: Bool { steps.isEmpty && before.exists == after.exists }
}

/// A record before and after a change.
public struct RecordChange<Value: Codable & Sendable>: Sendable {
  /// The record before the change; `nil` if it did not exist.
  public let before: StoredRecord<Value>?
  /// The record after the change; `nil` if it no longer exists.
  public let after: StoredRecord<Value>?
}

/// The tables of a store before and after one or more commits.
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
