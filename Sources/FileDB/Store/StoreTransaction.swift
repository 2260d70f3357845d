/// The verbs of a write, over any tables of the store. Handed to the body of ``RecordStore/write(_:)``, which it cannot
/// outlive.
public struct StoreTransaction: ~Copyable {
  let store: RecordStore
  /// The tables this transaction has changed, as they are by now.
  private var tables: [String: TableState] = [:]
  /// What led there, in order.
  private(set) var changes: [(table: String, change: Change)] = []

  init(store: RecordStore) { self.store = store }

  /// The rows of a table as this transaction has them by now.
  /// - Throws: as ``RecordStore/table(_:)-(TableName<_>)``.
  public func snapshot<Row>(of table: TableName<Row>) throws -> TableSnapshot<Row> {
    TableSnapshot(table: table.text, state: try state(of: table.text))
  }

  func state(of table: String) throws(StoreError) -> TableState {
    if let changed = tables[table] { return changed }
    return try store.state(of: table)
  }

  /// Carries out a change, and remembers it for the commit.
  mutating func apply(_ change: Change, to table: String) throws(StoreError) {
    // Taken out while it changes, so that it is not copied.
    var state = try state(of: table)
    tables[table] = nil
    do {
      try state.apply(change)
    } catch {
      tables[table] = state
      throw error.adding(table: table)
    }
    tables[table] = state
    changes.append((table, change))
  }

  /// The tables that changed, in the order of their names.
  func changedTables() -> [(table: String, state: TableState)] {
    let changed = Set(changes.map(\.table))
    return tables.filter { changed.contains($0.key) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
