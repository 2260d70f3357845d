/// The verbs of a write, over any tables of the store. Handed to the body of ``RecordStore/write(_:)``, which it cannot
/// outlive.
public struct StoreTransaction: ~Copyable {
  let store: RecordStore
  /// The tables this transaction has touched, as they are by now.
  private var tables: [TableKey: TableState] = [:]
  /// What was done to them, in order.
  private(set) var changes: [(table: TableKey, change: Change)] = []

  init(store: RecordStore) { self.store = store }

  /// The rows of a table as this transaction has them by now.
  /// - Throws: as ``RecordStore/table(_:)-(TableName<_>)``.
  public mutating func snapshot<Row>(of table: TableName<Row>) throws -> TableSnapshot<Row> {
    TableSnapshot(table: table.text, state: try state(of: table.text))
  }

  mutating func state(of table: String) throws(StoreError) -> TableState {
    let key = TableKey(table)
    if let touched = tables[key] { return touched }
    let state = try store.refreshedState(of: key)
    tables[key] = state
    return state
  }

  /// Carries out a change, and remembers it for the commit.
  mutating func apply(_ change: Change, to table: String) throws(StoreError) {
    var state = try state(of: table)
    let key = TableKey(table)
    tables[key] = nil  // Held once only, so that the change need not copy the table.
    do {
      try state.apply(change)
    } catch {
      tables[key] = state
      throw error.adding(table: table)
    }
    tables[key] = state
    changes.append((key, change))
  }

  /// The tables that changed, in the order of their names.
  func changedTables() -> [(table: TableKey, state: TableState)] {
    let changed = Set(changes.map(\.table))
    return tables.filter { changed.contains($0.key) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
