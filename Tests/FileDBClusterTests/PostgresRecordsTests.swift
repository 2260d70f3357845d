import FileDB
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDBCluster

/// The records in PostgreSQL, by id and in order, and the machines that start from them.
@Suite(
  .serialized,
  .enabled(if: PostgresServer.current != nil, "needs the PostgreSQL servers of Tests/Cluster/with-servers"))
struct PostgresRecordsTests {
  private func log(_ name: String, history: PostgresLog.History = .whole) throws -> PostgresLog {
    let server = try #require(PostgresServer.current)
    let log = PostgresLog(server.info, store: name, timeout: longestWait, history: history)
    try log.create()
    return log
  }

  private func run(_ statement: String) throws -> [PostgresRow] {
    let server = try #require(PostgresServer.current)
    return try PostgresConnection(server.info, timeout: longestWait).run(statement, within: longestWait)
  }

  /// Appends one commit to each table that `changes` names.
  private func commit(
    _ log: PostgresLog, _ tables: inout [TableKey: TableState], _ changes: [(TableKey, Change)]
  ) throws {
    var next = tables
    let applied = try changes.map { table, change in
      LoggedChange(try next[table, default: TableState()].applyRecording(change), of: table)
    }
    let touched = Set(changes.map(\.0))
    let commit = NewCommit(
      changes: applied, position: .max >> 1,
      tables: Dictionary(uniqueKeysWithValues: touched.map { ($0, 0) }),
      states: next.filter { touched.contains($0.key) })
    _ = try log.append(timeout: longestWait, { commit }, beforeOthersSee: { _ in })
    tables = next
  }

  /// Throws unless the chunks match the tables in memory, are small enough, and have the right counts.
  private func check(_ name: String, _ log: PostgresLog, _ tables: [TableKey: TableState]) throws {
    for (key, state) in tables {
      let base = try #require(try log.base(of: key, unless: nil)).state
      #expect(base.exists == state.exists && base.counter == state.counter)
      #expect(base.schemaValue == state.schemaValue)
      #expect(base.records.elementsEqual(state.records) { $0.id == $1.id && $0.hasSameBytes(as: $1) })
    }
    try checkChunks()
  }

