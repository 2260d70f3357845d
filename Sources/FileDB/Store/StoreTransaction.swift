import FileDBPlist

/// The verbs of a write, over any tables of the store. Handed to the body of ``RecordStore/write(_:)``, which it cannot
/// outlive.
public struct StoreTransaction: ~Copyable {
  let state: TransactionState

  /// The rows of a table as this transaction has them by now.
  /// - Throws: as ``RecordStore/table(_:)-(TableName<_>)``.
  public func snapshot<Row>(of table: TableName<Row>) throws -> TableSnapshot<Row> {
    TableSnapshot(source: state.source(of: table.text), state: try state.table(table.text))
  }
}

/// What a transaction has done so far. Shared by the writes that join it.
final class TransactionState {
  private let store: RecordStore
  /// The tables this transaction has touched, as they were at first.
  private(set) var bases: [TableKey: TableState] = [:]
  /// And as they are by now.
  private(set) var tables: [TableKey: TableState] = [:]
  /// Those that are laid over a table of an attached store, without that one, as they were at first.
  private var overlays: [TableKey: TableState] = [:]
  /// Set when the write has returned. A body can still swap its transaction for that of a write on another store.
  private var isOver = false
  /// What was done to them, in order.
  private(set) var changes: [(table: TableKey, change: Change)] = []
  var encoder = RecordEncoder()

  init(store: RecordStore) { self.store = store }

  var limits: PlistLimits { store.options.limits }

  func source(of table: String) -> TableSource { TableSource(table: table, in: store) }

  /// Ends the transaction: nothing can be done in it any more.
  func end() { isOver = true }

  func table(_ name: String) throws(StoreError) -> TableState {
    guard !isOver else {
      throw StoreError(StoreError.closed, "this transaction is over", file: store.folder.path, table: name)
    }
    let key = TableKey(name)
    if let touched = tables[key] { return touched }
    let own = try store.refreshed(key).state
    try store.readAttached(key)
    let state = try store.visible.view(of: key, own: own)
    if state.attached != nil { overlays[key] = own }
    bases[key] = state
    tables[key] = state
    return state
  }

  /// Carries out a change, and remembers it for the commit.
  func apply(_ change: Change, to name: String) throws(StoreError) {
    try check(change, of: name)
    var state = try table(name)
    let key = TableKey(name)
    tables[key] = nil  // Held once only, so that the change need not copy the table.
    do {
      try state.apply(change)
    } catch {
      tables[key] = state
      throw error.adding(table: name)
    }
    tables[key] = state
    changes.append((key, change))
  }

  /// Whether an attached store lets this be done to a table.
  func check(_ change: Change, of name: String) throws(StoreError) {
    if store.visible.attached == nil { return }
    let (state, key) = (try table(name), TableKey(name))
    try store.visible.checkWritable(key, state, overlays[key], change)
  }

  /// Runs `body` as a part of this transaction: where it throws, what it did is undone, and no more.
  func join<Result>(_ body: (inout StoreTransaction) throws -> Result) throws -> Result {
    let savepoint = changes.count
    do {
      var transaction = StoreTransaction(state: self)
      return try body(&transaction)
    } catch {
      try undo(backTo: savepoint)
      throw error
    }
  }

  /// Runs `body` as ``join(_:)`` would, and undoes what it did.
  func rehearse<Result>(_ body: (inout StoreTransaction) throws -> Result) throws -> Result {
    let savepoint = changes.count
    let result = try join(body)
    try undo(backTo: savepoint)
    return result
  }

  /// Makes the tables anew from what they were at first: an undo is rare, and a copy for each savepoint would not be.
  private func undo(backTo savepoint: Int) throws(StoreError) {
    let undone = Set(changes[savepoint...].map(\.table))
    changes.removeSubrange(savepoint...)
    for key in undone { tables[key] = bases[key] }
    for (key, change) in changes where undone.contains(key) { try tables[key]?.apply(change) }
  }

  /// What the store is to commit: of tables over attached ones the changes of the user's own.
  func commit() throws(StoreError) -> (
    changes: [(table: TableKey, change: Change)], tables: [TableKey: TableState]
  ) {
    var (changes, tables) = (changes, changedTables)
    for (key, seen) in tables {
      guard let edit = try overlayEdit(key, seen) else { continue }
      store.visible.note(seen, of: key, own: edit.own)
      changes.removeAll { $0.table == key }
      changes += edit.changes.map { (key, $0) }
      tables[key] = edit.changes.isEmpty ? nil : edit.own
    }
    return (changes, tables)
  }

  /// The user's own part of a table that is seen like this; the table itself where no other lies beneath.
  func ownTable(_ key: TableKey, seenAs seen: TableState) throws(StoreError) -> TableState {
    try overlayEdit(key, seen)?.own ?? seen
  }

  private func overlayEdit(_ key: TableKey, _ seen: TableState) throws(StoreError) -> OverlayEdit? {
    guard let own = overlays[key], let base = bases[key], let attached = base.attached else { return nil }
    do {
      return try OverlayEdit(of: own, over: attached, from: base, to: seen, moving: movedIDs(in: key))
    } catch {
      throw error.adding(table: key.text)
    }
  }

  /// What would be seen of a table if the user had done nothing to this record; `nil` where it is no attached one.
  func tableReverting(_ id: RecordID, in name: String) throws(StoreError) -> TableState? {
    let seen = try table(name)
    guard let edit = try overlayEdit(TableKey(name), seen), let attached = seen.attached,
      attached.contains(id)
    else { return nil }
    var own = edit.own
    if own.records.contains(id) { try own.apply(.remove([id])) }
    return try TableState(own, over: attached)
  }

  /// The records of a table that were moved by themselves.
  func movedIDs(in key: TableKey) -> Set<RecordID> {
    Set(
      changes.lazy.filter { $0.table == key }.compactMap {
        if case .move(let id, _) = $0.change { id } else { nil }
      })
  }

  /// The tables that changed, as they are seen.
  var changedTables: [TableKey: TableState] {
    let changed = Set(changes.map(\.table))
    return tables.filter { changed.contains($0.key) }
  }
}
