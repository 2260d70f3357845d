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
    /// The depth of the deepest record.
    let depth: Int
    /// Identifies the server until it starts again.
    let server: String
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
  private let patience: Mutex<Duration>
  let depth: Int
  /// A commit with more bytes of records than this goes to the server with `COPY`, if possible.
  let longestStatement: Int
  let session = Mutex<Session?>(nil)
  private let history: History
  /// The last result of ``begin(_:_:)`` if the reader wants no history.
  private let floor = Mutex<UInt64?>(nil)
  /// The last commit that this process has seen.
  let seen = Mutex<FollowedCommit.Known?>(nil)
  /// The commits with an unknown outcome. Each has the last commit that was seen before it was sent.
  let unsettled = Mutex<[CommitToken: UInt64]>([:])
  /// A session whose server has not answered the last ``confirmation``.
  let unconfirmed = Mutex<Session?>(nil)

  /// - Parameters:
  ///   - info: a connection string of libpq.
  ///   - store: the name of the store in the database.
  ///   - timeout: how long to wait for the server's answer.
  package init(
    _ info: String, store name: String, timeout: Duration, history: History = .whole,
    limits: PlistLimits = PlistLimits(), longestStatement: Int = 64 << 20
  ) {
    self.longestStatement = longestStatement
    (self.info, self.name, depth) = (info, name, limits.depth)
    self.history = history
    patience = Mutex(timeout)
  }

  /// How long to wait for the server's answer. A test shortens it where the time must run out.
  package var timeout: Duration {
    get { patience.withLock(\.self) }
    set { patience.withLock { $0 = newValue } }
  }

  package func make() throws(StoreError) -> (tables: Bool, store: Bool) {
    let made = try explaining { () throws(PostgresFailure) in
      let connection = try PostgresConnection(info, timeout: timeout)
      try checkName()
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
    timeout: Duration, after last: () throws -> FollowedCommit?,
    _ transact: () throws -> NewCommit?, beforeOthersSee: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    let deadline = ContinuousClock.now + timeout
    while true {
      guard let commit = try transact() else { return nil }
      if let sequence = try append(commit, after: try last()) {
        remember(FollowedCommit.Known(sequence: sequence, token: commit.token))
        beforeOthersSee(LoggedCommit(commit, sequence: sequence))
        return Ticket()
      }
      guard .now < deadline else {
        throw Self.others
      }
    }
  }

  fileprivate static let others = StoreError(
    .locked, "other machines kept writing to the same tables; try again")

  /// - Parameters:
  ///   - paged: the paged table that the commit changes; `nil` for any other commit.
  ///   - position: the folder's last commit. The log must have it, unless it has forgotten it.
  /// - Returns: `nil` if another writer was first, or if the folder has to start over.
  func append(
    _ commit: NewCommit, toPaged paged: TableKey? = nil, after position: FollowedCommit? = nil
  ) throws(StoreError) -> UInt64? {
    if isLoad(commit) { return try load(commit, after: position) }
    let changes = RowChanges(commit)
    guard changes.byteCount <= 1_000_000_000 else {
      throw StoreError(
        .unrepresentableValue,
        "in PostgreSQL, a commit to existing tables can have at most 1 GB; this one has \(changes.byteCount) bytes"
      )
    }
    let last = lastRead(by: commit, after: position)
    return try confirmingConflicts { () throws(StoreError) in
      do throws(PostgresFailure) {
        return try withSession { session throws(PostgresFailure) in
          let number = try session.append(commit, changes, toPaged: paged, after: position, timeout)
          if let number { session.announce(number, timeout) }
          return number
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

  /// A commit that was in the log before this one was made.
  func lastRead(by commit: NewCommit, after position: FollowedCommit?) -> UInt64 {
    let seen = seen.withLock { $0?.sequence ?? 0 }
    return max(seen, position?.sequence ?? 0, commit.position)
  }

  /// The error for a commit that the server may have, or may still receive.
  /// - Parameter last: the last commit that was seen before it was sent.
  func unknownOutcome(of token: CommitToken, since last: UInt64, _ message: String) -> StoreError {
    unsettled.withLock { $0[token] = last }
    return .outcomeUnknown(message)
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
      do throws(StoreError) { return try settle(token, after: last) } catch {
        // Another server may be about to take over.
        if .now >= deadline { return .unknown }
        usleep(100_000)
      }
    }
  }

  package func settle(_ token: CommitToken, after last: UInt64) throws(StoreError) -> CommitOutcome {
    try asking { session throws(PostgresFailure) in
      do throws(PostgresFailure) { return try settle(token, since: last, session) } catch {
        guard case .refused(Self.forgotten, _) = error else { throw error }
        return .unknown
      }
    }
  }

  func settle(
    _ token: CommitToken, since last: UInt64, _ session: Session
  ) throws(PostgresFailure) -> CommitOutcome {
    let rows = try session.connection.run(
      "SELECT filedb.settle($1::bigint, $2::uuid, $3::bigint)",
      [.number(session.store.id), .text(token.text), .number(last)], within: timeout)
    unsettled.withLock { $0[token] = nil }
    return rows.first?.number(0) == nil ? .absent : .committed
  }

  func remember(_ last: FollowedCommit.Known?) {
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
  // These are FileDB's, too, for answers that no client of FileDB's can have caused.
  static let damagedTable = "FD008"
  static let damagedLog = "FD009"
  // These are PostgreSQL's.
  /// Another client has locked a row.
  static let loading = "55P03"
  static let notPermitted = "42501"
  /// A prepared statement is missing, or there already: another session answers than the one that prepared it.
  static let otherSession = ["26000", "42P05"]
}

extension PostgresLog.Session {
  /// Wakes up those who wait for commits.
  ///
  /// It has its own transaction, because in the whole server only one transaction that notifies can commit at a time.
  /// If this process dies before, the others look after a second.
  func announce(_ number: UInt64, _ timeout: Duration) {
    try? connection.send("SELECT pg_notify('filedb_\(store.id)', '\(number)')", within: timeout)
  }

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
      values + changes.values + [.text(paged?.text ?? "")] + last.values, within: timeout
    ).first?.number(0)
  }
}

extension FollowedCommit? {
  /// The parameters `last`, `known` and `known_token` of the functions that append.
  var values: [PostgresValue] {
    [
      self.map { .number($0.sequence) } ?? .null, (self?.known).map { .number($0.sequence) } ?? .null,
      (self?.known).map { .text($0.token.text) } ?? .null,
    ]
  }
}

extension NewCommit {
  /// The names of the tables that it depends on, each with the last commit that may have changed it.
  var expected: [(name: String, sequence: UInt64)] {
    let names = usedTables.map(\.text) + (hasListedTables ? [PostgresTables.tableList] : [])
    return names.map { ($0, position) }
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
    case .refused(PostgresLog.loading, _): self = PostgresLog.others
    case .refused(PostgresLog.notPermitted, let message):
      self.init(.permissionDenied, "PostgreSQL refused: \(message)")
    case .refused(let state, let message) where PostgresLog.otherSession.contains(state):
      self.init(
        .unreachable,
        "a pooler such as PgBouncer lies between, and lets several clients share a session (\(message)); set its "
          + "pool_mode to session, or connect to PostgreSQL itself")
    case .refused(PostgresLog.damagedTable, let message): self.init(.damagedTable, message)
    case .refused(PostgresLog.damagedLog, let message): self.init(.damagedJournal, message)
    case .refused(let state, let message):
      self.init(.unreachable, "PostgreSQL refused: \(message) (\(state))")
    }
  }
}
