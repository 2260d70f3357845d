import FileDB
import FileDBEssentials

/// A log that several machines share. Pass it to `RecordStore.init(at:sharedBy:options:)` to open the store.
///
///     let log = SharedLog.postgreSQL("postgres://db1,db2/notes", store: "notes")
///     try log.create()   // once
///     let store = try RecordStore(at: folder, sharedBy: log)
///
/// See <doc:Cluster>.
public struct SharedLog: Sendable {
  package let log: any SharedCommitLog

  package init(_ log: any SharedCommitLog) { self.log = log }

  /// A log in a PostgreSQL database. This does not connect yet.
  /// - Parameters:
  ///   - connection: a connection string of libpq: a URL, or words such as `host=db1,db2 dbname=notes`. A password can
  ///     also be in the environment or in `.pgpass`. No error repeats the connection string.
  ///   - store: the name of the store. A database may have many stores.
  ///   - timeout: how long to wait for the server's answer, and for a connection to each host. For connecting, the
  ///     minimum is two seconds.
  public static func postgreSQL(
    _ connection: String, store: String, timeout: Duration = .seconds(5)
  ) -> SharedLog {
    SharedLog(PostgresLog(connection, store: store, timeout: timeout))
  }

  /// Creates the store, and the tables that it needs in the database. It changes nothing that already exists.
  /// - Throws: ``StoreError/Code/unreachable``, also if the database's user is not allowed to create them;
  ///   ``StoreError/Code/newerFormat``.
  public func create() throws { try (log as? any EngineLog)?.create() }

  /// Forgets the commits that are older than `age`: it removes them from the log. The tables in the database include
  /// them, so nothing is lost. A machine that was away for longer starts over: it reads all tables again.
  ///
  /// You don't have to call this. Commits older than seven days are forgotten automatically.
  /// - Returns: the number of forgotten commits.
  /// - Throws: ``StoreError/Code/unreachable``.
  /// - Complexity: O(*n*) in the number of forgotten commits.
  @discardableResult
  public func forgetCommits(olderThan age: Duration) throws -> Int { try log.forgetCommits(olderThan: age) }
}
