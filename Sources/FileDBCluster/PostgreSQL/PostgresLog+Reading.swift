import FileDB
import FileDBEssentials
import FileDBTables

// MARK: Commits

extension PostgresLog {
  /// The maximum number of commits, and of their bytes, in one request.
  private static let batch = (commits: 5_000, bytes: 16 << 20)
  /// If the log has more commits than this, a new folder starts from the tables. Otherwise it reads the commits.
  private static let fewCommits: UInt64 = 256

  package func commits(after sequence: UInt64) throws(StoreError) -> LogNews {
    var all: [LoggedCommit] = []
    while true {
      let last = all.last?.sequence ?? sequence
      let (log, rows) = try read(after: FollowedCommit(sequence: last))
      let begin = begin(log.start, log.head)
      guard last >= begin else { return .forgotten(upTo: begin) }
      let commits = try commits(rows, begin)
      all += commits
      if commits.isEmpty || all.last?.sequence == log.head { return .commits(all) }
    }
  }

  package func news(after last: FollowedCommit) throws(StoreError) -> SharedNews {
    let (log, rows) = try confirmingConflicts { () throws(StoreError) in
      let (log, rows) = try read(after: last)
      if let what = log.difference(from: last) { throw .putBack(what) }
      return (log, rows)
    }
    let isNew = last.sequence == 0 && log.head > Self.fewCommits
    if isNew || last.sequence < log.start { return .startOver }
    let commits = try commits(rows, 0)
    return commits.isEmpty || commits.last?.sequence == log.head ? .commits(commits) : .more(commits)
  }

  /// The first commits after a known one, and the state of the log at the same moment.
  private func read(
    after last: FollowedCommit
  ) throws(StoreError) -> (log: PostgresLogState, rows: [PostgresRow]) {
    let rows = try asking { session throws(PostgresFailure) in
      try session.connection.run(
        """
        SELECT \(PostgresLogState.columns), next.sequence, next.payload, next.token, next.date
        FROM filedb.stores AS store LEFT JOIN LATERAL (
          SELECT sequence, payload, token, floor(extract(epoch FROM committed))::bigint AS date,
            sum(length) OVER (ORDER BY sequence) - length AS passed
          FROM (
            SELECT sequence, CASE WHEN paged IS NULL THEN payload END AS payload, token, committed,
              CASE WHEN paged IS NULL THEN octet_length(payload) ELSE 0 END AS length
            FROM filedb.commits WHERE store = store.id AND sequence > $3::bigint
            ORDER BY sequence LIMIT \(Self.batch.commits)
          ) AS first
        ) AS next ON next.passed < \(Self.batch.bytes)
        WHERE store.id = $1::bigint ORDER BY next.sequence
        """,
        [
          .number(session.store.id), .number(last.known?.sequence ?? last.sequence), .number(last.sequence),
        ], within: timeout)
    }
    guard let first = rows.first else { throw StoreError(.unreachable, "the store '\(name)' is gone") }
    let log = try explaining { () throws(PostgresFailure) in try PostgresLogState(first) }
    let found = rows.filter { !$0.isNull(PostgresLogState.width) }
    try check(found, after: last.sequence, log)
    if let last = found.last, let sequence = last.number(PostgresLogState.width),
      let token = CommitToken(bytes: last.bytes(PostgresLogState.width + 2))
    {
      remember(FollowedCommit.Known(sequence: sequence, token: token))
    }
    return (log, found)
  }

  /// Checks that these are the first commits after `last`, unless some are forgotten.
  private func check(_ rows: [PostgresRow], after last: UInt64, _ log: PostgresLogState) throws(StoreError) {
    if last < log.start || rows.isEmpty && last >= log.head { return }
    let sequences = rows.isEmpty ? [nil] : rows.map { $0.number(PostgresLogState.width) }
    for (expected, sequence) in zip((last + 1)..., sequences)
    where sequence != expected || expected > log.head {
      throw StoreError(
        .damagedJournal,
        "PostgreSQL lacks commit \(expected), or its log does not end with commit \(log.head)")
    }
  }

  private func commits(_ rows: [PostgresRow], _ base: UInt64) throws(StoreError) -> [LoggedCommit] {
    try rows.map { row throws(StoreError) in
      let (sequence, payload) = (row.number(PostgresLogState.width) ?? 0, PostgresLogState.width + 1)
      if row.isNull(payload) {
        return LoggedCommit(toPagedTable: sequence, row.bytes(payload + 1), at: row.number(payload + 2) ?? 0)
      }
      return try LoggedCommit(
        payload: row.bytes(payload), sequence: sequence, depth: depth, lineage: Int(base))
    }
  }
}

extension LoggedCommit {
  /// A commit to a paged table. A folder needs only its number.
  fileprivate init(toPagedTable sequence: UInt64, _ token: [UInt8], at seconds: UInt64) {
    self.init(
      sequence: sequence, date: Date(timeIntervalSince1970: TimeInterval(seconds)),
      token: CommitToken(bytes: token), changes: [], tables: [:])
  }
}

