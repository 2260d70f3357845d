import FileDB
import FileDBCluster
import Foundation
import TestSupport
import Testing

/// A PostgreSQL server that is paused or killed. The tests run one after another, with a server of their own.
@Suite(
  .serialized,
  .enabled(if: PostgresServer.outages != nil, "needs the PostgreSQL servers of Tests/Cluster/with-servers"))
struct PostgresOutageTests {
  private func server() throws -> PostgresServer { try #require(PostgresServer.outages) }

  private func log() throws -> PostgresLog {
    let log = PostgresLog(try server().info, store: UUID().uuidString, timeout: longestWait)
    try log.create()
    return log
  }

  @Test func writeToAPausedServerTimesOutAndTheOutcomeIsSettledLater() throws {
    try withTemporaryFolder { folder in
      let log = try log()
      let store = try RecordStore(
        at: folder, sharedBy: SharedLog(log), options: StoreOptions(checkpoints: .manual))
      // The second one prepares the statement. So the next one is sent without a request before it.
      for title in ["one", "two"] { try store.table("t").add(["title": .string(title)]) }
      try server().run("pause")
      log.timeout = .milliseconds(300)
      let error = storeError { try store.table("t").add(["title": "late"]) }
      #expect(error?.code == .outcomeUnknown || error?.code == .unreachable)
      #expect(try store.table("t").count == 2)
      log.timeout = longestWait
      try server().run("resume")
      try store.table("t").add(["title": "three"])
      let titles = try store.table("t").snapshot().map { $0["title"] }
      #expect([["one", "two", "three"], ["one", "two", "late", "three"]].contains(titles), "\(titles)")
    }
  }

  @Test func restartedServerHasAllAcknowledgedCommits() throws {
    try withTemporaryFolder { folder in
      let log = SharedLog(try log())
      let store = try RecordStore(at: folder, sharedBy: log)
      for _ in 0..<3 {
        try store.table("t").add(["title": "one"])
        try server().run("kill")
        #expect(storeError { try store.table("t").add(["title": "never"]) }?.code == .unreachable)
        try server().run("start")
      }
      try store.table("t").add(["title": "one"])
      let fresh = try RecordStore(at: folder.appendingPathComponent("fresh"), sharedBy: log)
      #expect(try fresh.table("t").snapshot().map { $0["title"] } == Array(repeating: "one", count: 4))
    }
  }

  /// Several machines share a store.
  @Test(arguments: [0, Machines.kills]) func transfersAreDoneOnceOrNeverAndNoMachineSeesHalfOfOne(
    kills: Int
  ) throws {
    let (server, log) = (try server(), try log())
    let machines = Machines(connection: server.info, store: log.name, log: SharedLog(log))
    try machines.transfer(15) { progress in
      for _ in 0..<kills {
        try progress.waitForTransfers(.random(in: 1...20))
        try server.run("kill")
        if .random() { try progress.waitForFailure() }
        try server.run("start")
      }
    }
  }
}
