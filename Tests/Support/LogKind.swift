import FileDB
import FileDBCluster
import Foundation

/// The kinds of log that implement `CommitLog`.
package enum LogKind: String, CaseIterable, Sendable {
  case folder, memory, postgreSQL, etcd, replicaOfMemory, replicaOfPostgreSQL, replicaOfEtcd

  /// The kinds that are available in this run.
  package static var available: [LogKind] {
    allCases.filter { kind in
      switch kind {
      case .folder, .memory, .replicaOfMemory: true
      case .postgreSQL, .replicaOfPostgreSQL: PostgresServer.current != nil
      case .etcd, .replicaOfEtcd: EtcdCluster.current != nil
      }
    }
  }

  /// Whether several processes can use it.
  package var isShared: Bool { self != .memory && self != .replicaOfMemory }

  /// Whether each opened log is another machine.
  package var isReplica: Bool { rawValue.hasPrefix("replica") }

  /// Runs `body` with a new log. Each call of `open` opens it like another process or, for a replica, another machine.
  package func withLog<Result>(
    _ body: (_ open: @escaping @Sendable () throws -> any CommitLog) throws -> Result
  ) throws -> Result {
    try withTemporaryFolder { folder in
      switch self {
      case .folder:
        return try body {
          FileLog(StoreFolder(path: folder.path, disk: .system), options: StoreOptions())
        }
      case .memory:
        let log = MemoryLog()
        return try body { log }
      case .postgreSQL: return try body(Self.postgreSQL())
      case .etcd: return try body(Self.etcd())
      case .replicaOfMemory:
        let log = MemoryLog()
        return try body { try Self.replica(of: log, in: folder) }
      case .replicaOfPostgreSQL:
        let open = try Self.postgreSQL()
        return try body { try Self.replica(of: open(), in: folder) }
      case .replicaOfEtcd:
        let open = try Self.etcd()
        return try body { try Self.replica(of: open(), in: folder) }
      }
    }
  }

  private static func etcd() throws -> @Sendable () throws -> EtcdLog {
    guard let cluster = EtcdCluster.current else {
      throw BrokenInvariant(description: "there is no cluster")
    }
    let name = UUID().uuidString
    _ = try EtcdLog(cluster.address, store: name, timeout: longestWait).make()
    return { try EtcdLog(cluster.address, store: name, timeout: longestWait) }
  }

  private static func postgreSQL() throws -> @Sendable () throws -> PostgresLog {
    guard let server = PostgresServer.current else {
      throw BrokenInvariant(description: "there is no server")
    }
    let name = UUID().uuidString
    _ = try PostgresLog(server.info, store: name, timeout: longestWait).make()
    return { PostgresLog(server.info, store: name, timeout: longestWait) }
  }

  private static func replica(of log: any SharedCommitLog, in folder: URL) throws -> ReplicaLog {
    let replica = StoreFolder(path: "\(folder.path)/\(UUID().uuidString)", disk: .system)
    let options = StoreOptions(lockTimeout: longestWait)
    return ReplicaLog(log, identity: try log.identity(), into: FileLog(replica, options: options))
  }
}

extension MemoryLog: SharedCommitLog {
  package func identity() -> String { "\(ObjectIdentifier(self))" }
}
