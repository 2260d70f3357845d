import FileDB
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDBCluster

/// Commits that are too large for a statement.
@Suite(
  .serialized,
  .enabled(if: PostgresServer.current != nil, "needs the PostgreSQL servers of Tests/Cluster/with-servers"))
struct PostgresLoadTests {
  /// A log with a limit of 10,000 bytes for a statement.
  private func log(_ name: String) throws -> PostgresLog {
    let server = try #require(PostgresServer.current)
    let log = PostgresLog(server.info, store: name, timeout: longestWait, longestStatement: 10_000)
    try log.create()
    return log
  }

  private func store(_ name: String, in folder: URL) throws -> RecordStore {
    try RecordStore(at: folder, sharedBy: SharedLog(log(name)))
  }

  private func makeTables(_ store: RecordStore) throws {
    try store.write { tx in
      let big = try tx["big"]
      for number in 0..<3_000 {
        try big.add(["n": .integer(Int64(number))], at: number % 3 == 0 ? .top : .bottom)
      }
      try big.delete((100...700).map { RecordID(rawValue: $0)! })
      try big.declare(TableSchema(fields: [FieldSchema("n", type: .integer, isRequired: true)]))
      try tx["empty"].create()
    }
  }

  @Test func loadedTablesMatchTheCommit() throws {
    try withTemporaryFolder { folder in
      let name = UUID().uuidString
      let (a, b) = (
        try store(name, in: folder.appending(path: "a")), try store(name, in: folder.appending(path: "b"))
      )
      try a.table("notes").add(["title": "one"])
      try a.table("big").add(["n": 1])
      try a.table("big").drop()
      try b.catchUp()
      try makeTables(a)
      try a.table("notes").add(["title": "two"])
      try b.catchUp()
      let late = try store(name, in: folder.appending(path: "late"))
      let direct = RecordStore(
        at: URL(fileURLWithPath: "/nowhere"),
        log: PostgresLog(
          try #require(PostgresServer.current).info, store: name, timeout: longestWait, history: .fromNow),
        options: StoreOptions())
      let big = try a.table("big").snapshot()
      #expect(big.count == 2_399 && big.ids.last?.rawValue == 3_001)
      for store in [b, late, direct] {
        #expect(try store.tableNames == ["big", "empty", "notes"])
        #expect(
          try store.table("big").snapshot() == big && store.table("big").snapshot().counter == big.counter)
        #expect(try store.table("big").snapshot().schema == big.schema)
        #expect(try store.table("notes").snapshot().map { $0.fields["title"] } == ["one", "two"])
      }
      try checkChunks()
      #expect(try b.lastStartOver()?.lastCommitBefore == 3)
      // From here on, everything works as usual.
      #expect(try late.table("big").add(["n": 5], at: .index(1_000)).rawValue == 3_002)
      try a.catchUp()
      try b.catchUp()
      #expect(try a.table("big").snapshot() == b.table("big").snapshot() && a.table("big").count == 2_400)
      for store in [a, b, late] {
        try store.checkpoint()
        try store.checkInvariants()
      }
      try checkChunks()
    }
  }

  @Test func outcomeOfALoadIsKnown() throws {
    let user = LogUser(try log(UUID().uuidString))
    let records = (1...100).map { record($0, String(repeating: "x", count: 200)) }
    let commit = try #require(try user.append("t") { _ in [.create, .insert(records, index: 0)] })
    #expect(try user.log.outcome(of: #require(commit.token)) == .committed)
    #expect(try user.newest("t").state.records.count == 100)
    // The commit does not create a table, because it exists already.
    let more = (101...200).map { record($0, String(repeating: "x", count: 200)) }
    #expect(try user.append("t") { _ in [.insert(more, index: 0)] }?.sequence == 2)
    #expect(try user.commits(after: 1).count == 1)
    #expect(try user.newest("t").state.records.count == 200)
    try checkChunks()
  }

  /// Each would create all tables of an empty store.
  @Test func loadThatAnotherMadeInTheMeantimeIsSeen() throws {
    try withTemporaryFolder { folder in
      let name = UUID().uuidString
      let (a, b) = (
        try store(name, in: folder.appending(path: "a")), try store(name, in: folder.appending(path: "b"))
      )
      var seen: [[String]] = []
      try a.write { tx in
        seen.append(try a.tableNames)
        if seen.count == 1 { try makeTables(b) }
        if seen.last == [] {
          try tx["other"].add(contentsOf: (0..<1_000).map { ["n": .integer($0)] })
        }
      }
      #expect(seen == [[], ["big", "empty"]])
      #expect(try a.tableNames == ["big", "empty"])
    }
  }

  @Test func loadAfterAConflictIsDoneOnce() throws {
    let name = UUID().uuidString
    let (a, b) = (LogUser(try log(name)), LogUser(try log(name)))
    let records = (1...100).map { record($0, String(repeating: "x", count: 200)) }
    var runs = 0
    _ = try a.append("t") { table in
      runs += 1
      if runs == 1 { _ = try b.append("t") { _ in [.create, .insert(records, index: 0)] } }
      return table.exists ? [] : [.create, .insert(records, index: 0)]
    }
    #expect(try runs == 2 && a.newest("t").state.records.count == 100)
    try checkChunks()
  }
}
