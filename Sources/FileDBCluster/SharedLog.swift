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
  private let make: @Sendable () throws(StoreError) -> Void

  /// - Parameter make: makes what the log needs where it is kept.
  package init(
    _ log: any SharedCommitLog,
    make: @escaping @Sendable () throws(StoreError) -> Void = { () throws(StoreError) in }
  ) {
    (self.log, self.make) = (log, make)
  }

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
    let log = PostgresLog(connection, store: store, timeout: timeout)
    return SharedLog(log) { () throws(StoreError) in try log.create() }
  }

  /// Makes the tables in the database, and the store in them. What is there already stays as it is.
  /// - Throws: ``StoreError/Code/unreachable``, also if the database's user may not make them;
  ///   ``StoreError/Code/newerFormat``.
  public func create() throws { try make() }
}

/// A log that knows which one it is.
package protocol SharedCommitLog: CommitLog {
  /// Tells this log from all others. It stays the same for as long as the log is there.
  func identity() throws(StoreError) -> String
}
