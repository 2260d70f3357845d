import FileDB
import Foundation
import TestSupport
import Testing

@testable import FileDBCluster

/// How a program connects: TLS, passwords, several servers, and a role that does not own the tables.
@Suite(
  .serialized,
  .enabled(if: PostgresServer.current != nil, "needs the PostgreSQL servers of Tests/Cluster/with-servers"))
struct PostgresAccessTests {
  private static let password = "geheim"

  /// Makes the role that programs use, with the rights that the article gives it, and a store.
  private func prepare(_ server: SecuredPostgresServer) throws -> String {
    let name = UUID().uuidString
    try SharedLog.postgreSQL(server.info, store: name, timeout: longestWait).create()
    let article = try String(
      contentsOf: packageRoot.appendingPathComponent("Sources/FileDB/FileDB.docc/ClusterOperation.md"),
      encoding: .utf8)
    let blocks = article.components(separatedBy: "```sql\n").dropFirst().map {
      String($0.prefix(upTo: $0.range(of: "```")?.lowerBound ?? $0.endIndex))
    }
    let rights = try #require(blocks.first { $0.hasPrefix("GRANT") })
    try run(server, "CREATE ROLE writer LOGIN PASSWORD '\(Self.password)'; \(rights)")
    return name
  }

  private func run(_ server: SecuredPostgresServer, _ script: String) throws {
    try PostgresConnection(server.info, timeout: longestWait).runScript(script, within: longestWait)
  }

  /// A file of passwords, in the form of `.pgpass`.
  private func passwordFile(_ password: String, in folder: URL) throws -> String {
    let file = folder.appendingPathComponent(UUID().uuidString)
    try "*:*:*:writer:\(password)\n".write(to: file, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    return file.path
  }

  private func info(_ server: SecuredPostgresServer, _ options: String) -> String {
    "host=localhost hostaddr=127.0.0.1 port=\(server.port) user=writer dbname=postgres sslmode=verify-full "
      + "sslrootcert=\(server.certificate) \(options)"
  }

  /// Adds a record through this connection string.
  private func write(_ info: String, _ name: String, in folder: URL) throws {
    let store = try RecordStore(
      at: folder.appendingPathComponent(UUID().uuidString),
      sharedBy: .postgreSQL(info, store: name, timeout: longestWait))
    try store.table("t").add(["title": "one"])
    try store.close()
  }

  /// The server knows nothing of the pooler, so the error must name it.
  @Test(.enabled(if: PostgresPooler.isInstalled, "needs pgbouncer"))
  func poolerThatLetsClientsShareASessionIsNamed()
    throws
  {
    try PostgresPooler.with(#require(PostgresServer.current)) { info in
      let logs = (0..<2).map { _ in PostgresLog(info, store: UUID().uuidString, timeout: longestWait) }
      let error = storeError {
        for _ in 0..<5 {
          for log in logs {
            try log.create()
            _ = try log.status()
          }
        }
      }
      #expect(
        error?.code == .unreachable && error?.message.contains("pool_mode to session") == true,
        "\(error as Any)")
    }
  }

  @Test func roleWithoutRightsIsDenied() throws {
    let server = try #require(PostgresServer.current)
    let name = UUID().uuidString
    try SharedLog.postgreSQL(server.info, store: name, timeout: longestWait).create()
    let owner = try PostgresConnection(server.info, timeout: longestWait)
    let role = "stranger_\(UInt32.random(in: 0 ... .max))"
    try owner.runScript("CREATE ROLE \(role) LOGIN", within: longestWait)
    defer { try? owner.runScript("DROP OWNED BY \(role); DROP ROLE \(role)", within: longestWait) }
    let log = PostgresLog(
      "host=\(server.folder) user=\(role) dbname=postgres", store: name, timeout: longestWait)
    let reader =
      "GRANT USAGE ON SCHEMA filedb TO \(role); GRANT SELECT ON ALL TABLES IN SCHEMA filedb TO \(role)"
    for rights in ["", reader] {
      if !rights.isEmpty { try owner.runScript(rights, within: longestWait) }
      let store = RecordStore(at: URL(fileURLWithPath: "/nowhere"), log: log, options: StoreOptions())
      #expect(storeError { try store.table("t").create() }?.code == .permissionDenied)
    }
  }

