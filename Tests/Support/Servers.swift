import Foundation

/// A PostgreSQL server that `Tests/Cluster/with-servers` has started.
package struct PostgresServer: Sendable {
  package let folder: String

  /// The server for tests that leave it alone. They run at the same time.
  package static let current = environment("FILEDB_POSTGRES_FOLDER").map(PostgresServer.init)
  /// The server for ``PostgresOutageTests``.
  package static let outages = environment("FILEDB_POSTGRES_OUTAGES_FOLDER").map(PostgresServer.init)
  /// The server for ``PostgresStandbyTests``.
  package static let standby = environment("FILEDB_POSTGRES_STANDBY_FOLDER").map(PostgresServer.init)

  /// The connection string for libpq.
  package var info: String { "host=\(folder) user=filedb dbname=postgres" }

  /// Runs `Tests/Cluster/server` with a verb, such as `kill`.
  package func run(_ verb: String) throws {
    try runClusterScript("server", [verb, folder])
  }
}

/// A separate PostgreSQL server that programs reach only with TLS and a password.
package struct SecuredPostgresServer: Sendable {
  package let folder: String
  private let heldPort: HeldPort

  package var port: Int { heldPort.number }

  /// The certificate to check the server with.
  package var certificate: String { "\(folder)/ca.pem" }

  /// The connection string for its superuser, who needs no password.
  package var info: String { "host=\(folder) port=\(port) user=filedb dbname=postgres" }

  package static func with<Result>(_ body: (SecuredPostgresServer) throws -> Result) throws -> Result {
    try withTemporaryFolder { folder in
      let server = SecuredPostgresServer(folder: folder.path, heldPort: try HeldPort())
      try runClusterScript("server", ["make", server.folder, "\(server.port)"])
      defer { _ = try? runClusterScript("server", ["stop", server.folder]) }
      return try body(server)
    }
  }
}

/// A PgBouncer in transaction mode before a server.
package enum PostgresPooler {
  package static let isInstalled = ["/usr/sbin", "/usr/bin", "/usr/local/bin"].contains {
    access("\($0)/pgbouncer", X_OK) == 0
  }

  /// - Parameter body: gets the connection string of the pooler.
  package static func with<Result>(
    _ server: PostgresServer, _ body: (_ info: String) throws -> Result
  ) throws -> Result {
    try withTemporaryFolder { folder in
      let port = try HeldPort()
      try runClusterScript("pooler", ["make", folder.path, "\(port.number)", server.folder])
      defer { _ = try? runClusterScript("pooler", ["stop", folder.path]) }
      return try body("host=127.0.0.1 port=\(port.number) user=filedb dbname=postgres")
    }
  }
}

/// Servers of which one is the leader.
package protocol ServersWithLeader: Sendable {
  var folder: String { get }

  /// The name of the script in `Tests/Cluster` that controls them.
  static var script: String { get }
}

extension ServersWithLeader {
  /// Runs the script with a verb, such as `kill`, for one server or all of them.
  /// - Returns: its output.
  @discardableResult
  package func run(_ verb: String, _ server: String...) throws -> String {
    try runClusterScript(Self.script, [verb, folder] + server)
  }

  /// Whether each server runs on a machine of a network that `Tests/Cluster/network` has created.
  package var hasNetwork: Bool { access("\(folder)/network", F_OK) == 0 }

  /// Runs `Tests/Cluster/network` with a verb, such as `cut`, for a server's machine.
  package func runNetwork(_ verb: String, _ server: String) throws {
    try runClusterScript("network", [verb, folder, server])
  }
}

/// The PostgreSQL servers with Patroni that `Tests/Cluster/failover` has started.
package struct PatroniCluster: ServersWithLeader {
  package let folder: String
  package static let script = "patroni"

  package static let current = environment("FILEDB_PATRONI_FOLDER").map(PatroniCluster.init)

  /// How libpq reaches the server that leads.
  package var info: String {
    get throws {
      try String(contentsOfFile: "\(folder)/postgres", encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }
}

/// A cluster that `Tests/Cluster/with-servers` or `Tests/Cluster/failover` has started.
package struct EtcdCluster: ServersWithLeader {
  package let folder: String
  package static let script = "members"

  /// The cluster for tests that leave it alone. They run at the same time.
  package static let current = environment("FILEDB_ETCD_FOLDER").map(EtcdCluster.init)
  /// The cluster for ``EtcdOutageTests``.
  package static let outages = environment("FILEDB_ETCD_OUTAGES_FOLDER").map(EtcdCluster.init)

  /// The address of the cluster, with all members.
  package var address: String {
    let list = try? String(contentsOfFile: "\(folder)/endpoints", encoding: .utf8)
    return "etcd://\(list?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "")"
  }

  /// Runs `body` with a separate cluster of one member.
  /// - Parameter options: environment variables for etcd, such as `ETCD_MAX_TXN_OPS`.
  package static func withOneMember<Result>(
    _ options: [String: String] = [:], _ body: (EtcdCluster) throws -> Result
  ) throws -> Result {
    try withTemporaryFolder { folder in
      let cluster = EtcdCluster(folder: folder.path)
      try runClusterScript("members", ["make", folder.path, "1"], environment: options)
      defer { _ = try? cluster.run("stop") }
      return try body(cluster)
    }
  }
}

private func environment(_ variable: String) -> String? { ProcessInfo.processInfo.environment[variable] }

/// Runs a script in `Tests/Cluster`.
/// - Returns: its output.
@discardableResult
package func runClusterScript(
  _ name: String, _ arguments: [String], environment: [String: String] = [:]
) throws -> String {
  try run(
    packageRoot.appendingPathComponent("Tests/Cluster/\(name)").path, arguments, environment: environment)
}

/// Runs a program.
/// - Returns: its output.
private func run(
  _ program: String, _ arguments: [String], environment: [String: String] = [:]
) throws -> String {
  let process = Process()
  let output = Pipe()
  process.executableURL = URL(fileURLWithPath: program)
  process.arguments = arguments
  process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
  process.standardOutput = output
  try process.start()
  let said = try output.fileHandleForReading.readToEnd() ?? Data()
  try process.waitForEnd()
  guard process.terminationStatus == 0 else {
    throw BrokenInvariant(description: "'\(program) \(arguments[0])' failed")
  }
  return String(decoding: said, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
}
