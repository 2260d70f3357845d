import Dispatch
import FileDB
import FileDBEssentials
import FileDBTables
import Synchronization

/// A log in a PostgreSQL database. `PostgresTables.swift` has the tables.
///
/// Each process has one connection for its requests, and another one that waits for news.
package final class PostgresLog: EngineLog {
  /// The store in the database, as read after connecting.
  struct Store: Sendable {
    let id: UInt64
    let identity: String
  }

  struct Session: Sendable {
    let connection: PostgresConnection
    let store: Store
  }

  /// The commits that a reader of the log gets.
  package enum History: Sendable {
    /// All commits in the log.
    case whole
    /// Only new commits. The tables that the reader reads include the older ones.
    case fromNow
  }

  /// A commit that PostgreSQL has confirmed as durable.
  private struct Ticket: CommitTicket {
    func wait() {}
  }

  let info: String
  /// Runs requests of async code, which must not block.
  let queue = DispatchQueue(label: "FileDB.PostgreSQL")
  /// The store's name.
  package let name: String
  let timeout: Duration
  let depth: Int
  /// A commit with more bytes of records than this goes to the server with `COPY`, if possible.
  let longestStatement: Int
  private let session = Mutex<Session?>(nil)
  private let history: History
  /// The last result of ``begin(_:_:)`` if the reader wants no history.
  private let floor = Mutex<UInt64?>(nil)
  /// The last commit that this process has seen.
  private let seen = Mutex<FollowedCommit.Known?>(nil)
  /// The commits with an unknown outcome. Each has the last commit that was seen before it was sent.
  private let unsettled = Mutex<[CommitToken: UInt64]>([:])

  /// - Parameters:
  ///   - info: a connection string of libpq.
  ///   - store: the name of the store in the database.
  ///   - timeout: how long to wait for the server's answer.
  package init(
    _ info: String, store name: String, timeout: Duration, history: History = .whole,
    limits: PlistLimits = PlistLimits(), longestStatement: Int = 64 << 20
  ) {
    self.longestStatement = longestStatement
    (self.info, self.name, self.timeout, depth) = (info, name, timeout, limits.depth)
    self.history = history
  }

  package func make() throws(StoreError) -> (tables: Bool, store: Bool) {
    let made = try explaining { () throws(PostgresFailure) in
      let connection = try PostgresConnection(info, timeout: timeout)
      let isNew = try !hasTables(connection)
      if isNew {
        // Let only one client create them at a time.
        try connection.runScript(
          "BEGIN; SELECT pg_advisory_xact_lock(5064105338);\n\(PostgresTables.script)\nCOMMIT;",
          within: timeout)
      }
      try checkVersion(connection)
      let rows = try connection.run(
        "INSERT INTO filedb.stores (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id", [.text(name)],
        within: timeout)
      return (tables: isNew, store: !rows.isEmpty)
    }
    _ = try identity()
    return made
  }

  package func identity() throws(StoreError) -> String {
    try asking { session throws(PostgresFailure) in session.store.identity }
  }

  package func address() throws(StoreError) -> String? { try SharedAddress.text(of: info, store: name) }

  // MARK: The verbs

  package func append(
    timeout: Duration, _ makeCommit: () throws -> NewCommit?, taking: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    try append(timeout: timeout, after: { nil }, makeCommit, taking: taking)
  }

  package func append(
    timeout: Duration, after last: () throws -> FollowedCommit?,
    _ makeCommit: () throws -> NewCommit?, taking: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    let deadline = ContinuousClock.now + timeout
    while true {
      guard let commit = try makeCommit() else { return nil }
      if let sequence = try append(commit, after: try last()) {
        note(FollowedCommit.Known(sequence: sequence, token: commit.token))
        taking(LoggedCommit(commit, sequence: sequence))
        return Ticket()
      }
      guard .now < deadline else {
        throw StoreError(.locked, "other machines kept writing to the same tables; try again")
      }
    }
  }

  /// - Parameters:
  ///   - paged: the paged table that the commit changes; `nil` for any other commit.
  ///   - position: the folder's last commit. The log must have it, unless it has forgotten it.
  /// - Returns: `nil` if another writer was first, or if the folder has to start over.
  func append(
    _ commit: NewCommit, toPaged paged: TableKey? = nil, after position: FollowedCommit? = nil
  ) throws(StoreError) -> UInt64? {
    if isLoad(commit) { return try load(commit) }
    let changes = RowChanges(commit)
    guard changes.payload.count < 1 << 30 else {
      throw StoreError(
        .unrepresentableValue,
        "in PostgreSQL, a commit to existing tables can have at most 1 GB; this one has \(changes.payload.count) bytes"
      )
    }
    let last = lastSeen
    return try confirmingConflicts { () throws(StoreError) in
      do throws(PostgresFailure) {
        return try withSession { session throws(PostgresFailure) in
          try session.append(commit, changes, toPaged: paged, after: position, timeout)
        }
      } catch {
        switch error {
        case .lost(let message): throw unknownOutcome(of: commit.token, since: last, message)
        case .refused(Self.loading, _): return nil
        case .unreachable, .refused: throw StoreError(error)
        }
      }
    }
  }

  /// The last commit that this process has seen, or 0.
  var lastSeen: UInt64 { seen.withLock { $0?.sequence ?? 0 } }

  /// The error for a commit that the server may have, or may still receive.
  /// - Parameter last: the last commit that was seen before it was sent.
  func unknownOutcome(of token: CommitToken, since last: UInt64, _ message: String) -> StoreError {
    unsettled.withLock { $0[token] = last }
    return StoreError(.outcomeUnknown, "\(message); it is not known whether the commit succeeded")
  }

  package func makeWatch() throws(StoreError) -> (any LogWatch)? {
    try PostgresWatch { [info, timeout, self] () throws(PostgresFailure) in
      let store = try withSession { session throws(PostgresFailure) in session.store }
      let connection = try PostgresConnection(info, timeout: timeout)
      try connection.run("LISTEN filedb_\(store.id)", within: timeout)
      return connection
    }
  }

  package func outcome(of token: CommitToken) throws(StoreError) -> CommitOutcome {
    let deadline = ContinuousClock.now + timeout
    let last = unsettled.withLock { $0[token] ?? 0 }
    while true {
      do throws(PostgresFailure) {
        let rows = try withSession { session throws(PostgresFailure) in
          try session.connection.run(
            "SELECT filedb.settle($1::bigint, $2::uuid, $3::bigint)",
            [.number(session.store.id), .text(token.text), .number(last)], within: timeout)
        }
        unsettled.withLock { $0[token] = nil }
        return rows.first?.number(0) == nil ? .absent : .committed
      } catch {
        if case .refused(Self.forgotten, _) = error { return .unknown }
        guard case .refused = error else {
          // Another server may be about to take over.
          if .now >= deadline { return .unknown }
          usleep(100_000)
          continue
        }
        throw StoreError(error)
      }
    }
  }

  // MARK: The connection

  /// Runs `body` with the connection, and connects first if necessary.
  func withSession<Result>(
    _ body: (Session) throws(PostgresFailure) -> Result
  ) throws(PostgresFailure) -> Result {
    try session.withLock { session throws(PostgresFailure) in
      if session?.connection.isOpen != true { session = try connect() }
      guard let open = session else { throw .unreachable("there is no connection") }
      do throws(PostgresFailure) { return try body(open) } catch {
        if case .lost = error { session = nil }
        throw error
      }
    }
  }

  /// The same for requests that change nothing. If the connection breaks, this tries once more.
  func asking<Result>(
    _ body: (Session) throws(PostgresFailure) -> Result
  ) throws(StoreError) -> Result {
    do throws(PostgresFailure) { return try withSession(body) } catch {
      guard case .lost = error else { throw StoreError(error) }
    }
    return try explaining { () throws(PostgresFailure) in try withSession(body) }
  }

  private func explaining<Result>(
    _ body: () throws(PostgresFailure) -> Result
  ) throws(StoreError) -> Result {
    do { return try body() } catch { throw StoreError(error) }
  }

  private func hasTables(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    try connection.run(
      "SELECT to_regclass('filedb.format') IS NOT NULL AND to_regclass('filedb.refused') IS NOT NULL",
      within: timeout
    )
    .first?.number(0) == 1
  }

  /// Opens another connection, in addition to the shared one.
  func newSession() throws(PostgresFailure) -> Session { try connect() }

  /// - Throws: never ``PostgresFailure/lost(_:)``, because no commit has been sent yet.
  private func connect() throws(PostgresFailure) -> Session {
    do throws(PostgresFailure) { return try makeSession() } catch {
      if case .lost(let message) = error { throw .unreachable(message) }
      throw error
    }
  }

  /// A leader that was paused does not know its successor, and would still answer. But no standby follows it any more,
  /// so its writes do not return.
  package func confirmLeader() throws(StoreError) {
    try asking { session throws(PostgresFailure) in
      try session.connection.runScript(Self.confirmation, within: timeout)
    }
  }

  /// Runs `body`. If the server lacks commits, this confirms that it leads, and runs `body` again. A leader that was
  /// paused lacks the commits of its successor, but they are not lost.
  func confirmingConflicts<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    do throws(StoreError) { return try body() } catch { guard error.code == .conflict else { throw error } }
    try confirmLeader()
    return try body()
  }

  /// A write that returns once the standbys have it and everything before it. On a standby, this writes nothing.
  private static let confirmation = """
    SELECT set_config('synchronous_commit', 'on', true)
      WHERE current_setting('synchronous_commit') IN ('off', 'local');
    SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_logical_emit_message(true, 'filedb', '') END;
    """

  private func makeSession() throws(PostgresFailure) -> Session {
    let connection = try PostgresConnection(info, timeout: timeout)
    guard try hasTables(connection) else {
      throw .unreachable("the database does not have FileDB's tables yet")
    }
    try checkVersion(connection)
    // `append` must see what was committed before it got the lock of the store's row.
    try connection.run("SET default_transaction_isolation TO 'read committed'", within: timeout)
    let rows = try connection.run(
      "SELECT id, identity::text FROM filedb.stores WHERE name = $1", [.text(name)], within: timeout)
    guard let row = rows.first, let id = row.number(0) else {
      throw .unreachable("the database has no store '\(name)'")
    }
    let session = Session(connection: connection, store: Store(id: id, identity: row.text(1)))
    // After a crash, a server shows commits that no standby had confirmed. If the server is lost, so are they.
    try connection.runScript(Self.confirmation, within: timeout)
    // Not before: a leader that was paused lacks the commits of its successor, and cannot confirm that it leads.
    try checkSeen(session)
    return session
  }

  /// A client of another version may have created the tables.
  private func checkVersion(_ connection: PostgresConnection) throws(PostgresFailure) {
    let versions = try connection.run("SELECT version FROM filedb.format", within: timeout)
    guard versions.first?.number(0) == PostgresTables.version else {
      throw .refused(state: Self.newerFormat, "another version of FileDB made the database's tables")
    }
  }

  /// Refuses a server that lacks commits which this process has seen: another server, or one restored from a backup.
  private func checkSeen(_ session: Session) throws(PostgresFailure) {
    guard let seen = seen.withLock(\.self) else { return }
    if let what = try session.difference(from: FollowedCommit(sequence: seen.sequence, known: seen), timeout)
    {
      throw .refused(state: Self.putBack, what)
    }
  }

  func note(_ last: FollowedCommit.Known?) {
    guard let last else { return }
    seen.withLock { if $0.map({ $0.sequence < last.sequence }) ?? true { $0 = last } }
  }

  /// The last commit that the reader does not get.
  /// - Parameters:
  ///   - start: the last forgotten commit.
  ///   - head: the last commit of the log.
  func begin(_ start: UInt64, _ head: UInt64) -> UInt64 {
    switch history {
    case .whole: return start
    case .fromNow:
      return floor.withLock { floor in
        floor = max(floor ?? head, start)
        return floor ?? start
      }
    }
  }

  // SQLSTATE codes of FileDB. The functions in the database raise some of them.
  static let newerFormat = "FD003"
  static let forgotten = "FD004"
  static let putBack = "FD005"
  static let paged = "FD006"
  static let notPaged = "FD007"
  /// PostgreSQL's code for a row that another client has locked.
  static let loading = "55P03"
}

