import FileDB
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDBCluster

/// A store whose PostgreSQL server cannot be reached. These tests need no server.
@Suite struct UnreachableTests {
  private let nowhere = "host=/nowhere dbname=none user=somebody password=secret"

  @Test func newFolderNeedsAConnection() throws {
    try withTemporaryFolder { folder in
      let log = SharedLog.postgreSQL(nowhere, store: "s")
      let error = try #require(storeError { _ = try RecordStore(at: folder, sharedBy: log) })
      #expect(error.code == .unreachable && !error.description.contains("secret"))
      #expect(storeError { try log.create() }?.code == .unreachable)
    }
  }

  @Test(arguments: [
    "postgres://a:secret@[", "host='secret", "pass word=secret", "postgres://a:secret@h/d?wrong=1",
  ])
  func connectionStringThatLibpqDoesNotUnderstandIsNotRepeated(info: String) throws {
    let error = try #require(storeError { try SharedLog.postgreSQL(info, store: "s").create() })
    #expect(error.code == .unreachable && !error.description.contains("secret"))
  }

  @Test func writeFailsAtOnceAndReadingStillWorks() throws {
    try withTemporaryFolder { folder in
      let memory = MemoryLog()
      let store = try RecordStore(at: folder, sharedBy: SharedLog(memory))
      try store.table("t").add(["title": "one"])
      try store.close()
      let away = try RecordStore(at: folder, sharedBy: .postgreSQL(nowhere, store: "s"))
      #expect(try away.table("t").count == 1)
      var runs = 0
      let error = storeError {
        try away.write { tx in
          runs += 1
          try tx["t"].add(["title": "two"])
        }
      }
      #expect(error?.code == .unreachable && runs == 0)
      #expect(storeError { try away.catchUp() }?.code == .unreachable)
      #expect(try away.table("t").count == 1)
    }
  }
}

/// Tests with the server that `Tests/Cluster/with-servers` has started.
@Suite(
  .enabled(if: PostgresServer.current != nil, "needs the PostgreSQL servers of Tests/Cluster/with-servers"))
