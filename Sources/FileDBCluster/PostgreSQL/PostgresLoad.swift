import FileDB
import FileDBTables

/// Commits that create tables and are too large for a statement. Their records go to PostgreSQL with `COPY`.
extension PostgresLog {
  /// Longer than for a small statement, because the server may be busy with the bytes that it has received.
  var loadTimeout: Duration { max(timeout, .seconds(60)) }

  /// Whether a commit has too many records for a statement, and creates each table that it uses. The new tables are
  /// then all that it contains.
  func isLoad(_ commit: NewCommit) -> Bool {
    let bytes = commit.changes.reduce(0) { $0 + $1.change.records.reduce(0) { $0 + $1.bytes.count } }
    guard bytes > longestStatement else { return false }
    return commit.tables.keys.allSatisfy { table in
      if case .create = commit.changes.first(where: { $0.table == table })?.change {
        commit.states[table]?.exists == true
      } else {
        false
      }
    }
  }

  /// Appends such a commit. The log does not keep it, so other machines start over afterwards.
  /// - Returns: `nil` if another writer was first.
  func load(_ commit: NewCommit, after position: FollowedCommit?) throws(StoreError) -> UInt64? {
    let last = lastRead(by: commit, after: position)
    let session: Session
    let number: UInt64?
    do throws(PostgresFailure) {
      session = try newSession()
      try session.connection.runScript(
        "BEGIN; SET LOCAL lock_timeout TO \(Int(loadTimeout / .milliseconds(1)))", within: timeout)
      number = try session.load(commit, after: position, loadTimeout)
    } catch {
      // Nothing has changed, because COMMIT was not sent.
      if case .refused(Self.loading, _) = error { return nil }
      throw StoreError(error)
    }
    guard let number else { return nil }
    do throws(PostgresFailure) { try session.connection.run("COMMIT", within: loadTimeout) } catch {
      guard case .lost(let message) = error else { throw StoreError(error) }
      throw unknownOutcome(of: commit.token, since: last, message)
    }
    session.announce(number, timeout)
    return number
  }
}

extension PostgresLog.Session {
  /// A table whose records were copied.
  private struct Loaded {
    let key: TableKey
    let state: TableState
    let tab: UInt64
    let lastChunk: UInt64
  }

  fileprivate func load(
    _ commit: NewCommit, after last: FollowedCommit?, _ timeout: Duration
  ) throws(PostgresFailure) -> UInt64? {
    var tables: [Loaded] = []
    for (key, state) in commit.states.sorted(by: { $0.key < $1.key }) {
      tables.append(try copy(state, as: key, timeout))
    }
    let expected = commit.expected
    let number = try connection.run(
      "SELECT filedb.append_loaded($1::bigint, $2::uuid, $3::text[], $4::bigint[], $5::text[], $6::bigint[], "
        + "$7::bigint[], $8::bigint[], $9::bigint[], $10::bigint, $11::bigint, $12::uuid)",
      [
        .number(store.id), .text(commit.token.text), .texts(expected.map(\.name)),
        .numbers(expected.map(\.sequence)), .texts(tables.map(\.key.text)), .numbers(tables.map(\.tab)),
        .numbers(tables.map { UInt64($0.state.counter) }),
        .numbers(tables.map { UInt64($0.state.records.count) }),
        .numbers(tables.map(\.lastChunk)),
      ] + last.values, within: timeout
    ).first?.number(0)
    for table in tables {
      guard let schema = table.state.schemaLines else { continue }
      try connection.run(
        "UPDATE filedb.tables SET schema = $2 WHERE id = $1::bigint", [.number(table.tab), .bytes(schema)],
        within: timeout)
    }
    return number
  }

  private func copy(
    _ state: TableState, as key: TableKey, _ timeout: Duration
  ) throws(PostgresFailure) -> Loaded {
    let number = try connection.run(
      "SELECT nextval(pg_get_serial_sequence('filedb.tables', 'id'))", within: timeout
    ).first?.number(0)
    guard let number else { throw .unreachable("the database has no tables of FileDB") }
    var copy = PostgresCopy(connection, intoNew: number, timeout)
    for record in state.records { try copy.add(record) }
    try copy.finish()
    return Loaded(key: key, state: state, tab: number, lastChunk: copy.lastChunk)
  }
}

extension TableState {
  /// The lines of the schema, as in a commit.
  fileprivate var schemaLines: [UInt8]? {
    guard let schemaValue else { return nil }
    var place = 0..<0
    let declared = LoggedChange(AppliedChange(.declare(schemaValue), found: .nothing), of: TableKey("schema"))
    let payload = NewCommit(changes: [declared], position: 0, tables: [:], states: [:]).payload { place = $0 }
    return Array(payload[place])
  }
}
