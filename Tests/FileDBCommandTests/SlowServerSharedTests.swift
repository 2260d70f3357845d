import Foundation
import TestSupport
import Testing

@testable import FileDBCluster

/// Commands that wait for a server.
@Suite(
  .serialized,
  .enabled(if: PostgresServer.current != nil, "needs the PostgreSQL servers of Tests/Cluster/with-servers"))
struct SlowServerSharedTests {
  /// Runs `body` while another client writes to the store, and does not come to an end.
  private func whileLocked(_ address: String, _ body: () throws -> Void) throws {
    let (server, name) = (
      try #require(PostgresServer.current), try #require(address.split(separator: "store=").last)
    )
    let other = try PostgresConnection(server.info, timeout: longestWait)
    try other.runScript(
      "BEGIN; SELECT FROM filedb.stores WHERE name = '\(name)' FOR UPDATE", within: longestWait)
    try body()
    try other.runScript("COMMIT", within: longestWait)
  }

  @Test(.enabled(if: hasScript)) func terminalShowsForHowLongACommandWaits() throws {
    try SharedEngine.postgreSQL.withStore { folder, address in
      #expect(try filedb("--store", address, "create", "t", in: folder).status == 0)
      #expect(try filedb("shared", "join", address, "here", in: folder).status == 0)
      try whileLocked(address) {
        for store in ["here", "'\(address)'"] {
          let shown = try filedbOnTerminal("--store \(store) --wait 3 add t a=1", columns: 80, in: folder)
          #expect(shown.status == 75 && shown.output.contains("sending the changes, 1 s"), "\(shown)")
          #expect(shown.output.contains("other machines kept writing"), "\(shown)")
        }
      }
      #expect(try filedb("--store", "here", "add", "t", "a=1", in: folder).output == "1\n")
    }
  }

  /// Otherwise nobody would know what became of the commit.
  @Test func commandThatWaitsForAnotherWriterIsToldToTryAgain() throws {
    try SharedEngine.postgreSQL.withStore { folder, address in
      #expect(try filedb("--store", address, "create", "t", in: folder).status == 0)
      #expect(try filedb("shared", "join", address, "here", in: folder).status == 0)
      try whileLocked(address) {
        for store in ["here", address] {
          let result = try filedb(
            "--store", store, "--timeout", "0.4", "--wait", "0.5", "add", "t", "a=1", in: folder)
          #expect(result.status == 75 && result.error.contains("other machines kept writing"), "\(result)")
        }
      }
      #expect(try filedb("--store", "here", "shared", "sync", in: folder).error.hasSuffix("commit 1\n"))
      #expect(try filedb("--store", "here", "add", "t", "a=1", in: folder).output == "1\n")
    }
  }

  @Test(arguments: ["--timeout 0.2", "--quiet --timeout 0.2", "--wait 2 --timeout 0.2"])
  func timeoutBeforeTheCommandCounts(options: String) throws {
    try withTemporaryFolder { folder in
      let silent = try LoopbackSocket()
      try silent.listen()
      let address = "etcd://127.0.0.1:\(silent.port)/x?store=a"
      let result = try shell("filedb \(options) shared join '\(address)' here", in: folder)
      #expect(result.status != 0 && result.error.contains("within 0.2 seconds"), "\(result)")
    }
  }

  @Test func wrongTimeoutIsAnErrorOfUsage() throws {
    try withTemporaryFolder { folder in
      for wrong in ["0", "-1", "x", "1e9"] {
        for line in [
          "--timeout \(wrong) tables", "tables --timeout \(wrong)", "shared init a b --timeout \(wrong)",
        ] {
          let result = try shell("filedb \(line)", in: folder)
          #expect(result.status == 64 && result.error.contains("--timeout"), "\(line): \(result)")
        }
      }
      #expect(try filedb("--timeout", "0.5", "tables", in: folder).status == 0)
    }
  }
}
