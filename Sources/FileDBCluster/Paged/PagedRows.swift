import Dispatch
import FileDB
import FileDBEssentials
import FileDBTables

/// The requests of a paged table to PostgreSQL. Each call waits for the answer.
final class PagedRows: Sendable {
  let log: PostgresLog
  let key: TableKey
  /// How long to wait for others who write at the same time.
  let patience: Duration
  private let writes = DispatchQueue(label: "FileDB.PagedWrites")

  init(_ log: PostgresLog, _ key: TableKey, patience: Duration) {
    (self.log, self.key, self.patience) = (log, key, patience)
  }

  /// Runs `body`, which only reads, on the log's own thread.
  func asking<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await run(on: log.queue, body)
  }

  /// Runs `body` on another thread than the one that reads, because a write may wait for other writers.
  func writing<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await run(on: writes, body)
  }

  private func run<Result: Sendable>(
    on queue: DispatchQueue, _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Swift.Result { try body() }) }
    }
  }

  // MARK: Reading

  /// The table without its records. `nil` if it never existed.
  func table() throws(StoreError) -> PostgresTable? {
    try log.asking { session throws(PostgresFailure) in
      try session.tables(log.timeout, named: key).first
    }
  }

  /// The records at these indices, all read at the same moment.
  func page(_ indices: Range<Int>) throws(StoreError) -> [EncodedRecord] {
    let first = max(indices.lowerBound, 0)
    return try records(
      "filedb.page(tab.id, $3::bigint, $4::bigint)",
      [.number(UInt64(first)), .number(UInt64(max(indices.upperBound - first, 0)))])
  }

  enum Side { case above, below }

  /// Some records next to another one, all read at the same moment.
  func page(_ side: Side, of id: AnyRecordID, limit: Int) throws(StoreError) -> [EncodedRecord] {
    let page =
      switch side {
      case .above: "filedb.page(tab.id, greatest(index - $4::bigint, 0), least($4::bigint, index))"
      case .below: "filedb.page(tab.id, index + 1, $4::bigint)"
      }
    let found = try records(
      "(SELECT ARRAY[$3::bigint] || \(page) FROM filedb.index_of(tab.id, $3::bigint) AS index)",
      [.number(UInt64(id.rawValue)), .number(UInt64(max(limit, 0)))])
    guard found.first?.id == id else { throw missing(id) }
    return Array(found.dropFirst())
  }

  /// - Throws: ``StoreError/Code/recordNotFound``.
  func record(with id: AnyRecordID) throws(StoreError) -> EncodedRecord {
    guard let record = try records("ARRAY[$3::bigint]", [.number(UInt64(id.rawValue))]).first else {
      throw missing(id)
    }
    return record
  }

  /// - Parameter list: an array of ids, in SQL.
  private func records(_ list: String, _ values: [PostgresValue]) throws(StoreError) -> [EncodedRecord] {
    let rows = try ask(
      """
      SELECT one.id, one.body
      FROM filedb.tables AS tab, unnest(\(list)) WITH ORDINALITY AS listed (id, number), LATERAL (
        SELECT id, body FROM filedb.records WHERE records.tab = tab.id AND records.id = listed.id OFFSET 0
      ) AS one
      WHERE tab.store = $1::bigint AND tab.name = $2 ORDER BY listed.number
      """, values)
    return try rows.map { row throws(StoreError) in
      guard let record = row.record(0, 1, depth: log.depth) else {
        throw StoreError(
          .damagedTable, "in PostgreSQL, a record is not as FileDB has written it", table: key.text)
      }
      return record
    }
  }

  /// - Throws: ``StoreError/Code/recordNotFound``.
  func index(of id: AnyRecordID) throws(StoreError) -> Int {
    let rows = try ask(
      "SELECT filedb.index_of(id, $3::bigint) FROM filedb.tables WHERE store = $1::bigint AND name = $2",
      [.number(UInt64(id.rawValue))])
    guard let index = rows.first?.number(0) else { throw missing(id) }
    return Int(index)
  }

  /// The given ids that are in the table.
  func present(_ ids: [AnyRecordID]) throws(StoreError) -> Set<AnyRecordID> {
    let rows = try ask(
      """
      SELECT records.id FROM filedb.tables AS tab, unnest($3::bigint[]) AS listed (id), LATERAL (
        SELECT id FROM filedb.records WHERE records.tab = tab.id AND records.id = listed.id OFFSET 0
      ) AS records WHERE tab.store = $1::bigint AND tab.name = $2
      """, [.numbers(ids.map { UInt64($0.rawValue) })])
    return Set(rows.compactMap { $0.number(0).flatMap { AnyRecordID(rawValue: Int64($0)) } })
  }

  /// - Parameter values: the values for `$3` and the following parameters.
  private func ask(_ statement: String, _ values: [PostgresValue]) throws(StoreError) -> [PostgresRow] {
    try log.asking { session throws(PostgresFailure) in
      try session.connection.run(
        statement, [.number(session.store.id), .text(key.text)] + values, within: log.timeout)
    }
  }

  func missing(_ id: AnyRecordID) -> StoreError {
    StoreError(.recordNotFound, "there is no such record", table: key.text, record: id)
  }

  func missing(index: Int) -> StoreError {
    StoreError(.indexOutOfRange, "there is no index \(index)", table: key.text)
  }

  // MARK: Writing

  /// Appends a commit. `make` makes it for the present table, and runs again if another writer was first.
  func commit<Result>(
    _ make: (PostgresTable) throws -> (changes: [Change], result: Result)
  ) throws -> Result {
    let deadline = ContinuousClock.now + patience
    while true {
      let table = try tableToWrite()
      let (changes, result) = try make(table)
      if changes.isEmpty { return result }
      if !table.isPaged { try makePaged() }
      if try append(changes, to: table) { return result }
      try waitForOthers(until: deadline)
    }
  }

  /// The table, which may not exist yet.
  /// - Throws: ``StoreError/Code/tableExists`` for a table that is not paged.
  func tableToWrite() throws(StoreError) -> PostgresTable {
    let table =
      try table()
      ?? PostgresTable(
        id: 0, key: key, exists: false, counter: 0, count: 0, schema: nil, sequence: 0, isPaged: false)
    if table.exists && !table.isPaged {
      throw StoreError(.refused(state: PostgresLog.notPaged, "")).adding(table: key.text)
    }
    return table
  }

  /// Makes a table paged that does not exist yet.
  func makePaged() throws(StoreError) {
    try checkNewName()
    do throws(PostgresFailure) {
      try log.withSession { session throws(PostgresFailure) in
        _ = try session.connection.run(
          "SELECT filedb.make_paged($1::bigint, $2)", [.number(session.store.id), .text(key.text)],
          within: log.timeout)
      }
    } catch {
      // Another client is loading records into the table, so it is paged already.
      if case .refused(PostgresLog.loading, _) = error { return }
      throw StoreError(error)
    }
  }

  private func checkNewName() throws(StoreError) {
    let others = try log.asking { session throws(PostgresFailure) in try session.tables(log.timeout) }
    guard let other = others.first(where: { $0.exists && $0.key != key && $0.key.isSameFile(as: key) }) else {
      return
    }
    throw StoreError(
      .invalidTableName,
      "the name differs from table '\(other.key.text)' only in case, or in how an accent is written",
      table: key.text)
  }

  func newCommit(_ changes: [Change], to table: PostgresTable) -> NewCommit {
    // Only the database applies this commit, so it does not have to say what it found.
    NewCommit(
      changes: changes.map { LoggedChange(AppliedChange($0, found: .nothing), of: key) },
      position: table.sequence, tables: [key: 0], states: [key: TableState()])
  }

  /// - Returns: false if another writer was first.
  private func append(_ changes: [Change], to table: PostgresTable) throws(StoreError) -> Bool {
    let commit = newCommit(changes, to: table)
    do throws(StoreError) { return try log.append(commit, toPaged: key) != nil } catch {
      guard error.code == .outcomeUnknown else { throw error.adding(table: key.text) }
      return try log.isCommitted(commit.token, or: error)
    }
  }

  /// Waits for a random time, so that writers in conflict do not all try again at the same moment.
  func waitForOthers(until deadline: ContinuousClock.Instant) throws(StoreError) {
    guard .now < deadline else {
      throw StoreError(.locked, "others kept writing to the table; try again", table: key.text)
    }
    usleep(.random(in: 0..<5_000))
  }
}