  @Test func databaseHasTheRecordsOfTheCommits() throws {
    var random = SeededRandom.fromEnvironment("records in PostgreSQL")
    let name = UUID().uuidString
    let log = try log(name)
    var tables: [TableKey: TableState] = [:]
    try commit(log, &tables, [("a", .create), ("b", .create)])
    for round in 1...120 {
      var changes: [(TableKey, Change)] = []
      var next = tables
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        let table: TableKey = Bool.random(using: &random) ? "a" : "b"
        let change = self.change(of: next[table]!, &random)
        try next[table]!.apply(change)
        changes.append((table, change))
      }
      try commit(log, &tables, changes)
      if round % 30 == 0 { try check(name, log, tables) }
    }
    try commit(log, &tables, [("a", .removeAll), ("b", .truncate)])
    try commit(log, &tables, [("a", .insert([record(900_000)], index: 0)), ("a", .drop)])
    try check(name, log, tables)
    #expect(try log.base(of: "a", unless: nil)?.state.counter == 900_000)
  }

  private func change(of table: TableState, _ random: inout SeededRandom) -> Change {
    let ids = table.records.map(\.id)
    func some() -> AnyRecordID { ids.randomElement(using: &random)! }
    switch ids.isEmpty ? 0 : Int.random(in: 0..<100, using: &random) {
    case ..<30:
      let count = Int.random(in: 0..<8, using: &random) == 0 ? Int.random(in: 400...1_200, using: &random) : 3
      let first = table.counter + 1
      let index = Bool.random(using: &random) ? ids.count : Int.random(in: 0...ids.count, using: &random)
      return .insert((first..<first + Int64(count)).map { record($0, "\($0)") }, index: index)
    case ..<50: return .replace(record(some().rawValue, "\(random.next())"))
    case ..<70:
      let count = Bool.random(using: &random) ? 1 : Int.random(in: 1...ids.count, using: &random) / 2 + 1
      let start = Int.random(in: 0...ids.count - min(count, ids.count), using: &random)
      return .remove(Array(ids[start..<min(start + count, ids.count)]))
    case ..<90: return .move(some(), index: Int.random(in: ids.indices, using: &random))
    case ..<93: return .reorder(ids.shuffled(using: &random))
    case ..<96: return .raiseCounter(to: table.counter + 10)
    default:
      let schema = ["format": "filedb 1", "version": PlistValue.integer(Int64(ids.count))] as PlistDictionary
      return .declare(Bool.random(using: &random) ? .dict(schema) : nil)
    }
  }

  /// Inserts at the same place until no number is left between two chunks.
  @Test func chunksAreRenumberedWhenTheGapsAreUsedUp() throws {
    let name = UUID().uuidString
    let log = try log(name)
    var tables: [TableKey: TableState] = [:]
    let ends = (1...800).map { record($0) }
    try commit(log, &tables, [("t", .create), ("t", .insert(ends, index: 0))])
    var next: Int64 = 801
    for _ in 0..<45 {
      try commit(log, &tables, [("t", .insert((next..<next + 400).map { record($0) }, index: 400))])
      next += 400
    }
    try check(name, log, tables)
  }

  @Test func manyChangesOfOneCommitAreCarriedOutInTheirOrder() throws {
    let name = UUID().uuidString
    let log = try log(name)
    var tables: [TableKey: TableState] = [:]
    let changes: [Change] =
      [.create] + (1...2_000).map { .insert([record($0)], index: Int($0) - 1) }
      + (1...2_000).map { .replace(record($0, "first")) } + [.replace(record(5, "second"))]
      + (1...700).map { .remove([id($0 * 2)]) }
    try commit(log, &tables, changes.map { ("t", $0) })
    try check(name, log, tables)
  }

  // MARK: Starting from the records

  @Test func newMachineStartsFromTheTablesIfThereAreManyCommits() throws {
    let name = UUID().uuidString
    let log = try log(name)
    var tables: [TableKey: TableState] = [:]
    try commit(log, &tables, [("t", .create), ("gone", .create)])
    try commit(log, &tables, [("gone", .insert([record(7)], index: 0)), ("gone", .drop)])
    for number in 1...300 { try commit(log, &tables, [("t", .insert([record(Int64(number))], index: 0))]) }
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder, sharedBy: SharedLog(log))
      #expect(try store.tableNames == ["t"] && store.table("t").snapshot().count == 300)
      #expect(try store.table("t").snapshot().ids.first?.plain == id(300))
      #expect(try (store.log as? ReplicaLog)?.folder.commits(after: 302).isEmptyList == true)
      #expect(try store.table("gone").add(["title": "new"]).plain == id(8), "the counter is kept")
      #expect(try store.table("t").add(["title": "new"]).plain == id(301))
      try store.checkpoint()
      try store.checkInvariants()
    }
  }

  @Test func storeWithoutAFolderReadsTheTablesThatItIsAskedFor() throws {
    let name = UUID().uuidString
    var tables: [TableKey: TableState] = [:]
    let writer = try log(name)
    try commit(writer, &tables, [("t", .create), ("u", .create)])
    try commit(writer, &tables, [("t", .insert([record(1, "one")], index: 0))])
    let direct = try log(name, history: .fromNow)
    guard case .forgotten(upTo: 2) = try direct.commits(after: 0) else {
      Issue.record("it reads what is in the tables already")
      return
    }
    let nowhere = URL(fileURLWithPath: "/nowhere")
    let stores = try (0..<2).map { _ in
      RecordStore(at: nowhere, log: try log(name, history: .fromNow), options: StoreOptions())
    }
    #expect(try stores[0].table("t").count == 1 && stores[1].table("u").count == 0)
    try stores[1].table("u").add(["text": "two"])
    try stores[1].table("t").add(["text": "two"])
    #expect(try stores[0].table("t").snapshot().map { $0["text"] } == ["one", "two"])
    #expect(try stores[0].table("u").snapshot().count == 1 && stores[0].tableNames == ["t", "u"])
  }

  // MARK: Forgetting

  @Test func forgottenCommitsAreInTheTablesAndFoldersThatWereAwayStartOver() throws {
    let name = UUID().uuidString
    let log = try log(name)
    let shared = SharedLog(log)
    try withTemporaryFolder { folder in
      func open(_ name: String) throws -> RecordStore {
        try RecordStore(
          at: folder.appendingPathComponent(name), sharedBy: shared,
          options: StoreOptions(checkpoints: .manual))
      }
      let (a, b) = (try open("a"), try open("b"))
      try a.table("t").add(["title": "one"])
      try a.table("gone").add(["title": "gone"])
      try b.catchUp()
      try b.close()
      try a.table("gone").drop()
      try a.table("t").add(["title": "two"])
      #expect(try shared.forgetCommits(olderThan: .zero) == 4)
      try a.table("t").add(["title": "three"])
      let again = try open("b")
      try again.catchUp()
      #expect(try again.table("t").snapshot().map { $0["title"] } == ["one", "two", "three"])
      #expect(try again.tableNames == ["t"] && again.table("gone").add(["title": "new"]).plain == id(2))
      let start = try #require(try again.lastStartOver())
      #expect(start.lastCommitBefore == 2 && start.commitAfter == 5)
      try a.catchUp()
      #expect(try a.table("gone").count == 1 && a.lastStartOver() == nil)
      for store in [a, again] { try store.checkInvariants() }
    }
  }

  /// Its undo log would lack the commit: the folder would start over after it.
  @Test func folderThatHasToStartOverDoesSoBeforeItWrites() throws {
    let name = UUID().uuidString
    let shared = SharedLog(try log(name))
    try withTemporaryFolder { folder in
      func open(_ name: String) throws -> RecordStore {
        try RecordStore(
          at: folder.appendingPathComponent(name), sharedBy: shared, following: .whenAsked,
          options: StoreOptions(checkpoints: .manual))
      }
      let (a, b) = (try open("a"), try open("b"))
      let id = try a.table("t").add(["title": "one"])
      try a.table("t").set(["title": "two"], of: id)
      for _ in 0..<2 { try b.table("u").add(["title": "other"]) }
      #expect(try shared.forgetCommits(olderThan: .zero) == 4)
      var runs = 0
      try a.write { tx in
        runs += 1
        try tx["t"].set(["title": "three"], of: id)
      }
      #expect(runs == 2)
      let start = try #require(try a.lastStartOver())
      #expect(start.lastCommitBefore == 2 && start.commitAfter == 4)
      for store in [a, b] { try store.checkInvariants() }
    }
  }

  @Test func appendingForgetsOldCommits() throws {
    let name = UUID().uuidString
    let log = try log(name)
    _ = try run("UPDATE filedb.stores SET keep = '0' WHERE name = '\(name)'")
    var tables: [TableKey: TableState] = [:]
    try commit(log, &tables, [("t", .create)])
    for number in 2...1_001 { try commit(log, &tables, [("t", .raiseCounter(to: Int64(number)))]) }
    guard case .forgotten(upTo: 999...1_000) = try log.commits(after: 5) else {
      Issue.record("it keeps them all")
      return
    }
    #expect(try LogUser(log).commits(after: 1_000).count == 1)
  }

  /// The commit may be one of the forgotten ones.
  @Test func outcomeOfACommitThatMayHaveBeenForgottenStaysUnknown() throws {
    let log = try log(UUID().uuidString)
    let user = LogUser(log)
    let token = try #require(try user.append("t") { _ in [.create] }?.token)
    let last = try #require(try user.append("t") { _ in [.raiseCounter(to: 5)] }?.token)
    #expect(try log.outcome(of: token) == .committed)
    _ = try SharedLog(log).forgetCommits(olderThan: .zero)
    #expect(try log.outcome(of: token) == .unknown)
    #expect(try log.outcome(of: last) == .committed, "the log knows its first commit")
  }

  // MARK: Backups

  /// The server may be restored while a store is open. The store does not read the log before each write.
  @Test(arguments: [0, 1, 2]) func logRestoredBeneathAnOpenStoreIsRefused(commitsSince: Int) throws {
    let name = UUID().uuidString
    let log = try log(name)
    try withTemporaryFolder { folder in
      let store = try RecordStore(
        at: folder.appendingPathComponent("a"), sharedBy: SharedLog(log), following: .whenAsked,
        options: StoreOptions(checkpoints: .manual))
      let id = try store.table("t").add(["title": "one"])
      try store.table("t").set(["title": "two"], of: id)
      try restore(name, to: 1)
      let fresh = SharedLog.postgreSQL(
        try #require(PostgresServer.current).info, store: name, timeout: longestWait)
      let other = try RecordStore(at: folder.appendingPathComponent("other"), sharedBy: fresh)
      for _ in 0..<commitsSince { try other.table("u").add(["title": "another"]) }
      let error = storeError { try store.table("t").set(["title": "three"], of: id) }
      #expect(error?.code == .conflict && error?.message.contains("restored to an earlier state") == true)
      let head = try run("SELECT head FROM filedb.stores WHERE name = '\(name)'").first?.number(0)
      #expect(head == UInt64(1 + commitsSince), "it does not have the commit")
      #expect(try store.table("t").snapshot().map { $0["title"] } == ["two"], "reading still works")
    }
  }

  /// Removes the newer commits of a store, like a backup that lacks them.
  private func restore(_ name: String, to sequence: Int) throws {
    let store = "(SELECT id FROM filedb.stores WHERE name = '\(name)')"
    _ = try run("DELETE FROM filedb.commits WHERE sequence > \(sequence) AND store = \(store)")
    _ = try run("UPDATE filedb.stores SET head = \(sequence) WHERE name = '\(name)'")
    _ = try run("UPDATE filedb.tables SET sequence = least(sequence, \(sequence)) WHERE store = \(store)")
  }

  /// A database that was restored from a backup has fewer commits, or different ones with the same numbers.
  @Test(arguments: [0, 1, 2]) func logRestoredFromABackupIsRefused(commitsSince: Int) throws {
    let name = UUID().uuidString
    let log = try log(name)
    try withTemporaryFolder { folder in
      let (url, other) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("other"))
      let store = try RecordStore(at: url, sharedBy: SharedLog(log))
      try store.table("t").add(["title": "one"])
      try store.table("t").add(["title": "two"])
      // If the journal is empty, the token is in the file `known`.
      try store.checkpoint()
      try store.close()
      try restore(name, to: 1)
      let fresh = SharedLog.postgreSQL(
        try #require(PostgresServer.current).info, store: name, timeout: longestWait)
      if commitsSince > 0 {
        let second = try RecordStore(at: other, sharedBy: fresh)
        for _ in 0..<commitsSince { try second.table("u").add(["title": "another"]) }
      }
      let again = try RecordStore(at: url, sharedBy: fresh)
      let error = storeError { try again.table("t").add(["title": "three"]) }
      #expect(error?.code == .conflict && error?.message.contains("restored to an earlier state") == true)
      #expect(try again.table("t").count == 2, "reading still works")
      // A process that has the store open notices it, too, after it has lost its connection.
      #expect(storeError { try store.catchUp() } != nil)
    }
  }
}

extension LogNews {
  var isEmptyList: Bool {
    if case .commits(let commits) = self { commits.isEmpty } else { false }
  }
}
