import FileDBEssentials
import FileDBPlist
import FileDBTables

/// What a transaction has done so far. The writes that join it share it.
final class TransactionState {
  /// A table that the transaction has touched.
  struct Touched {
    /// The log's table as it was.
    let own: TableVersion
    /// The view of the table: at first, and now.
    let first: TableState
    var now: TableState
    /// The changes to it, in order.
    var changes: [AppliedChange] = []
  }

  /// Holds a touched table. A class, because each verb looks at it several times, and a copy would count a dozen
  /// references.
  final class TouchedBox {
    let key: TableKey
    fileprivate(set) var table: Touched

    fileprivate init(_ key: TableKey, _ table: Touched) { (self.key, self.table) = (key, table) }
  }

  /// The token of the commit.
  let token = CommitToken.random()
  var undo = UndoEffect.none
  let tables: TableVersions
  let log: any CommitLog
  let source: TableSource.Store
  /// The place of the store, for errors.
  private let url: URL
  /// The last commit that the transaction has certainly seen.
  private let position: UInt64
  private(set) var touched: [TableKey: TouchedBox] = [:]
  /// The table that was used last. Most transactions have no other.
  private var latest: TouchedBox?
  /// The tables of the changes, in order, each with how many changes of it follow one another.
  private var order: [(table: TableKey, count: Int)] = []
  /// How many changes were made.
  private(set) var changeCount = 0
  /// The total size of the records in all changes.
  private var recordBytes = 0
  /// Called after the transaction is durable, or after what was done until then is undone.
  private var completions: [(committed: () -> Void, undone: () -> Void)] = []
  /// Set after the write has returned. A body could still exchange its transaction with that of a write on another
  /// store.
  private var isOver = false
  var encoder = RecordEncoder()
  /// The tables that have the program's declarations, each with the types for which it was declared.
  var declaredTables: [TableKey: Set<ObjectIdentifier>] = [:]
  /// The program's declarations for tables that do not exist yet.
  var declarationsOfNewTables: [TableKey: TableSchema] = [:]
  /// What deletions have done to records that referred to deleted ones.
  var consequences: [Consequence] = []
  /// The number of changes when the tables' rules were last checked.
  var keptChangeCount = 0
  /// The records that an undo has restored under unchanged rules.
  var restored: [TableKey: [AnyRecordID: EncodedRecord]] = [:]
  /// Of these, the records that broke a rule about other records before; by the rule.
  var formerMisfits: [TableKey: [String: Set<AnyRecordID>]] = [:]
  /// Where imported records come from.
  var recordOrigins: [TableKey: [(AnyRecordID) -> RecordOrigin?]] = [:]
  /// Whether the transaction has looked at which tables exist.
  private var hasListedTables = false
  /// For tables to which records were added without a type.
  var versionedRecords: [TableKey: VersionedRecords?] = [:]

  /// Begins a transaction on the tables as they are now.
  /// - Parameter url: the place of the store, for errors.
  init(on tables: TableVersions, of log: any CommitLog, source: TableSource.Store, at url: URL) {
    (self.tables, self.log, self.source, self.url) = (tables, log, source, url)
    position = tables.position
  }

  var limits: PlistLimits { source.limits }

  /// Ends the transaction. It refuses everything from here on.
  func end() { isOver = true }

  func table(_ name: String) throws(StoreError) -> TableState {
    try touch(TableKey(name)).table.now
  }

  /// The tables that exist, with the transaction's changes.
  /// - Parameter committed: the tables that exist without them.
  func listTables(_ committed: Set<TableKey>) -> Set<TableKey> {
    hasListedTables = true
    return committed.subtracting(touched.keys).union(touched.filter(\.value.table.now.exists).keys)
  }

