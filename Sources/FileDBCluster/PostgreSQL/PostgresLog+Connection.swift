import FileDB
import FileDBEssentials
import FileDBTables

// MARK: The connection

extension PostgresLog {
  /// Runs `body` with the connection, and connects first if necessary.
  func withSession<Result>(
    _ body: (Session) throws(PostgresFailure) -> Result
  ) throws(PostgresFailure) -> Result {
    try session.withLock { session throws(PostgresFailure) in
      if session?.isUsable(timeout) != true { session = try connect() }
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

  func explaining<Result>(
    _ body: () throws(PostgresFailure) -> Result
  ) throws(StoreError) -> Result {
    do { return try body() } catch { throw StoreError(error) }
  }

  func hasTables(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
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
    try asking(confirm)
  }

  /// Without a standby, the server's process waits for one, even when its client is gone. Many such processes would use
  /// up the server's connections. So this waits for the former confirmation before it asks for another one.
  private func confirm(_ session: Session) throws(PostgresFailure) {
    let former = unconfirmed.withLock { former in
      defer { former = nil }
      return former
    }
    if let former, former.server == session.server, former.connection.isOpen {
      try keepingUnconfirmed(former) { connection throws(PostgresFailure) in
        try connection.readOwedAnswer(within: timeout)
      }
    }
    try keepingUnconfirmed(session) { connection throws(PostgresFailure) in
      try connection.runScript(Self.confirmation, within: timeout)
    }
  }

  private func keepingUnconfirmed(
    _ session: Session, _ body: (PostgresConnection) throws(PostgresFailure) -> Void
  ) throws(PostgresFailure) {
    do throws(PostgresFailure) { try body(session.connection) } catch {
      if case .lost = error { unconfirmed.withLock { $0 = session } }
      throw error
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
    try checkName()
    guard try hasTables(connection) else {
      throw .unreachable("the database does not have FileDB's tables yet")
    }
    try checkVersion(connection)
    try connection.runScript(settings, within: timeout)
    let rows = try connection.run(
      """
      SELECT id, identity::text, concat(inet_server_addr(), ' ', inet_server_port(), ' ', pg_postmaster_start_time())
      FROM filedb.stores WHERE name = $1
      """, [.text(name)], within: timeout)
    guard let row = rows.first, let id = row.number(0) else {
      throw .unreachable("the database has no store '\(name)'")
    }
    let session = Session(
      connection: connection, store: Store(id: id, identity: row.text(1)), depth: depth, server: row.text(2))
    // After a crash, a server shows commits that no standby had confirmed. If the server is lost, so are they.
    try confirm(session)
    // Not before: a leader that was paused lacks the commits of its successor, and cannot confirm that it leads.
    try checkSeen(session)
    // Nobody may ask about these again. But from here on, none of them can arrive late.
    for (token, last) in unsettled.withLock(\.self) {
      do throws(PostgresFailure) { _ = try settle(token, since: last, session) } catch {
        guard case .refused(Self.forgotten, _) = error else { throw error }
        unsettled.withLock { $0[token] = nil }
      }
    }
    return session
  }

  private var settings: String {
    """
    -- `append` must see what was committed before it got the lock of the store's row.
    SET default_transaction_isolation TO 'read committed';
    -- If this machine loses its power, the server notices, and releases the locks.
    SET tcp_keepalives_idle TO 10;
    SET tcp_keepalives_interval TO 5;
    SET tcp_keepalives_count TO 3;
    SET tcp_user_timeout TO 30000;
    -- A writer that waits too long for the others hears of it. Otherwise it would not know what becomes of its commit.
    SET lock_timeout TO \(max(1, Int(timeout / .milliseconds(2))));
    """
  }

  /// PostgreSQL ends a text at the first NUL.
  func checkName() throws(PostgresFailure) {
    guard !name.utf8.contains(0) else { throw .unreachable("the name of a store cannot contain NUL") }
  }

  /// A client of another version may have created the tables.
  func checkVersion(_ connection: PostgresConnection) throws(PostgresFailure) {
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
}

extension PostgresLog.Session {
  /// Whether the connection is open, and has no request that is still running.
  fileprivate func isUsable(_ timeout: Duration) -> Bool {
    connection.isOpen && (try? connection.readOwedAnswer(within: timeout)) != nil
  }
}
