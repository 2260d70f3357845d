import Foundation
import TestSupport
import Testing

/// Addresses that lead nowhere. Trying again would not help.
@Suite(.serialized, .enabled(if: !SharedEngine.available.isEmpty, SharedEngine.isMissing))
struct WrongAddressSharedTests {
  @Test(.enabled(if: PostgresServer.current != nil)) func wrongPartOfAnAddressOfPostgreSQLIsNamed() throws {
    let host = try #require(PostgresServer.current).folder
    // The first store makes FileDB's tables.
    try SharedEngine.postgreSQL.withStore { _, _ in }
    let unused = try HeldPort()
    for (address, words) in [
      "postgres://nobody@/postgres?host=\(host)&store=x": "role \"nobody\" does not exist",
      "postgres://filedb@/nothing?host=\(host)&store=x": "database \"nothing\" does not exist",
      "postgres://filedb@/postgres?host=\(host)&store=none": "has no store 'none'",
      "postgres://filedb@127.0.0.1:\(unused.number)/postgres?store=x": "Connection refused",
      "postgres://filedb@/postgres?host=\(host)/nowhere&store=x": "No such file or directory",
    ] { try check(address, words) }
  }

  @Test(.enabled(if: EtcdCluster.current != nil)) func wrongPartOfAnAddressOfEtcdIsNamed() throws {
    let unused = try HeldPort()
    try check("\(SharedEngine.etcd.url)?store=none", "has no store 'none'")
    try check("etcd://127.0.0.1:\(unused.number)/tests?store=x", "cannot be reached")
  }

  private func check(_ address: String, _ words: String) throws {
    try withTemporaryFolder { folder in
      for command in [
        ["--store", address, "tables"], ["--store", address, "add", "t", "n=1"],
        ["shared", "join", address, "here"],
        ["copy", address, "there"],
      ] {
        let result = try filedb(["--timeout", "2"] + command, in: folder)
        #expect(result.status == 69 && result.error.contains(words), "\(command): \(result)")
      }
    }
  }
}
