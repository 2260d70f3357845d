import Dispatch
import FileDB
import FileDBEssentials
import FileDBTables

extension PagedTable {
  /// Adds any number of records with PostgreSQL's `COPY`, as one commit: all of them or none. It reads the sequence
  /// piece by piece, so the values do not have to fit into memory.
  ///
  /// The records are not in the log. The log has only a commit which says that there are new records. `changes()`
  /// reports it as ``PagedChange/reloaded``. While this runs, others can read the table, and write to all other tables.
  /// A write to this table waits, and fails with ``StoreError/Code/locked`` after `StoreOptions.lockTimeout`.
  /// - Returns: the number of new records. Their ids are consecutive.
  /// - Throws: as ``add(contentsOf:at:)``.
  /// - Complexity: O(*k*) for *k* records at the bottom; O(*n* / 512 + *k*) at any other position.
  @discardableResult
  public func load(
    _ values: sending some Sequence<Value>, at position: Position<Value> = .bottom
  ) async throws -> Int {
    try Task.checkCancellation()
    // Safe: from here on, only the other thread uses the values.
    nonisolated(unsafe) let values = values
    return try await withCheckedThrowingContinuation { continuation in
      // It uses its own connection, and may take minutes.
      DispatchQueue(label: "FileDB.Load").async {
        continuation.resume(with: Result { try loadNow(values, at: position) })
      }
    }
  }

  /// The number of values that are encoded at a time.
  private static var batch: Int { 4_096 }

  private func loadNow(_ values: some Sequence<Value>, at position: Position<Value>) throws -> Int {
    if try !rows.tableToWrite().isPaged { try rows.makePaged() }
    let load = try PagedLoad(into: rows)
    let behind = try load.cut(at: rows.insertionIndex(for: position, of: load.table))
    var (copy, table) = (try load.copy(), load.table.state([]))
    var changes: [Change] = []
    var iterator = values.makeIterator()
    while true {
      var batch: [Value] = []
      while batch.count < Self.batch, let value = iterator.next() { batch.append(value) }
      if batch.isEmpty { break }
      let edit = PagedEdit(of: name, table, in: store)
      for change in try edit.changes(of: load.table, { try $0.add(contentsOf: batch) }).changes {
        if case .insert(let records, _) = change {
          try load.send(records, by: &copy)
        } else {
          changes.append(change)
        }
      }
      table = edit.table.with([])
    }
    if copy.count == 0 { return 0 }
    changes.append(.raiseCounter(to: table.counter))
    try load.commit(&copy, changes, behind: behind)
    return copy.count
  }
}

/// A transaction that loads records into a paged table. It has its own connection. If it is released without a commit,
/// the table does not change.
final class PagedLoad {
  private let rows: PagedRows
  private let session: PostgresLog.Session
  let table: PostgresTable

  private var timeout: Duration { rows.log.loadTimeout }

  /// Locks the table against other writers.
  init(into rows: PagedRows) throws {
    self.rows = rows
    let deadline = ContinuousClock.now + rows.patience
    var locked: (PostgresLog.Session, PostgresTable)?
    while locked == nil {
      do throws(PostgresFailure) { locked = try Self.lock(rows) } catch {
        guard case .refused(PostgresLog.loading, _) = error else { throw StoreError(error) }
        try rows.waitForOthers(until: deadline)
      }
    }
    guard let locked else { preconditionFailure("the loop ends with a lock") }
    (session, table) = locked
  }

  private static func lock(
    _ rows: PagedRows
  ) throws(PostgresFailure) -> (PostgresLog.Session, PostgresTable)? {
    let session = try rows.log.newSession()
    let timeout = rows.log.timeout
    try session.connection.run("BEGIN", within: timeout)
    let found = try session.connection.run(
      "SELECT id FROM filedb.tables WHERE store = $1::bigint AND name = $2 FOR UPDATE NOWAIT",
      [.number(session.store.id), .text(rows.key.text)], within: timeout)
    // Read it after taking the lock, so that it includes all earlier commits.
    guard !found.isEmpty, let table = try session.tables(timeout, named: rows.key).first else {
      throw .unreachable("the table is gone")
    }
    return (session, table)
  }

  /// Makes room for records at an index.
  /// - Returns: the place after which they come; `nil` for the bottom.
  func cut(at index: Int) throws(StoreError) -> UInt64? {
    if index == table.count { return nil }
    return try explaining { () throws(PostgresFailure) in
      try session.connection.run(
        "SELECT filedb.cut($1::bigint, $2::bigint)", [.number(table.id), .number(UInt64(index))],
        within: timeout
      ).first?.number(0)
    }
  }

  /// The `COPY` that takes the records.
  func copy() throws(StoreError) -> PostgresCopy {
    try explaining { () throws(PostgresFailure) in
      try PostgresCopy(session.connection, into: table.id, timeout)
    }
  }

  func send(_ records: [EncodedRecord], by copy: inout PostgresCopy) throws(StoreError) {
    do throws(PostgresFailure) { for record in records { try copy.add(record) } } catch {
      throw StoreError(error).adding(table: rows.key.text)
    }
  }

  private func explaining<Result>(
    _ body: () throws(PostgresFailure) -> Result
  ) throws(StoreError) -> Result {
    do throws(PostgresFailure) { return try body() } catch {
      throw StoreError(error).adding(table: rows.key.text)
    }
  }

  /// Moves the copied records to their place, and appends the commit that reports them.
  func commit(_ copy: inout PostgresCopy, _ changes: [Change], behind place: UInt64?) throws(StoreError) {
    let commit = rows.newCommit(changes, to: table)
    let last = rows.log.lastRead(by: commit, after: nil)
    let number: UInt64
    do throws(PostgresFailure) {
      try copy.finish()
      try session.connection.run(
        "SELECT filedb.take_loaded($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint)",
        [
          .number(table.id), .number(copy.firstChunk), .number(copy.lastChunk), .number(UInt64(copy.count)),
          .number(place ?? .max >> 1),
        ], within: timeout)
      let appended = try session.append(commit, RowChanges(commit), toPaged: rows.key, after: nil, timeout)
      guard let appended else {
        throw .refused(state: PostgresLog.loading, "another client wrote to the table")
      }
      number = appended
    } catch {
      throw StoreError(error).adding(table: rows.key.text)
    }
    do throws(PostgresFailure) {
      try session.connection.run("COMMIT", within: timeout)
    } catch {
      guard case .lost(let message) = error else { throw StoreError(error) }
      let unknown = rows.log.unknownOutcome(of: commit.token, since: last, message)
      guard try rows.log.isCommitted(commit.token, or: unknown) else {
        throw StoreError(.unreachable, message)
      }
    }
    session.announce(number, timeout)
  }
}
