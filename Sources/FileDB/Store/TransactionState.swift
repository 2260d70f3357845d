import FileDBPlist
import FileDBTables

/// What a transaction has done so far. Shared by the writes that join it.
final class TransactionState {
  /// A table that the transaction has touched.
  struct Touched {
    /// The log's table, and what it was read from.
    let own: LoadedTable
    /// As it is seen: at first, and by now.
    let first: TableState
    var now: TableState
    /// What was done to it, in order.
    var changes: [AppliedChange] = []
  }

  /// Where a touched table is kept: each verb looks at it several times, and a copy counts a dozen references.
  final class Place {
    let key: TableKey
    fileprivate(set) var table: Touched

    fileprivate init(_ key: TableKey, _ table: Touched) { (self.key, self.table) = (key, table) }
  }

  /// The commit's.
  let token = CommitToken.random()
  var undo = UndoMark.none
  let store: RecordStore
  private(set) var touched: [TableKey: Place] = [:]
  /// The one that was looked for last. Most transactions have no other.
  private var latest: Place?
  /// The tables of the changes, in the order in which they were made.
  private var order: [TableKey] = []
  /// How long the records of all changes are.
  private var recordBytes = 0
  /// What is to be done once the transaction is durable.
  private var completions: [() -> Void] = []
  /// Set when the write has returned. A body can still swap its transaction for that of a write on another store.
  private var isOver = false
  var encoder = RecordEncoder()
  /// The tables that declare what the program says of them.
  var declaredTables: Set<TableKey> = []
  /// What the program declares of tables that do not exist yet.
  var declarationsOfNewTables: [TableKey: TableSchema] = [:]
  /// How many changes there were when the rules of the tables were last kept.
  var keptChangeCount = 0
  /// The records that an undo has put back as they were under the same rules.
  var restored: [TableKey: [AnyRecordID: EncodedRecord]] = [:]
  /// Where imported records come from.
  var recordOrigins: [TableKey: [(AnyRecordID) -> RecordOrigin?]] = [:]
  /// Of the tables to which records were added without a type.
  var markedRecords: [TableKey: MarkedRecords?] = [:]

  init(store: RecordStore) { self.store = store }

  var limits: PlistLimits { store.options.limits }
  /// How many changes were made.
  var changeCount: Int { order.count }

  func recordTable<Value>(_ name: TableName<Value>) throws(StoreError) -> RecordTable<Value> {
    try touch(TableKey(name.text))  // As a table of the store, it has been read.
    return RecordTable(store: store, name: name)
  }

  /// Ends the transaction: nothing can be done in it any more.
  func end() { isOver = true }

  func table(_ name: String) throws(StoreError) -> TableState {
    try touch(TableKey(name)).table.now
  }

  /// Carries out a change, and remembers it for the commit.
  func apply(_ change: Change, to name: String) throws(StoreError) {
    let key = TableKey(name)
    let place = try touch(key)
    try permit(change, to: place)
    var change = change
    if case .insert(let records, let index) = change, let schema = place.table.now.schema.schema {
      change = .insert(withDefaults(records, of: schema, in: key), index: index)
    }
    if case .create = change { try checkNewName(key) }
    // All is in memory until it is committed: a source without an end would take all of that.
    let bytes = recordBytes + change.records.reduce(0) { $0 + $1.bytes.count }
    guard bytes <= limits.fileBytes else {
      throw StoreError(
        .unrepresentableValue,
        "a transaction may write records of \(limits.fileBytes) bytes together at most", table: name)
    }
    do { place.table.changes.append(try place.table.now.applyNoting(change)) } catch {
      throw error.adding(table: name)
    }
    order.append(key)
    recordBytes = bytes
    if case .create = change, let schema = declarationsOfNewTables[key] { try declare(schema, for: name) }
  }

  /// Whether what lies beneath lets this be done to a table.
  func permit(_ change: Change, to name: String) throws(StoreError) {
    try permit(change, to: touch(TableKey(name)))
  }

  private func permit(_ change: Change, to place: Place) throws(StoreError) {
    try store.view.permit(
      change, to: place.key, seen: place.table.now,
      own: place.table.now.beneath == nil ? nil : place.table.own.state)
  }

  /// Two names that differ in case, or in how an accent is written, are one file on disks such as Apple's.
  private func checkNewName(_ new: TableKey) throws(StoreError) {
    let others = touched.filter(\.value.table.now.exists).map(\.key) + (try store.log.tables())
    guard let other = others.first(where: { $0 != new && $0.isSameFile(as: new) }) else { return }
    throw StoreError(
      .invalidTableName,
      "the name differs from that of table '\(other.text)' in case alone, or in how an accent is written; "
        + "on some disks both would be one file",
      file: store.url.path, table: new.text)
  }

  /// Has `body` run once the transaction is durable. Where what is being done now is undone, it is not run.
  func afterCommit(_ body: @escaping () -> Void) { completions.append(body) }

  func complete() { for completion in completions { completion() } }

  @discardableResult
  private func touch(_ key: TableKey) throws(StoreError) -> Place {
    guard !isOver else {
      throw StoreError(.closed, "this transaction is over", file: store.url.path, table: key.text)
    }
    if let latest, latest.key == key { return latest }
    if let place = touched[key] {
      latest = place
      return place
    }
    let own = try store.tables.newest(key)
    try store.view.read(key)
    let seen = try store.view.seen(key, own: own.state)
    let place = Place(key, Touched(own: own, first: seen, now: seen))
    (touched[key], latest) = (place, place)
    return place
  }
}