/// Where a log begins and ends, and the token of one of its commits.
struct PostgresLogState {
  /// The columns to select. `$2` is the number of the commit whose token is wanted.
  static let columns = """
    store.head, store.start, CASE WHEN store.start = $2::bigint THEN store.start_token ELSE (
      SELECT token FROM filedb.commits WHERE commits.store = store.id AND sequence = $2::bigint
    ) END
    """
  static let width = 3

  let head: UInt64
  let start: UInt64
  private let token: CommitToken?

  init(_ row: PostgresRow) throws(PostgresFailure) {
    guard let head = row.number(0), let start = row.number(1), start <= head else {
      throw .refused(state: PostgresLog.damagedLog, "in PostgreSQL, the log's end is before its start")
    }
    (self.head, self.start, token) = (head, start, CommitToken(bytes: row.bytes(2)))
  }

  /// Why this is not the log that the reader has followed so far. `nil` if it is.
  func difference(from last: FollowedCommit) -> String? {
    if last.sequence > head {
      return "it ends with commit \(head), but it had commit \(last.sequence) before"
    }
    guard let known = last.known, known.sequence >= start, known.token != token else { return nil }
    return "its commit \(known.sequence) is not the one that it had before"
  }
}

extension PostgresLog.Session {
  /// See ``PostgresLogState/difference(from:)``.
  func difference(
    from last: FollowedCommit, _ timeout: Duration
  ) throws(PostgresFailure) -> String? {
    let rows = try connection.run(
      "SELECT \(PostgresLogState.columns) FROM filedb.stores AS store WHERE store.id = $1::bigint",
      [.number(store.id), .number(last.known?.sequence ?? last.sequence)], within: timeout)
    return try rows.first.map(PostgresLogState.init)?.difference(from: last)
  }
}

extension CommitToken {
  /// `nil` unless there are 16 bytes.
  fileprivate init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(high: number(bytes[..<8]), low: number(bytes[8...]))
  }
}

// MARK: Forgetting

extension PostgresLog {
  package func forgetCommits(olderThan age: Duration) throws(StoreError) -> Int {
    var total = 0
    while true {
      let rows = try asking { session throws(PostgresFailure) in
        try session.connection.run(
          "SELECT filedb.forget($1::bigint, $2::bigint * interval '1 second', 10000)",
          [.number(session.store.id), .number(UInt64(max(age.components.seconds, 0)))], within: timeout)
      }
      let count = Int(rows.first?.number(0) ?? 0)
      total += count
      if count == 0 { return total }
    }
  }
}

// MARK: Tables

extension PostgresLog {
  package func base(of table: TableKey, unless known: TableVersion?) throws(StoreError) -> TableVersion? {
    try inOneMoment { session throws(PostgresFailure) in
      let log = try session.logState(timeout)
      let number = Int(begin(log.start, log.head))
      if known?.lineage == number { return nil }
      let tables = try session.tables(timeout, named: table)
      var state = TableState()
      for table in tables {
        if table.isPaged { throw .refused(state: Self.paged, "the table is paged") }
        state = try session.state(of: table, timeout)
      }
      return TableVersion(state: state, lineage: number, through: log.head)
    }
  }

  package func bases(
    _ take: (TableKey, TableState) throws(StoreError) -> Void
  ) throws(StoreError) -> FollowedCommit {
    var failure: StoreError?
    let last = try inOneMoment { session throws(PostgresFailure) in
      let tables = try session.tables(timeout)
      for table in tables where failure == nil && !table.isPaged {
        let state = try session.state(of: table, timeout)
        do throws(StoreError) { try take(table.key, state) } catch { failure = error }
      }
      return try session.lastCommit(timeout)
    }
    if let failure { throw failure }
    return last
  }

  package func tables() throws(StoreError) -> Set<TableKey> {
    try tables { table in table.exists && !table.isPaged }
  }

  package func droppedTables() throws(StoreError) -> Set<TableKey> {
    try tables { table in !table.exists && table.counter > 0 && !table.isPaged }
  }

  private func tables(_ isWanted: (PostgresTable) -> Bool) throws(StoreError) -> Set<TableKey> {
    let tables = try asking { session throws(PostgresFailure) in try session.tables(timeout) }
    return Set(tables.filter(isWanted).map(\.key))
  }

  /// The names of the paged tables, sorted.
  package func pagedTables() throws(StoreError) -> [String] {
    let tables = try asking { session throws(PostgresFailure) in try session.tables(timeout) }
    return tables.filter { $0.isPaged && $0.exists }.map(\.key.text)
  }

  /// Runs `body` in a transaction that sees the database at one moment.
  func inOneMoment<Result>(
    _ body: (Session) throws(PostgresFailure) -> Result
  ) throws(StoreError) -> Result {
    try asking { session throws(PostgresFailure) in
      try session.connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", within: timeout)
      do throws(PostgresFailure) {
        let result = try body(session)
        try session.connection.run("COMMIT", within: timeout)
        return result
      } catch {
        // The connection will be used again, so it must not stay in the transaction.
        _ = try? session.connection.run("ROLLBACK", within: timeout)
        throw error
      }
    }
  }
}

