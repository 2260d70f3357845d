import FileDB
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDBCluster

/// A server that waits for a standby which is missing. A commit counts once a standby has it.
@Suite(
  .serialized, .enabled(if: PostgresServer.current != nil, "needs the server that Tests/Cluster/run starts"))
struct PostgresStandbyTests {
  private func server() throws -> PostgresServer { try #require(PostgresServer.current) }

  private func log(
    _ name: String = UUID().uuidString, options: String = "", timeout: Duration = .seconds(2)
  ) throws -> PostgresLog {
    let log = PostgresLog("\(try server().info) \(options)", store: name, timeout: timeout)
    try log.create()
    return log
  }

  /// Runs `body` while no standby confirms a write.
  private func withoutStandby(_ body: () throws -> Void) throws {
    try setStandby("TO 'nobody'")
    let result = Result(catching: body)
    try setStandby("TO DEFAULT")
    try result.get()
  }

  private func setStandby(_ value: String) throws {
    let connection = try PostgresConnection(server().info, timeout: .seconds(3))
    try connection.run("ALTER SYSTEM SET synchronous_standby_names \(value)", within: .seconds(3))
    try connection.run("SELECT pg_reload_conf()", within: .seconds(3))
    while try confirms() != (value == "TO DEFAULT") { usleep(20_000) }
  }

  /// Whether a write returns in time.
  private func confirms() throws -> Bool {
    let connection = try PostgresConnection(server().info, timeout: .seconds(3))
    do throws(PostgresFailure) {
      try connection.run("SELECT pg_logical_emit_message(true, 'test', '')", within: .milliseconds(300))
      return true
    } catch {
      guard case .lost = error else { throw StoreError(error) }
      return false
    }
  }

  private func commit() throws -> NewCommit {
    var table = TableState()
    let applied = try table.applyNoting(.create)
    return NewCommit(
      changes: [("t", applied)], tables: ["t": .init(sequence: 0, base: 0)], states: ["t": table])
  }

  private func append(_ commit: NewCommit, to log: PostgresLog) -> StoreError? {
    storeError { _ = try log.append(timeout: .seconds(1), { commit }, taking: { _ in }) }
  }

  /// In this case PostgreSQL reports success and only warns.
  @Test func commitIsNotAcknowledgedIfATimeLimitEndsTheWaitForTheStandby() throws {
    let log = try log(options: "options='-c statement_timeout=500'")
    let commit = try commit()
    try withoutStandby {
      #expect(append(commit, to: log)?.code == .outcomeUnknown)
      let outcome = try log.outcome(of: commit.token)
      #expect(outcome == .unknown)
    }
    #expect(try log.outcome(of: commit.token) == .committed)
    #expect(try LogUser(log).commits(after: 0).map(\.token) == [commit.token])
  }

  @Test func commitThatNoStandbyHasIsNotReadAfterACrash() throws {
    let log = try log()
    let commit = try commit()
    try withoutStandby {
      #expect(append(commit, to: log)?.code == .outcomeUnknown)
      try server().run("kill")
      try server().run("start")
      let other = PostgresLog(try server().info, store: log.name, timeout: .seconds(2))
      #expect(storeError { _ = try other.commits(after: 0) }?.code == .unreachable)
    }
    #expect(try LogUser(log).commits(after: 0).map(\.token) == [commit.token])
  }

  /// Nobody asks about it again.
  @Test func commitWithAnUnknownOutcomeIsSettledWhenTheServerIsBack() throws {
    let log = try log()
    let commit = try commit()
    try withoutStandby {
      #expect(append(commit, to: log)?.code == .outcomeUnknown)
      let outcome = try log.outcome(of: commit.token)
      #expect(outcome == .unknown)
    }
    try log.confirmLeader()
    let rows = try runStatement(
      """
      SELECT (SELECT count(*) FROM filedb.commits WHERE token = '\(commit.token.text)')
        + (SELECT count(*) FROM filedb.refused WHERE token = '\(commit.token.text)')
      """)
    #expect(rows.first?.number(0) == 1)
  }

  /// A process of the server that waits for a standby goes on waiting when its client is gone.
  @Test func clientDoesNotFillTheServerWithWaitingProcesses() throws {
    let name = try log().name
    let late = PostgresLog(try server().info, store: name, timeout: .milliseconds(300))
    func waiting() throws -> UInt64? {
      try runStatement("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").first?.number(0)
    }
    try withoutStandby {
      let before = try waiting() ?? 0
      for _ in 0..<8 { #expect(storeError { _ = try late.commits(after: 0) }?.code == .unreachable) }
      let after = try waiting() ?? 0
      #expect((before + 1...before + 2).contains(after))
    }
    #expect(try late.commits(after: 0).isEmptyList)
  }

  @Test func writeThatGetsNoConnectionFailsAsUnreachable() throws {
    let name = try log().name
    let late = PostgresLog(try server().info, store: name, timeout: .seconds(2))
    let commit = try commit()
    try withoutStandby { #expect(append(commit, to: late)?.code == .unreachable) }
    #expect(try LogUser(late).commits(after: 0).isEmpty)
  }

  /// A leader that was paused, and now has a successor, still answers. But no standby confirms what it writes.
  @Test func catchUpDoesNotTrustAServerThatNoStandbyFollows() throws {
    let shared = SharedLog(try log())
    try withTemporaryFolder { folder in
      let store = try RecordStore(
        at: folder, sharedBy: shared, following: .whenAsked, options: StoreOptions())
      try store.catchUp()
      try withoutStandby {
        #expect(storeError { try store.catchUp() }?.code == .unreachable)
      }
      try store.catchUp()
    }
  }

  /// Such a server also lacks the commits of its successor. That does not mean that they are lost.
  @Test func serverThatNoStandbyFollowsIsNotTakenForARestoredOne() throws {
    let log = try log()
    try withTemporaryFolder { folder in
      let store = try RecordStore(
        at: folder, sharedBy: SharedLog(log), following: .whenAsked, options: StoreOptions())
      for title in ["one", "two"] { try store.table("t").add(["title": .string(title)]) }
      _ = try runStatement("UPDATE filedb.stores SET head = 1 WHERE name = '\(log.name)'")
      let late = PostgresLog(try server().info, store: log.name, timeout: .seconds(2))
      let second = FollowedCommit(sequence: 2)
      try withoutStandby {
        #expect(storeError { try store.table("t").add(["title": "three"]) }?.code == .unreachable)
        #expect(storeError { _ = try log.news(after: second) }?.code == .unreachable)
        #expect(storeError { _ = try late.news(after: second) }?.code == .unreachable)
      }
      #expect(storeError { try store.table("t").add(["title": "three"]) }?.code == .conflict)
      #expect(storeError { _ = try late.news(after: second) }?.code == .conflict)
    }
  }
}