// MARK: - Joined writes

extension TransactionState {
  /// Runs `body` as a part of this transaction: if it throws, what it did is undone, and no more.
  func join<Result>(_ body: (inout StoreTransaction) throws -> Result) throws -> Result {
    let savepoint = savepoint
    do {
      var transaction = StoreTransaction(state: self)
      return try body(&transaction)
    } catch {
      try undo(backTo: savepoint)
      throw error
    }
  }

  /// Runs `body` as ``join(_:)`` would, and undoes what it did.
  func dryRun<Result>(_ body: (inout StoreTransaction) throws -> Result) throws -> Result {
    let savepoint = savepoint
    let result = try join(body)
    do { try keepRules() } catch {
      try undo(backTo: savepoint)
      throw error
    }
    try undo(backTo: savepoint)
    return result
  }

  /// How far the transaction has come.
  private struct Savepoint {
    let changeCount: Int
    let completionCount: Int
    let recordBytes: Int
  }

  private var savepoint: Savepoint {
    Savepoint(changeCount: order.count, completionCount: completions.count, recordBytes: recordBytes)
  }

  /// Makes the tables anew from what they were at first: an undo is rare, and a copy for each savepoint would not be.
  private func undo(backTo savepoint: Savepoint) throws(StoreError) {
    keptChangeCount = 0
    (declaredTables, declarationsOfNewTables, recordOrigins, restored) = ([], [:], [:], [:])
    completions.removeSubrange(savepoint.completionCount...)
    recordBytes = savepoint.recordBytes
    var undone: [TableKey: Int] = [:]
    for key in order[savepoint.changeCount...] { undone[key, default: 0] += 1 }
    order.removeSubrange(savepoint.changeCount...)
    for (key, count) in undone {
      guard let place = touched[key] else { continue }
      place.table.changes.removeLast(count)
      place.table.now = place.table.first
      for applied in place.table.changes { try place.table.now.apply(applied.change) }
    }
  }
}

// MARK: - The commit

extension TransactionState {
  /// The tables that changed, as they are seen, in the order of their names.
  var changed: [(key: TableKey, table: Touched)] {
    touched.values.filter { !$0.table.changes.isEmpty }.sorted { $0.key < $1.key }.map { ($0.key, $0.table) }
  }

  /// The tables that were touched, as they are seen by now.
  var states: [TableKey: TableState] { touched.mapValues(\.table.now) }

  /// What the log is to be given: of tables over others the changes of its own; `nil` if nothing has changed,
  /// not even the undo log.
  /// - Throws: as ``keepRules()``, and what the tables beneath throw.
  func makeCommit() throws(StoreError) -> NewCommit? {
    try keepRules()
    var own: [(table: TableKey, applied: AppliedChange)] = []
    var expected: [TableKey: NewCommit.Expectation] = [:]
    var states: [TableKey: TableState] = [:]
    for (key, table) in changed {
      let edit = try ownEdit(key, table)
      let applied = edit?.changes ?? table.changes
      if let edit { store.view.note(table.now, of: key, own: edit.table) }
      guard !applied.isEmpty else { continue }
      if let edit { own += edit.changes.map { (key, $0) } }
      states[key] = edit?.table ?? table.now
      expected[key] = NewCommit.Expectation(sequence: store.tables.position, base: table.own.base)
    }
    let changes =
      inOrder.filter { states[$0.table] != nil && touched[$0.table]?.table.first.beneath == nil } + own
    if changes.isEmpty, undo == .none { return nil }
    let reads = touched.keys.filter { expected[$0] == nil }.map { ($0, store.tables.position) }
    return NewCommit(
      token: token, undo: undo, changes: changes, tables: expected,
      reads: Dictionary(uniqueKeysWithValues: reads), states: states)
  }

  /// What was done to all tables.
  var inOrder: [(table: TableKey, applied: AppliedChange)] {
    var next: [TableKey: Int] = [:]
    return order.compactMap { key in
      guard let changes = touched[key]?.table.changes else { return nil }
      defer { next[key, default: 0] += 1 }
      return (key, changes[next[key, default: 0]])
    }
  }

  /// The log's own part of a table that is seen like this; the table itself if no other lies beneath.
  func ownTable(_ key: TableKey, seenAs seen: TableState) throws(StoreError) -> TableState {
    guard var table = touched[key]?.table else { return seen }
    table.now = seen
    return try ownEdit(key, table)?.table ?? seen
  }

  /// What would be seen of a table with this as the log's part of it.
  func seen(_ key: TableKey, own: TableState) throws(StoreError) -> TableState {
    try store.view.seen(key, own: own)
  }

  private func ownEdit(_ key: TableKey, _ table: Touched) throws(StoreError) -> ChangeRecorder? {
    do {
      return try store.view.ownEdit(
        of: key, own: table.own.state, from: table.first, to: table.now, moving: movedIDs(in: key))
    } catch {
      throw error.adding(table: key.text)
    }
  }

  /// The records of a table that were moved by themselves.
  func movedIDs(in key: TableKey) -> Set<AnyRecordID> {
    Set(
      (touched[key]?.table.changes ?? []).compactMap {
        if case .move(let id, _) = $0.change { id } else { nil }
      })
  }
}