/// A table in PostgreSQL, without its records.
struct PostgresTable {
  let id: UInt64
  let key: TableKey
  let exists: Bool
  let counter: Int64
  let count: Int
  let schema: [UInt8]?
  /// The last commit that changed it.
  let sequence: UInt64
  /// Whether the table is paged: it exists only in the database.
  let isPaged: Bool
}

extension PostgresLog.Session {
  /// The number of chunks of records in one request.
  private static let batch = 32

  func logState(_ timeout: Duration) throws(PostgresFailure) -> PostgresLogState {
    let rows = try connection.run(
      "SELECT head, start, NULL::uuid FROM filedb.stores WHERE id = $1::bigint", [.number(store.id)],
      within: timeout)
    guard let row = rows.first else { throw .unreachable("the store is gone") }
    return try PostgresLogState(row)
  }

  func lastCommit(_ timeout: Duration) throws(PostgresFailure) -> FollowedCommit {
    let rows = try connection.run(
      """
      SELECT head, coalesce((SELECT token FROM filedb.commits WHERE commits.store = store.id AND sequence = head),
        start_token)
      FROM filedb.stores AS store WHERE id = $1::bigint
      """, [.number(store.id)], within: timeout)
    guard let row = rows.first, let head = row.number(0) else { throw .unreachable("the store is gone") }
    return FollowedCommit(
      sequence: head,
      known: CommitToken(bytes: row.bytes(1)).map { FollowedCommit.Known(sequence: head, token: $0) })
  }

  /// - Parameter name: the only table to read; `nil` for all tables.
  func tables(
    _ timeout: Duration, named name: TableKey? = nil
  ) throws(PostgresFailure) -> [PostgresTable] {
    let rows = try connection.run(
      """
      SELECT id, name, exists::integer, counter, count, schema, sequence, paged::integer FROM filedb.tables
      WHERE store = $1::bigint AND name \(name == nil ? "<> '\(PostgresTables.tableList)'" : "= $2") ORDER BY name
      """, [.number(store.id)] + (name.map { [.text($0.text)] } ?? []), within: timeout)
    return try rows.map { row throws(PostgresFailure) in
      let schema = row.isNull(5) ? nil : row.bytes(5)
      guard let id = row.number(0), let counter = row.number(3), let count = row.number(4),
        let sequence = row.number(6), schema.map({ TableFile.isRootValue($0, depth: depth) }) ?? true
      else { throw damaged(row.text(1)) }
      return PostgresTable(
        id: id, key: TableKey(row.text(1)), exists: row.number(2) == 1, counter: Int64(counter),
        count: Int(count), schema: schema, sequence: sequence, isPaged: row.number(7) == 1)
    }
  }

  func damaged(_ table: String) -> PostgresFailure {
    .refused(
      state: PostgresLog.damagedTable, "in PostgreSQL, the table '\(table)' is not as FileDB has written it")
  }

  /// Reads a whole table.
  func state(of table: PostgresTable, _ timeout: Duration) throws(PostgresFailure) -> TableState {
    guard table.exists else { return TableState(counter: table.counter) }
    var records: [EncodedRecord] = []
    var last: PostgresValue?
    // With OFFSET 0, PostgreSQL plans each part separately and uses its keys. Without it, outdated statistics of a
    // table that has just grown could make it read all chunks for each one.
    while true {
      let rows = try connection.run(
        """
        SELECT one.id, one.body, first.place FROM (
          SELECT chunk, place FROM filedb.chunks
          WHERE tab = $1::bigint \(last == nil ? "" : "AND place > $2::bigint") ORDER BY place LIMIT \(Self.batch)
        ) AS first,
        LATERAL (
          SELECT records.id, records.body, listed.number
          FROM (
            SELECT ids FROM filedb.chunk_ids WHERE tab = $1::bigint AND chunk = first.chunk OFFSET 0
          ) AS chunk,
          unnest(chunk.ids) WITH ORDINALITY AS listed (id, number),
          LATERAL (
            SELECT id, body FROM filedb.records WHERE tab = $1::bigint AND id = listed.id OFFSET 0
          ) AS records
        ) AS one
        ORDER BY first.place, one.number
        """, [.number(table.id)] + (last.map { [$0] } ?? []), within: timeout)
      guard let place = rows.last?.number(2) else { break }
      last = .number(place)
      for row in rows {
        guard let record = row.record(0, 1, depth: depth) else { throw damaged(table.key.text) }
        records.append(record)
      }
    }
    guard records.count == table.count, Set(records.lazy.map(\.id)).count == table.count else {
      throw damaged(table.key.text)
    }
    return TableState(counter: table.counter, records: records, schema: table.schema)
  }
}

extension PostgresRow {
  /// The record whose id and body are in these columns; `nil` if they are none.
  func record(_ id: Int, _ body: Int, depth: Int) -> EncodedRecord? {
    number(id).flatMap {
      EncodedRecord(id: AnyRecordID(counted: Int64($0)), checking: bytes(body), depth: depth)
    }
  }
}