  /// Carries out a change, and keeps it for the commit.
  func apply(_ change: Change, to name: String) throws(StoreError) {
    let key = TableKey(name)
    let box = try touch(key)
    try permit(change, to: box)
    var change = change
    if case .insert(let records, let index) = change, let schema = box.table.now.schema.schema {
      change = .insert(withDefaults(records, of: schema, in: key), index: index)
    }
    if case .create = change { try checkNewName(key) }
    // Everything is in memory until the commit. An endless source would use up all of the memory.
    let bytes = recordBytes + change.records.reduce(0) { $0 + $1.bytes.count }
    guard bytes <= limits.fileBytes else {
      throw StoreError(
        .unrepresentableValue,
        "a transaction may write records of \(limits.fileBytes) bytes together at most", table: name)
    }
    do { box.table.changes.append(try box.table.now.applyRecording(change)) } catch {
      throw error.adding(table: name)
    }
    if order.last?.table == key { order[order.count - 1].count += 1 } else { order.append((key, 1)) }
    changeCount += 1
    recordBytes = bytes
    if case .create = change, let schema = declarationsOfNewTables[key] { try declare(schema, for: name) }
  }

  /// Checks that the view allows a change of a table.
  func permit(_ change: Change, to name: String) throws(StoreError) {
    try permit(change, to: touch(TableKey(name)))
  }

  private func permit(_ change: Change, to box: TouchedBox) throws(StoreError) {
    try source.view.permit(
      change, to: box.key, seen: box.table.now,
      own: box.table.now.beneath == nil ? nil : box.table.own.state)
  }

  /// Disks such as Apple's treat two names that differ only in case, or in the encoding of an accent, as one file.
  private func checkNewName(_ new: TableKey) throws(StoreError) {
    guard TableNameRule.canBeKept(new.text) else {
      throw StoreError(
        .invalidTableName, "the name of a new table must not have a character that XML cannot hold",
        file: url.path, table: new.text)
    }
    let others = listTables(try log.tables())
    guard let other = others.first(where: { $0 != new && $0.isSameFile(as: new) }) else { return }
    throw StoreError(
      .invalidTableName,
      "the name differs from table '\(other.text)' only in case, or in how an accent is written; "
        + "on some disks both would be one file",
      file: url.path, table: new.text)
  }

  /// Calls `committed` after the transaction is durable, or `undone` if the present work is undone.
  func whenEnded(committed: @escaping () -> Void = {}, undone: @escaping () -> Void = {}) {
    completions.append((committed, undone))
  }

  func complete() {
    for completion in completions { completion.committed() }
    completions = []
  }

  // It has no commit, or nobody knows its outcome.
  deinit { abandon(after: 0) }

  private func abandon(after count: Int) {
    for completion in completions[count...].reversed() { completion.undone() }
    completions.removeSubrange(count...)
  }

  /// Gets a table, if the transaction has not used it yet.
  @discardableResult
  func touch(_ key: TableKey) throws(StoreError) -> TouchedBox {
    guard !isOver else {
      throw StoreError(.closed, "this transaction is over", file: url.path, table: key.text)
    }
    if let latest, latest.key == key { return latest }
    if let box = touched[key] {
      latest = box
      return box
    }
    let own = try tables.newest(key)
    try source.view.read(key)
    let seen = try source.view.seen(key, own: own.state)
    let box = TouchedBox(key, Touched(own: own, first: seen, now: seen))
    (touched[key], latest) = (box, box)
    return box
  }
}

// MARK: - Joined writes

extension TransactionState {
  /// Runs `body`. If it throws, only what it did is undone.
  func join<Result>(_ body: () throws -> Result) throws -> Result {
    let savepoint = savepoint
    do { return try body() } catch {
      try undo(backTo: savepoint)
      throw error
    }
  }

  /// Runs `body`, checks what it did, and then undoes it.
  func dryRun<Result>(_ body: () throws -> Result) throws -> Result {
    let savepoint = savepoint
    let result = try join {
      let result = try body()
      try keepRules()
      return result
    }
    try undo(backTo: savepoint)
    return result
  }

  /// The progress of the transaction at one moment.
  private struct Savepoint {
    let changeCount: Int
    let completionCount: Int
    let recordBytes: Int
  }

  private var savepoint: Savepoint {
    Savepoint(changeCount: changeCount, completionCount: completions.count, recordBytes: recordBytes)
  }

