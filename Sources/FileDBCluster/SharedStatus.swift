import FileDB
import FileDBEssentials

/// The status that a shared log reports.
package struct SharedStatus: Sendable {
  /// The server that answered.
  package var server: String
  package var servers: Servers
  /// The number of the last commit, and of the last forgotten commit; 0 for none.
  package var head, start: UInt64
  /// When the last commit was made; `nil` if there is no commit, or if it was forgotten.
  package var committed: Date?
  /// The bytes of the commits that are kept.
  package var commitBytes: Int64
  package var tables, records: Int64
  /// The bytes of the whole database, which may have more than this store.
  package var databaseBytes: Int64

  /// The servers of an engine.
  package enum Servers: Sendable {
    /// For PostgreSQL: whether the server that answered is a standby, how many standbys it has, for how many of them a
    /// commit waits, and how many bytes of changes the slowest one has not carried out yet.
    case standbys(isStandby: Bool, all: Int64, synchronous: Int64, lag: Int64?)
    /// For etcd: the number of members, and the name of the leader; `nil` if there is no leader.
    case members(count: Int64, leader: String?)
  }

  package init(
    server: String, servers: Servers, head: UInt64, start: UInt64, committed: Date?, commitBytes: Int64,
    tables: Int64, records: Int64, databaseBytes: Int64
  ) {
    (self.server, self.servers, self.head, self.start) = (server, servers, head, start)
    (self.committed, self.commitBytes, self.databaseBytes) = (committed, commitBytes, databaseBytes)
    (self.tables, self.records) = (tables, records)
  }
}

/// How far a folder has followed a shared log.
package struct ReplicaStatus: Sendable {
  package var folder: URL
  /// The number of the folder's last commit.
  package var last: UInt64
  package var start: StartOver?
  /// The commit of which nobody knows whether it succeeded.
  package var sent: SentCommit?
}

extension PostgresLog {
  package func status() throws(StoreError) -> SharedStatus {
    let rows = try asking { session throws(PostgresFailure) in
      try session.connection.run(
        """
        SELECT head, start,
          (SELECT floor(extract(epoch FROM committed))::bigint FROM filedb.commits
            WHERE commits.store = store.id AND sequence = store.head),
          (SELECT coalesce(sum(octet_length(payload)), 0)::bigint FROM filedb.commits
            WHERE commits.store = store.id),
          (SELECT count(*) FROM filedb.tables WHERE tables.store = store.id AND exists),
          (SELECT coalesce(sum(count), 0)::bigint FROM filedb.tables WHERE tables.store = store.id AND exists),
          pg_database_size(current_database()),
          pg_is_in_recovery(),
          (SELECT count(*) FROM pg_stat_replication),
          (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),
          'PostgreSQL ' || current_setting('server_version')
            || coalesce(' at ' || host(inet_server_addr()) || ':' || inet_server_port(), ''),
          CASE WHEN NOT pg_is_in_recovery() THEN (
            SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::bigint FROM pg_stat_replication
          ) END
        FROM filedb.stores AS store WHERE id = $1::bigint
        """, [.number(session.store.id)], within: timeout)
    }
    guard let row = rows.first else { throw StoreError(.unreachable, "the store '\(name)' is gone") }
    func number(_ column: Int) -> Int64 { Int64(row.number(column) ?? 0) }
    return SharedStatus(
      server: row.text(10),
      servers: .standbys(
        isStandby: row.number(7) == 1, all: number(8), synchronous: number(9),
        lag: row.signedNumber(11)),
      head: row.number(0) ?? 0, start: row.number(1) ?? 0,
      committed: row.number(2).map { Date(timeIntervalSince1970: TimeInterval($0)) }, commitBytes: number(3),
      tables: number(4), records: number(5), databaseBytes: number(6))
  }
}

extension RecordStore {
  /// The shared log of a store that has one.
  package var sharedLog: (any SharedCommitLog)? {
    (log as? ReplicaLog)?.shared ?? log as? any SharedCommitLog
  }

  /// How far the folder of a shared store has come; `nil` for any other store.
  package func replicaStatus() throws -> ReplicaStatus? {
    guard let log = log as? ReplicaLog else { return nil }
    try log.folder.readOn()
    return ReplicaStatus(
      folder: url, last: log.folder.end, start: try log.notes.start(),
      sent: try log.notes.sentCommit())
  }
}