struct PostgresTests {
  private func server() throws -> PostgresServer { try #require(PostgresServer.current) }

  private func log(_ name: String = UUID().uuidString) throws -> PostgresLog {
    let log = PostgresLog(try server().info, store: name, timeout: longestWait)
    try log.create()
    return log
  }

  @Test func storesOfOneDatabaseHaveNothingInCommon() throws {
    let (a, b) = (LogUser(try log()), LogUser(try log()))
    _ = try a.append("t") { _ in [.create] }
    #expect(try b.commits(after: 0).isEmpty && b.log.tables().isEmpty)
    #expect(try b.append("t") { _ in [.create] }?.sequence == 1)
  }

  @Test func storeThatIsNotThereIsNamed() throws {
    _ = try log()
    let other = PostgresLog(try server().info, store: "no such store", timeout: longestWait)
    let error = storeError { _ = try other.tables() }
    #expect(error?.code == .unreachable && error?.description.contains("no such store") == true)
  }

  @Test func makingTheSameStoreAtTheSameTimeMakesOne() throws {
    let (name, failures) = (UUID().uuidString, Failures())
    DispatchQueue.concurrentPerform(iterations: 8) { _ in failures.note { _ = try log(name) } }
    #expect(failures.all.isEmpty)
  }

  /// A quote or a backslash with an accent is one `Character`.
  @Test func namesWithQuotesAndAccentsAreDifferentTables() throws {
    let log = LogUser(try log())
    let names: [TableKey] = ["a\\\u{301}b", "a\u{301}b", "\"\u{301}", "\\", "\",\""]
    for (number, name) in names.enumerated() {
      _ = try log.append(name) { _ in [.create, .raiseCounter(to: Int64(number + 1))] }
    }
    for (number, name) in names.enumerated() {
      #expect(try log.newest(name).state.counter == Int64(number + 1))
    }
    #expect(try log.log.tables() == Set(names))
  }

  @Test func nameOfAStoreWithANULIsRefused() throws {
    let (name, info) = (UUID().uuidString, try server().info)
    _ = try log(name)
    let other = PostgresLog(info, store: "\(name)\0x", timeout: longestWait)
    #expect(storeError { _ = try other.make() }?.code == .unreachable)
    #expect(storeError { _ = try other.tables() }?.code == .unreachable)
  }

  /// A program that has just started, with a folder that is up to date.
  @Test func outcomeOfTheFirstWriteIsKnownAlthoughCommitsWereForgotten() throws {
    let log = try log()
    _ = try LogUser(log).append("t") { _ in [.create] }
    #expect(try log.forgetCommits(olderThan: .zero) == 1)
    let late = PostgresLog(try server().info, store: log.name, timeout: longestWait)
    var table = TableState()
    let applied = try table.applyRecording(.create)
    let commit = NewCommit(
      changes: [LoggedChange(applied, of: "u")], position: 1, tables: ["u": 0], states: ["u": table])
    for position in [nil, FollowedCommit(sequence: 1)] {
      let last = late.lastRead(by: commit, after: position)
      _ = late.unknownOutcome(of: commit.token, since: last, "")
      #expect(try late.outcome(of: commit.token) == .absent)
    }
  }

  /// The outcome was asked for before the commit arrived. So it must be refused when it arrives.
  @Test func absentCommitIsRefusedLater() throws {
    let log = try log()
    let token = CommitToken.random()
    #expect(try log.outcome(of: token) == .absent)
    var table = TableState()
    let applied = try table.applyRecording(.create)
    let late = NewCommit(
      token: token, changes: [LoggedChange(applied, of: "t")], position: 0, tables: ["t": 0],
      states: ["t": table])
    let error = storeError { _ = try log.append(timeout: longestWait, { late }, beforeOthersSee: { _ in }) }
    #expect(error?.description.contains("FD002") == true)
    #expect(try LogUser(log).commits(after: 0).isEmpty)
    #expect(try log.outcome(of: token) == .absent)
  }

  /// In a database of its own, because it is the same for all stores of a database.
  @Test func anotherVersionOfTheTablesIsRefused() throws {
    let database = "v\(UUID().uuidString.filter(\.isHexDigit).lowercased())"
    try runStatement("CREATE DATABASE \(database)")
    let info = try server().info.replacing("dbname=postgres", with: "dbname=\(database)")
    func log() -> PostgresLog { PostgresLog(info, store: UUID().uuidString, timeout: longestWait) }
    let (before, late) = (log(), log())
    try before.create()
    let connection = try PostgresConnection(info, timeout: longestWait)
    try connection.run(
      "UPDATE filedb.format SET version = \(PostgresTables.version + 1)", within: longestWait)
    #expect(storeError { _ = try late.tables() }?.code == .newerFormat)
    #expect(storeError { _ = try late.make() }?.code == .newerFormat)
    let stores = try connection.run("SELECT name FROM filedb.stores", within: longestWait).map { $0.text(0) }
    #expect(stores == [before.name], "nothing was created")
    #expect(try before.tables().isEmpty, "an open connection still works")
  }

  /// The article about the format has a script for `psql` that adds a second record.
  @Test func exampleInTheArticleAppendsACommit() throws {
    let article = packageRoot.appendingPathComponent("Sources/FileDB/FileDB.docc/ClusterFormat.md")
    let text = try String(contentsOf: article, encoding: .utf8)
    let example = try #require(text.firstMatch(of: /```sql\n(\\set (?s).*?)```/)).1
    let log = try log(UUID().uuidString)
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder.appendingPathComponent("a"), sharedBy: SharedLog(log))
      let table = try store.table("todo")
      try table.create()
      try table.add(["title": "Buy milk"])
      let script = folder.appendingPathComponent("script.sql")
      try example.replacing("'notes'", with: "'\(log.name)'")
        .write(to: script, atomically: true, encoding: .utf8)
      let psql = Process()
      psql.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      psql.arguments =
        ["psql", "-X", "-v", "ON_ERROR_STOP=1", "-d"] + [try server().info, "-f", script.path]
      psql.standardOutput = FileHandle.nullDevice
      try psql.start()
      try psql.waitForEnd()
      #expect(psql.terminationStatus == 0)
      try store.catchUp()
      #expect(try table.snapshot().map { $0["title"] } == ["Buy milk", "Pay the rent"])
      #expect(try table.add(["title": "Call Ann"]).rawValue == 3)
      try store.checkInvariants()
    }
  }
}