  /// Rebuilds the tables from their first state. An undo is rare, and a copy for each savepoint would not be.
  private func undo(backTo savepoint: Savepoint) throws(StoreError) {
    keptChangeCount = 0
    (declaredTables, declarationsOfNewTables, recordOrigins) = ([:], [:], [:])
    (restored, formerMisfits) = ([:], [:])
    abandon(after: savepoint.completionCount)
    recordBytes = savepoint.recordBytes
    var undone: [TableKey: Int] = [:]
    while changeCount > savepoint.changeCount, let last = order.popLast() {
      let count = min(last.count, changeCount - savepoint.changeCount)
      if count < last.count { order.append((last.table, last.count - count)) }
      undone[last.table, default: 0] += count
      changeCount -= count
    }
    for (key, count) in undone {
      guard let box = touched[key] else { continue }
      box.table.changes.removeLast(count)
      box.table.now = box.table.first
      for applied in box.table.changes { try box.table.now.apply(applied.change) }
    }
  }
}

// MARK: - The commit

extension TransactionState {
  /// The tables that changed, sorted by name.
  var changed: [TouchedBox] {
    touched.values.filter { !$0.table.changes.isEmpty }.sorted { $0.key < $1.key }
  }

  /// The present views of the tables that were touched.
  var states: [TableKey: TableState] { touched.mapValues(\.table.now) }

  /// What to append to the log. For tables over attached ones, this has the changes of the log's own part. `nil` if
  /// nothing has changed, not even the undo log.
  /// - Throws: as ``keepRules()``, and the errors of the view.
  func makeCommit() throws(StoreError) -> NewCommit? {
    try keepRules()
    var own: [LoggedChange] = []
    var lineages: [TableKey: Int] = [:]
    var states: [TableKey: TableState] = [:]
    for box in changed {
      let key = box.key
      let edit = try ownEdit(key, box.table)
      if let edit {
        source.view.remember(box.table.now, of: key, own: edit.table)
        if edit.changes.isEmpty { continue }
        own += edit.changes.map { LoggedChange($0, of: key) }
      }
      states[key] = edit?.table ?? box.table.now
      lineages[key] = box.table.own.lineage
    }
    var changes: [LoggedChange] = []
    for (table, applied) in inOrder where touched[table]?.table.first.beneath == nil {
      changes += applied.lazy.map { LoggedChange($0, of: table) }
    }
    changes += own
    if changes.isEmpty, undo == .none { return nil }
    return NewCommit(
      token: token, undo: undo, changes: changes, position: position, tables: lineages,
      reads: Set(touched.keys).subtracting(lineages.keys), hasListedTables: hasListedTables, states: states)
  }

  /// All changes, in order: those of a table that follow one another are together.
  var inOrder: [(table: TableKey, changes: ArraySlice<AppliedChange>)] {
    var next: [TableKey: Int] = [:]
    return order.map { table, count in
      let start = next[table, default: 0]
      next[table] = start + count
      return (table, touched[table]?.table.changes[start..<start + count] ?? [])
    }
  }

  /// The log's part of a table with this view; the view itself if no other table is beneath it.
  func ownTable(_ key: TableKey, seenAs seen: TableState) throws(StoreError) -> TableState {
    guard var table = touched[key]?.table else { return seen }
    table.now = seen
    return try ownEdit(key, table)?.table ?? seen
  }

  private func ownEdit(_ key: TableKey, _ table: Touched) throws(StoreError) -> ChangeRecorder? {
    guard table.first.beneath != nil else { return nil }
    do {
      return try source.view.ownEdit(
        of: key, own: table.own.state, from: table.first, to: table.now, moving: movedIDs(in: key))
    } catch {
      throw error.adding(table: key.text)
    }
  }

  /// The records of a table that were moved individually.
  func movedIDs(in key: TableKey) -> Set<AnyRecordID> {
    Set(
      (touched[key]?.table.changes ?? []).compactMap {
        if case .move(let id, _) = $0.change { id } else { nil }
      })
  }
}
