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

  /// A log in etcd 3.4 or later. This does not connect yet.
  ///
  ///     let log = try SharedLog.etcd("etcds://m1,m2,m3/app", store: "notes")
  ///
  /// - Parameters:
  ///   - address: the members of the cluster, and a prefix for all keys, such as
  ///     `etcds://user:password@m1:2379,m2:2379/prefix?cacert=/etc/etcd/ca.pem`. The port is 2379 by default, and the
  ///     prefix `filedb`. Name a user if etcd has authentication turned on. The password may also be in the environment,
  ///     in `ETCDCTL_PASSWORD`. With `etcds`, the connection uses TLS. `cacert` is the file with the certificate of the
  ///     authority that the members' certificates must come from; `cert` and `key` are those of this client. They may
  ///     also be in `ETCDCTL_CACERT`, `ETCDCTL_CERT` and `ETCDCTL_KEY`. With `etcd`, everything is sent in plain text.
  ///     No error repeats the address.
  ///   - store: the name of the store. A prefix may have many stores.
  ///   - timeout: how long to wait for a connection to a member, and for its answer while nothing of it arrives.
  /// - Throws: ``StoreError/Code/unreachable`` for a wrong address.
  public static func etcd(
    _ address: String, store: String, timeout: Duration = .seconds(5)
  ) throws -> SharedLog {
    SharedLog(try EtcdLog(address, store: store, timeout: timeout))
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
