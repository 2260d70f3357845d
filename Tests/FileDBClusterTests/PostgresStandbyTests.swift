import FileDB
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDBCluster

/// A server that waits for a standby which is missing. A commit counts once a standby has it. The tests run one after
/// another, with a server of their own.
@Suite(
  .serialized,
  .enabled(if: PostgresServer.standby != nil, "needs the PostgreSQL servers of Tests/Cluster/with-servers"))
struct PostgresStandbyTests {
  /// A timeout that must run out, because no answer comes.
  private static let short = Duration.milliseconds(300)

  private func server() throws -> PostgresServer { try #require(PostgresServer.standby) }

  private func log(_ name: String = UUID().uuidString) throws -> PostgresLog {
    let log = PostgresLog(try server().info, store: name, timeout: longestWait)
    try log.create()
    return log
  }

  @discardableResult
  private func run(_ statement: String) throws -> [PostgresRow] {
    try PostgresConnection(server().info, timeout: longestWait).run(statement, within: longestWait)
  }

  /// The processes of the server that wait for a standby.
  private func waiting() throws -> Set<UInt64> {
    let rows = try run("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    return Set(rows.compactMap { $0.number(0) })
  }

  /// Runs `body` while no standby confirms a write.
  private func withoutStandby(_ body: () throws -> Void) throws {
    try setStandby("TO 'nobody'")
    try wait(for: "a write to wait for the standby") { try !returns() }
    let result = Result(catching: body)
    try setStandby("TO DEFAULT")
    try wait(for: "a write to return") { try returns() }
    try result.get()
  }

  private func setStandby(_ value: String) throws {
    try run("ALTER SYSTEM SET synchronous_standby_names \(value)")
    try run("SELECT pg_reload_conf()")
  }

  /// Makes a write.
  /// - Returns: whether it returns, or else waits for a standby.
  private func returns() throws -> Bool {
    let connection = try PostgresConnection(server().info, timeout: longestWait)
    let process = try connection.run("SELECT pg_backend_pid()", within: longestWait).first?.number(0)
    let id = try #require(process)
    try connection.send("SELECT pg_logical_emit_message(true, 'test', '')", within: longestWait)
    var isWaiting = false
    try wait(for: "a write to return or to wait for the standby") {
      isWaiting = try waiting().contains(id)
      return isWaiting || (try? connection.readOwedAnswer(within: .milliseconds(1))) != nil
    }
    // It would go on waiting when its client is gone.
    if isWaiting { try run("SELECT pg_terminate_backend(\(id))") }
    return !isWaiting
  }

  private func commit() throws -> NewCommit {
    var table = TableState()
    let applied = try table.applyRecording(.create)
    return NewCommit(
      changes: [LoggedChange(applied, of: "t")], position: 0, tables: ["t": 0], states: ["t": table])
  }

  private func append(_ commit: NewCommit, to log: PostgresLog) -> StoreError? {
    storeError { _ = try log.append(timeout: longestWait, { commit }, beforeOthersSee: { _ in }) }
  }

  /// Appends a commit, and interrupts the process of the server that waits for the standby.
  private func append(
    _ commit: NewCommit, to log: PostgresLog, interruptedBy function: String
  ) throws -> StoreError? {
    let before = try waiting()
    nonisolated(unsafe) var error: StoreError?
    let append = startThread("the append") { error = self.append(commit, to: log) }
    var process: UInt64?
    try wait(for: "the commit to wait for the standby") {
      process = try waiting().subtracting(before).first
      return process != nil
    }
    try run("SELECT \(function)(\(process ?? 0))")
    try append.wait()
    return error
  }

  /// In this case PostgreSQL reports success and only warns. A time limit does the same as this.
  @Test func commitIsNotAcknowledgedIfTheWaitForTheStandbyIsCancelled() throws {
    let log = try log()
    let commit = try commit()
    try withoutStandby {
      #expect(try append(commit, to: log, interruptedBy: "pg_cancel_backend")?.code == .outcomeUnknown)
      log.timeout = Self.short
      let outcome = try log.outcome(of: commit.token)
      #expect(outcome == .unknown)
    }
    log.timeout = longestWait
    #expect(try log.outcome(of: commit.token) == .committed)
    #expect(try LogUser(log).commits(after: 0).map(\.token) == [commit.token])
  }

  @Test func commitThatNoStandbyHasIsNotReadAfterACrash() throws {
    let log = try log()
    let commit = try commit()
    try withoutStandby {
      #expect(try append(commit, to: log, interruptedBy: "pg_terminate_backend")?.code == .outcomeUnknown)
      try server().run("kill")
      try server().run("start")
      let other = PostgresLog(try server().info, store: log.name, timeout: Self.short)
      #expect(storeError { _ = try other.commits(after: 0) }?.code == .unreachable)
    }
    #expect(try LogUser(log).commits(after: 0).map(\.token) == [commit.token])
  }

  /// Nobody asks about it again.
  @Test func commitWithAnUnknownOutcomeIsSettledWhenTheServerIsBack() throws {
    let log = try log()
    let commit = try commit()
    try withoutStandby {
      #expect(try append(commit, to: log, interruptedBy: "pg_terminate_backend")?.code == .outcomeUnknown)
      log.timeout = Self.short
      let outcome = try log.outcome(of: commit.token)
      #expect(outcome == .unknown)
    }
    log.timeout = longestWait
    try log.confirmLeader()
    let rows = try run(
      """
      SELECT (SELECT count(*) FROM filedb.commits WHERE token = '\(commit.token.text)')
        + (SELECT count(*) FROM filedb.refused WHERE token = '\(commit.token.text)')
      """)
    #expect(rows.first?.number(0) == 1)
  }

  /// A process of the server that waits for a standby goes on waiting when its client is gone.
  @Test func clientDoesNotFillTheServerWithWaitingProcesses() throws {
    let name = try log().name
    let late = PostgresLog(try server().info, store: name, timeout: Self.short)
    func read() { #expect(storeError { _ = try late.commits(after: 0) }?.code == .unreachable) }
    try withoutStandby {
      let before = try waiting()
      try wait(for: "a read to wait for the standby") {
        read()
        return try waiting() != before
      }
      for _ in 0..<8 { read() }
      let after = try waiting()
      #expect(after.count <= before.count + 2)
    }
    late.timeout = longestWait
    #expect(try late.commits(after: 0).isEmptyList)
  }

  @Test func writeThatGetsNoConnectionFailsAsUnreachable() throws {
    let name = try log().name
    let late = PostgresLog(try server().info, store: name, timeout: Self.short)
    let commit = try commit()
    try withoutStandby { #expect(append(commit, to: late)?.code == .unreachable) }
    late.timeout = longestWait
    #expect(try LogUser(late).commits(after: 0).isEmpty)
  }

  /// A leader that was paused, and now has a successor, still answers. But no standby confirms what it writes.
  @Test func catchUpDoesNotTrustAServerThatNoStandbyFollows() throws {
    let log = try log()
    try withTemporaryFolder { folder in
      let store = try RecordStore(
        at: folder, sharedBy: SharedLog(log), following: .whenAsked, options: StoreOptions())
      try store.catchUp()
      try withoutStandby {
        log.timeout = Self.short
        #expect(storeError { try store.catchUp() }?.code == .unreachable)
      }
      log.timeout = longestWait
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
      try run("UPDATE filedb.stores SET head = 1 WHERE name = '\(log.name)'")
      let late = PostgresLog(try server().info, store: log.name, timeout: Self.short)
      let second = FollowedCommit(sequence: 2)
      try withoutStandby {
        log.timeout = Self.short
        #expect(storeError { try store.table("t").add(["title": "three"]) }?.code == .unreachable)
        #expect(storeError { _ = try log.news(after: second) }?.code == .unreachable)
        #expect(storeError { _ = try late.news(after: second) }?.code == .unreachable)
      }
      for log in [log, late] { log.timeout = longestWait }
      #expect(storeError { try store.table("t").add(["title": "three"]) }?.code == .conflict)
      #expect(storeError { _ = try late.news(after: second) }?.code == .conflict)
    }
  }
}
