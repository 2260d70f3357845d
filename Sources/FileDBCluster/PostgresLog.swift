import FileDB
import FileDBEssentials
import FileDBTables
import Synchronization

/// A log in a PostgreSQL database. The tables are in `PostgresTables.swift`.
///
/// Each process has one connection for all that it asks, and another that waits for news.
package final class PostgresLog: SharedCommitLog {
  /// What is known of the store once a connection was made.
  struct Store: Sendable {
    let id: UInt64
    let identity: String
  }

  private struct Session: Sendable {
    let connection: PostgresConnection
    let store: Store
  }

  /// A commit that PostgreSQL has said to be durable.
  private struct Ticket: CommitTicket {
    func wait() {}
  }

  private let info: String
  private let name: String
  private let timeout: Duration
  private let depth: Int
  private let session = Mutex<Session?>(nil)

  /// - Parameters:
  ///   - info: as libpq takes it.
  ///   - store: the name of the store in the database.
  ///   - timeout: how long the server may take for an answer.
  package init(_ info: String, store name: String, timeout: Duration, limits: PlistLimits = PlistLimits()) {
    (self.info, self.name, self.timeout, depth) = (info, name, timeout, limits.depth)
  }

  /// Makes the tables in the database, and the store in them, where they are not there yet.
  /// - Throws: ``StoreError/Code/unreachable``, also where the user of the connection may not make them;
  ///   ``StoreError/Code/newerFormat``.
  package func create() throws(StoreError) {
    try explaining { () throws(PostgresFailure) in
      let connection = try PostgresConnection(info, timeout: timeout)
      if try !hasTables(connection) {
        // Two that make them at the same time would be in each other's way.
        try connection.runScript(
          "BEGIN; SELECT pg_advisory_xact_lock(5064105338);\n\(PostgresTables.script)\nCOMMIT;",
          within: timeout)
      }
      try connection.run(
        "INSERT INTO filedb.stores (name) VALUES ($1) ON CONFLICT DO NOTHING", [.text(name)], within: timeout)
    }
    _ = try identity()
  }

  package func identity() throws(StoreError) -> String {
    try asking { session throws(PostgresFailure) in session.store.identity }
  }

  // MARK: The verbs

  package func append(
    timeout: Duration, _ makeCommit: () throws -> NewCommit?, taking: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    let deadline = ContinuousClock.now + timeout
    while true {
      guard let commit = try makeCommit() else { return nil }
      if let sequence = try append(commit) {
        taking(LoggedCommit(commit, sequence: sequence))
        return Ticket()
      }
      guard .now < deadline else {
        throw StoreError(.locked, "other machines kept writing to the same tables; try again")
      }
    }
  }

  /// - Returns: `nil` where somebody was quicker.
  private func append(_ commit: NewCommit) throws(StoreError) -> UInt64? {
    let payload = commit.payload
    guard payload.count < 1 << 30 else {
      throw StoreError(
        .unrepresentableValue,
        "PostgreSQL takes a commit of 1 GB at most, and this one has \(payload.count) bytes")
    }
    let expected = Array(commit.expectedSequences)
    let changed = Array(commit.states)
    let values: [PostgresValue] = [
      .text(commit.token.text), .texts(expected.map(\.key.text)), .numbers(expected.map(\.value)),
      .texts(changed.map(\.key.text)), .flags(changed.map(\.value.exists)), .bytes(payload),
    ]
    do throws(PostgresFailure) {
      let rows = try withSession { session throws(PostgresFailure) in
        try session.connection.run(
          "SELECT filedb.append($1::bigint, $2::uuid, $3::text[], $4::bigint[], $5::text[], $6::boolean[], $7::bytea)",
          [.number(session.store.id)] + values, within: timeout)
      }
      return rows.first?.number(0)
    } catch {
      guard case .lost(let message) = error else { throw StoreError(error) }
      throw StoreError(.outcomeUnknown, "\(message); nobody knows yet whether the commit is there")
    }
  }

  package func commits(after sequence: UInt64) throws(StoreError) -> LogNews {
    let rows = try asking { session throws(PostgresFailure) in
      try session.connection.run(
        "SELECT sequence, payload FROM filedb.commits WHERE store = $1::bigint AND sequence > $2::bigint "
          + "ORDER BY sequence", [.number(session.store.id), .number(sequence)], within: timeout)
    }
    return .commits(
      try rows.map { row throws(StoreError) in
        try LoggedCommit(payload: row.bytes(1), sequence: row.number(0) ?? 0, depth: depth)
      })
  }

  package func base(of table: TableKey, unless known: Int?) throws(StoreError) -> TableBase? {
    // The log has all commits, so every table begins without records.
    if known == 0 { return nil }
    let head = try asking { session throws(PostgresFailure) in
      try session.connection.run(
        "SELECT head FROM filedb.stores WHERE id = $1::bigint", [.number(session.store.id)], within: timeout)
    }
    return TableBase(state: TableState(), sequence: 0, number: 0, end: head.first?.number(0) ?? 0)
  }

  package func tables() throws(StoreError) -> Set<TableKey> {
    let rows = try asking { session throws(PostgresFailure) in
      try session.connection.run(
        "SELECT name FROM filedb.tables WHERE store = $1::bigint AND exists", [.number(session.store.id)],
        within: timeout)
    }
    return Set(rows.map { TableKey($0.text(0)) })
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
    while true {
      do throws(PostgresFailure) {
        let rows = try withSession { session throws(PostgresFailure) in
          try session.connection.run(
            "SELECT filedb.settle($1::bigint, $2::uuid)", [.number(session.store.id), .text(token.text)],
            within: timeout)
        }
        return rows.first?.number(0) == nil ? .absent : .committed
      } catch {
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

  /// Runs `body` with the connection, which is made where there is none.
  private func withSession<Result>(
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

  /// The same for what changes nothing: it is asked again where a connection breaks that worked before.
  private func asking<Result>(
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

  private func connect() throws(PostgresFailure) -> Session {
    let connection = try PostgresConnection(info, timeout: timeout)
    guard try hasTables(connection) else {
      throw .unreachable("the database has no tables of FileDB yet")
    }
    // A client of a newer version may have made them.
    let versions = try connection.run("SELECT version FROM filedb.format", within: timeout)
    guard versions.first?.number(0) == PostgresTables.version else {
      throw .refused(state: Self.newerFormat, "another version of FileDB made the database's tables")
    }
    // Expected numbers are compared with what is there once the store's row is locked.
    try connection.run("SET default_transaction_isolation TO 'read committed'", within: timeout)
    let rows = try connection.run(
      "SELECT id, identity::text FROM filedb.stores WHERE name = $1", [.text(name)], within: timeout)
    guard let row = rows.first, let id = row.number(0) else {
      throw .unreachable("the database has no store '\(name)'")
    }
    return Session(connection: connection, store: Store(id: id, identity: row.text(1)))
  }

  /// A state of our own, as those that the functions raise.
  static let newerFormat = "FD003"
}

extension StoreError {
  init(_ failure: PostgresFailure) {
    switch failure {
    case .unreachable(let message), .lost(let message): self.init(.unreachable, message)
    case .refused(PostgresLog.newerFormat, let message): self.init(.newerFormat, message)
    case .refused(let state, let message):
      self.init(.unreachable, "PostgreSQL refused: \(message) (\(state))")
    }
  }
}
