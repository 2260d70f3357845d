import FileDB
import FileDBTables
import Synchronization

/// A table in memory with the few records of a paged table that an operation uses.
///
/// With it, a paged table uses the code of all other tables. So it encodes values, assigns ids, and handles versions
/// and rules in the same way.
struct PagedEdit<Value: Codable & Sendable> {
  private let log: EditLog
  private let store: RecordStore
  private let name: TableName<Value>

  init(of name: TableName<Value>, _ table: TableState, in store: RecordStore) {
    log = EditLog(TableKey(name.text), table)
    var options = store.options
    options.checkpoints = .manual
    self.store = RecordStore(at: store.url, log: log, options: options)
    self.name = name
  }

  /// - Parameter records: the records that the operation uses.
  init(
    of name: TableName<Value>, _ table: PostgresTable, _ records: [EncodedRecord] = [], in store: RecordStore
  ) {
    self.init(of: name, table.state(records), in: store)
  }

  func records() throws -> [StoredRecord<Value>] { try Array(store.table(name).snapshot()) }

  /// Runs some operations on the table in memory.
  /// - Returns: their changes, with indices of the table in memory.
  func changes<Result>(
    of table: PostgresTable, _ verbs: (RecordTable<Value>) throws -> Result
  ) throws -> (changes: [Change], result: Result) {
    let result = try verbs(store.table(name))
    let changes = log.now.changes
    try checkRules(changes, of: table)
    return (changes, result)
  }

  /// The table in memory after the operations.
  var table: TableState { log.now.state }

  /// Refuses rules that need all records: whether a value is unique, or whether a reference leads to a record.
  private func checkRules(_ changes: [Change], of table: PostgresTable) throws(StoreError) {
    for case .declare(let value) in changes {
      guard table.count == 0 else {
        throw StoreError(
          .invalidSchema, "declare the schema of a paged table before it has records", table: name.text)
      }
      guard case .schema(let schema) = SchemaDeclaration(value) else { continue }
      let rule =
        schema.fields.first { $0.isUnique || $0.references != nil }?.name ?? schema.unique.first?.first
      if let rule {
        throw StoreError(
          .invalidSchema,
          "a paged table cannot have rules about other records: unique fields, and references",
          table: name.text, field: rule)
      }
    }
  }
}

extension PostgresTable {
  /// The table with some of its records.
  func state(_ records: [EncodedRecord]) -> TableState {
    exists
      ? TableState(counter: counter, records: records, schema: schema) : TableState(counter: counter)
  }
}

/// A log in memory for one table. It collects the commits.
private final class EditLog: CommitLog {
  private struct Ticket: CommitTicket { func wait() {} }

  private let table: TableKey
  private let state: TableState
  private let appended: Mutex<(changes: [Change], state: TableState)>

  init(_ table: TableKey, _ state: TableState) {
    (self.table, self.state) = (table, state)
    appended = Mutex(([], state))
  }

  /// The changes that were appended, and the table after them.
  var now: (changes: [Change], state: TableState) { appended.withLock(\.self) }

  func append(
    timeout: Duration, _ transact: () throws -> NewCommit?, beforeOthersSee: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    guard let commit = try transact() else { return nil }
    appended.withLock {
      $0.changes += commit.changes.map(\.change)
      $0.state = commit.states[table] ?? $0.state
    }
    beforeOthersSee(LoggedCommit(commit, sequence: 1))
    return Ticket()
  }

  func commits(after sequence: UInt64) -> LogNews { .commits([]) }

  func base(of table: TableKey, unless known: TableVersion?) -> TableVersion? {
    if known?.lineage == 0 { return nil }
    return TableVersion(state: table == self.table ? state : TableState(), lineage: 0, through: 0)
  }

  func tables() -> Set<TableKey> { state.exists ? [table] : [] }
  func makeWatch() -> (any LogWatch)? { nil }
  func outcome(of token: CommitToken) -> CommitOutcome { .committed }
}