  @Test func passwordAndCertificateMustBeRight() throws {
    try SecuredPostgresServer.with { server in
      try withTemporaryFolder { folder in
        let name = try prepare(server)
        let right = "passfile=\(try passwordFile(Self.password, in: folder))"
        try write(info(server, right), name, in: folder)
        let connection = try PostgresConnection(info(server, right), timeout: longestWait)
        let row = try connection.run(
          "SELECT ssl, current_user::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()", within: longestWait
        ).first
        #expect(row?.number(0) == 1 && row?.text(1) == "writer")

        let other = folder.appendingPathComponent("other.pem").path
        let made = try shell(
          "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout /dev/null -out other.pem",
          in: folder)
        #expect(made == 0)
        let wrong = [
          "passfile=\(try passwordFile("wrong-secret", in: folder))", "password=wrong-secret",
          "\(right) sslmode=disable", "\(right) sslrootcert=\(other)", "\(right) sslrootcert=/none",
        ]
        for options in wrong {
          let error = storeError { try write(info(server, options), name, in: folder) }
          #expect(error?.code == .unreachable, "\(options)")
          let message = error?.description ?? ""
          #expect(!message.contains(Self.password) && !message.contains("wrong-secret"), "\(message)")
        }
      }
    }
  }

  @Test func firstServerThatTakesWritesIsUsed() throws {
    try SecuredPostgresServer.with { reader in
      try SecuredPostgresServer.with { writer in
        try withTemporaryFolder { folder in
          let name = try prepare(writer)
          try run(reader, "CREATE ROLE writer LOGIN PASSWORD '\(Self.password)'")
          try run(reader, "ALTER SYSTEM SET default_transaction_read_only = on")
          try run(reader, "SELECT pg_reload_conf()")
          let passwords = try passwordFile(Self.password, in: folder)
          let closed = try HeldPort()
          let hosts = [closed.number, reader.port, writer.port].map { "127.0.0.1:\($0)" }
            .joined(separator: ",")
          let address = "postgres://writer@\(hosts)/postgres?sslmode=require&passfile=\(passwords)"
          try write(address, name, in: folder)
          let connection = try PostgresConnection(address, timeout: longestWait)
          let port = try connection.run("SELECT inet_server_port()", within: longestWait).first?.number(0)
          #expect(port == UInt64(writer.port))
        }
      }
    }
  }

  @Test func roleOfAProgramNeedsOnlyTheRightsInTheArticle() throws {
    try SecuredPostgresServer.with { server in
      try withTemporaryFolder { folder in
        let name = try prepare(server)
        let passwords = try passwordFile(Self.password, in: folder)
        let info = info(server, "passfile=\(passwords)")
        let log = PostgresLog(info, store: name, timeout: longestWait, longestStatement: 1_000)
        let store = try RecordStore(at: folder.appendingPathComponent("a"), sharedBy: SharedLog(log))
        let table = try store.table("t")
        let id = try table.add(["title": "one"])
        try table.declare(TableSchema(fields: [FieldSchema("title", type: .string)]))
        try table.set(["title": "two"], of: id)
        #expect(try log.outcome(of: .random()) == .absent)
        try store.table("big").add(
          contentsOf: (0..<100).map { ["text": .string(String(repeating: "x", count: $0))] })
        #expect(try log.commits(after: 0).isForgotten, "the large commit was sent with COPY")
        try store.table("big").drop()
        #expect(try log.forgetCommits(olderThan: .zero) == 1)
        #expect(try log.status().tables == 1)
        let late = try RecordStore(at: folder.appendingPathComponent("b"), sharedBy: SharedLog(log))
        #expect(try late.table("t").snapshot().map { $0["title"] } == ["two"])
        #expect(storeError { try PostgresLog(info, store: "other", timeout: longestWait).create() } == nil)
        let connection = try PostgresConnection(info, timeout: longestWait)
        #expect(throws: PostgresFailure.self) {
          try connection.run("DROP TABLE filedb.commits", within: longestWait)
        }
        try store.checkInvariants()
      }
    }
  }

  private func shell(_ line: String, in folder: URL) throws -> CInt {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "\(line) 2>/dev/null"]
    process.currentDirectoryURL = folder
    try process.start()
    try process.waitForEnd()
    return process.terminationStatus
  }
}

extension LogNews {
  fileprivate var isForgotten: Bool { if case .forgotten = self { true } else { false } }
}
