import FileDB
import FileDBCluster
import Foundation

/// The kinds of log that keep the promises of `CommitLog`.
package enum LogKind: String, CaseIterable, Sendable {
  case folder, memory, postgreSQL, replicaOfMemory, replicaOfPostgreSQL

  /// Those that can be had here.
  package static var available: [LogKind] {
    allCases.filter { PostgresServer.current != nil || ![.postgreSQL, .replicaOfPostgreSQL].contains($0) }
  }

  /// Runs `body` with a new log. Each call of `open` is as another process opens it, for a replica another machine.
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
      case .replicaOfMemory:
        let log = MemoryLog()
        return try body { try Self.replica(of: log, in: folder) }
      case .replicaOfPostgreSQL:
        let open = try Self.postgreSQL()
        return try body { try Self.replica(of: open(), in: folder) }
      }
    }
  }

  private static func postgreSQL() throws -> @Sendable () throws -> PostgresLog {
    guard let server = PostgresServer.current else {
      throw BrokenInvariant(description: "there is no server")
    }
    let name = UUID().uuidString
    try PostgresLog(server.info, store: name, timeout: .seconds(10)).create()
    return { PostgresLog(server.info, store: name, timeout: .seconds(10)) }
  }

  private static func replica(of log: any SharedCommitLog, in folder: URL) throws -> ReplicaLog {
    let replica = StoreFolder(path: "\(folder.path)/\(UUID().uuidString)", disk: .system)
    let options = StoreOptions(lockTimeout: .seconds(10))
    return ReplicaLog(log, identity: try log.identity(), into: FileLog(replica, options: options))
  }
}

extension MemoryLog: SharedCommitLog {
  package func identity() -> String { "\(ObjectIdentifier(self))" }
}

/// The server that `Tests/Cluster/run` has started.
package struct PostgresServer: Sendable {
  package let folder: String

  package static let current = ProcessInfo.processInfo.environment["FILEDB_POSTGRES_FOLDER"]
    .map(PostgresServer.init)

  /// How libpq reaches it.
  package var info: String { "host=\(folder) user=filedb dbname=postgres" }

  /// Has `Tests/Cluster/server` do something to it, such as `kill`.
  package func run(_ verb: String) throws {
    let process = Process()
    process.executableURL = packageRoot.appendingPathComponent("Tests/Cluster/server")
    process.arguments = [verb, folder]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BrokenInvariant(description: "'server \(verb)' failed")
    }
  }
}