extension PostgresLog.Session {
  /// - Returns: as `PostgresLog.append`.
  func append(
    _ commit: NewCommit, _ changes: RowChanges, toPaged paged: TableKey?,
    after last: FollowedCommit?, _ timeout: Duration
  ) throws(PostgresFailure) -> UInt64? {
    let expected = commit.expected
    let values: [PostgresValue] = [
      .number(store.id), .text(commit.token.text), .texts(expected.map(\.name)),
      .numbers(expected.map(\.sequence)),
      .texts(commit.changedNames(paged: paged)), .bytes(changes.payload),
    ]
    return try connection.run(
      "SELECT filedb.append($1::bigint, $2::uuid, $3::text[], $4::bigint[], $5::text[], $6::bytea, "
        + "$7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14, $15::bigint, $16::bigint, $17::uuid)",
      values + changes.values + [
        .text(paged?.text ?? ""), last.map { .number($0.sequence) } ?? .null,
        (last?.known).map { .number($0.sequence) } ?? .null,
        (last?.known).map { .text($0.token.text) } ?? .null,
      ], within: timeout
    ).first?.number(0)
  }
}

extension NewCommit {
  /// The names of the tables that it depends on, each with the last commit that may have changed it.
  var expected: [(name: String, sequence: UInt64)] {
    let tables = expectedSequences.map { (name: $0.key.text, sequence: $0.value) }
    return tableList.map { tables + [(PostgresTables.tableList, $0)] } ?? tables
  }

  /// The names of the tables that it changes. A paged table is not in the list of tables.
  fileprivate func changedNames(paged: TableKey?) -> [String] {
    let changesList = paged == nil && changes.changeTableList
    return states.keys.map(\.text) + (changesList ? [PostgresTables.tableList] : [])
  }
}

extension StoreError {
  init(_ failure: PostgresFailure) {
    switch failure {
    case .unreachable(let message), .lost(let message): self.init(.unreachable, message)
    case .refused(PostgresLog.newerFormat, let message): self.init(.newerFormat, message)
    case .refused(PostgresLog.putBack, let message): self = .putBack(message)
    case .refused(PostgresLog.paged, _):
      self.init(
        .tableExists, "this table is paged and exists only in the database; use 'store.paged' to write to it")
    case .refused(PostgresLog.notPaged, _):
      self.init(
        .tableExists, "this table is not paged; only a table that does not exist yet can become paged")
    case .refused(let state, let message):
      self.init(.unreachable, "PostgreSQL refused: \(message) (\(state))")
    }
  }
}
