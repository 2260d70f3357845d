import FileDB
import FileDBEssentials

/// A log that several machines share, with which `RecordStore.init(at:sharedBy:options:)` opens a store.
///
///     let log = SharedLog.postgreSQL("postgres://db1,db2/notes", store: "notes")
///     try log.create()   // once
///     let store = try RecordStore(at: folder, sharedBy: log)
///
/// See <doc:Cluster>.
public struct SharedLog: Sendable {
  package let log: any SharedCommitLog

  package init(_ log: any SharedCommitLog) { self.log = log }

  /// A log in a PostgreSQL database. Nothing is connected yet.
  /// - Parameters:
  ///   - connection: what libpq takes: a URL, or words such as `host=db1,db2 dbname=notes`. Passwords may come from
  ///     the environment or `.pgpass` instead. No error repeats it.
  ///   - store: the store's name in the database, which may have many.
  ///   - timeout: how long the server may take for an answer. For each host of several, connecting takes as long at
  ///     most, and two seconds at least.
  public static func postgreSQL(
    _ connection: String, store: String, timeout: Duration = .seconds(5)
  ) -> SharedLog {
    SharedLog(PostgresLog(connection, store: store, timeout: timeout))
  }

  /// Makes the store in the database, and the tables that it needs there. What is there already stays as it is.
  /// - Throws: ``StoreError/Code/unreachable``, also if the database's user may not make them;
  ///   ``StoreError/Code/newerFormat``.
  public func create() throws { try (log as? any EngineLog)?.create() }

  /// Forgets the commits that are older than `age`. The tables in the database have them, so new machines lack nothing.
  /// A machine that was away for longer starts over: it reads all tables anew.
  ///
  /// You need not call this: commits of more than seven days are forgotten by and by.
  /// - Returns: how many there were.
  /// - Throws: ``StoreError/Code/unreachable``.
  /// - Complexity: O(*n*) in the number of commits that are forgotten.
  @discardableResult
  public func forgetCommits(olderThan age: Duration) throws -> Int { try log.forgetCommits(olderThan: age) }
}
