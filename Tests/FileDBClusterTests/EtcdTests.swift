import FileDB
import FileDBTables
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDBCluster

/// Tests with the cluster that `Tests/Cluster/with-servers` has started.
@Suite(
  .enabled(if: EtcdCluster.current != nil, "needs the etcd clusters of Tests/Cluster/with-servers"))
struct EtcdTests {
  private func cluster() throws -> EtcdCluster { try #require(EtcdCluster.current) }

  private func log(_ name: String = UUID().uuidString) throws -> EtcdLog {
    let log = try EtcdLog(try cluster().address, store: name, timeout: longestWait)
    try log.create()
    return log
  }

  /// The keys of a store in etcd, without their common prefix.
  private func keys(_ log: EtcdLog, under part: String = "") throws -> [String] {
    try log.asking([.get(EtcdRange(under: log.keys.root + part).withoutValues)]).ranges[0]
      .map { String(decoding: $0.key, as: UTF8.self).dropFirst(log.keys.root.count).description }
  }

  @Test func storesUnderOnePrefixHaveNothingInCommon() throws {
    let (a, b) = (LogUser(try log("a/b \(UUID())")), LogUser(try log("a \(UUID())")))
    _ = try a.append("t") { _ in [.create] }
    #expect(try b.commits(after: 0).isEmpty && b.log.tables().isEmpty)
    #expect(try b.append("t") { _ in [.create] }?.sequence == 1)
  }

  @Test func storeThatIsNotThereIsNamed() throws {
    let other = try EtcdLog(cluster().address, store: "no such store", timeout: longestWait)
    for error in [storeError { _ = try other.tables() }, storeError { _ = try other.identity() }] {
      #expect(error?.code == .unreachable && error?.description.contains("no such store") == true)
    }
  }

  @Test func makingTheSameStoreAtTheSameTimeMakesOne() throws {
    let (name, failures) = (UUID().uuidString, Failures())
    DispatchQueue.concurrentPerform(iterations: 8) { _ in failures.note { _ = try log(name) } }
    #expect(failures.all.isEmpty)
    #expect(try log(name).make().store == false)
  }

  @Test func anotherVersionOfTheKeysIsRefused() throws {
    let log = try log()
    _ = try log.asking([.put(log.keys.format, "2")])
    #expect(storeError { _ = try log.identity() }?.code == .newerFormat)
  }

  // MARK: Large commits

  @Test func commitOfManyMegabytesIsInPartsAndReadAsOne() throws {
    let log = try log()
    let text = String(repeating: "ä", count: 300_000)
    _ = try LogUser(log).append("t") { _ in [.create, .insert((1...6).map { record($0, text) }, index: 0)] }
    #expect(try keys(log, under: "parts/").count == 4)
    let state = try LogUser(try EtcdLog(cluster().address, store: log.name, timeout: longestWait))
      .newest("t").state
    #expect(state.records.count == 6 && state.records[5].field("text") == .string(text))
  }

  @Test func partsThatWereSweptOnTheWayAreWrittenAgain() throws {
    let log = try log()
    let user = LogUser(log)
    _ = try user.append("t") { _ in [.create] }
    let large = try user.commit(String(repeating: "x", count: 5_000_000))
    let part = EtcdKeys.number(0, under: log.keys.parts(of: large.token.text))
    let isSwept = Mutex(false)
    let sweep = startThread("the sweep") {
      // Delete the parts as soon as there is one, but only until the commit is there.
      let transaction = EtcdTransaction(
        compare: [.exists(part), .unchanged(log.keys.split(large.token.text), since: 0)],
        success: [.delete(EtcdRange(under: log.keys.parts(of: large.token.text)))])
      for _ in 0..<1_000 where !isSwept.withLock(\.self) {
        if let answer = try? log.client.change(transaction), answer.isMet {
          isSwept.withLock { $0 = true }
        }
      }
    }
    #expect(try log.append(timeout: longestWait, { large }, beforeOthersSee: { _ in }) != nil)
    try sweep.wait()
    let wasSwept = isSwept.withLock(\.self)
    #expect(wasSwept)
    #expect(try user.newest("t").state.records.count == 1)
  }

  /// A sweep has seen the parts before the commit was appended, and removes them afterwards.
  @Test func lateSweepKeepsThePartsOfACommit() throws {
    let log = try log()
    let user = LogUser(log)
    _ = try user.append("t") { _ in [.create] }
    let large = try user.commit(String(repeating: "x", count: 5_000_000))
    #expect(try log.append(timeout: longestWait, { large }, beforeOthersSee: { _ in }) != nil)
    try log.removeParts(large.token.text, nil)
    #expect(try user.newest("t").state.records.count == 1)
  }

  /// This store's keys begin like those of the other store's parts.
  @Test func sweepKeepsTheKeysOfAStoreWithALongerPrefix() throws {
    let (address, name) = (try cluster().address, UUID().uuidString)
    let outer = try EtcdLog("\(address)/app", store: name, timeout: longestWait)
    let inner = try EtcdLog("\(address)/app/\(name)", store: "parts", timeout: longestWait)
    for log in [inner, outer] {
      try log.create()
      _ = try LogUser(log).append("t") { _ in [.create, .insert([record(1)], index: 0)] }
    }
    #expect(try outer.forgetCommits(olderThan: .zero) == 1)
    #expect(try LogUser(inner).newest("t").state.records.count == 1 && inner.tables() == ["t"])
  }

  // MARK: Other tables' commits

  /// All commits compare the head of the log. Only a commit to the same tables is a conflict.
  @Test func commitToAnotherTableIsNotInTheWay() throws {
    let log = try log()
    let (user, other) = (
      LogUser(log), LogUser(try EtcdLog(cluster().address, store: log.name, timeout: longestWait))
    )
    for table: TableKey in ["t", "u"] { _ = try user.append(table) { _ in [.create] } }
    var runs = 0
    func append(during table: TableKey) throws {
      _ = try user.append("t") { state in
        runs += 1
        if runs == 1 {
          _ = try other.append(table) { state in [.insert([record(state.counter + 1)], index: 0)] }
        }
        return [.insert([record(state.counter + 1)], index: 0)]
      }
    }
    try append(during: "u")
    #expect(runs == 1)
    runs = 0
    try append(during: "t")
    #expect(runs == 2)
    #expect(try user.newest("t").state.records.count == 3 && user.commits(after: 0).count == 6)
  }

  // MARK: Outcomes

  /// A member has held the commit back, and passes it on too late.
  @Test func lateRequestOfAnAbsentCommitFails() throws {
    let log = try log()
    let user = LogUser(log)
    _ = try user.append("t") { _ in [.create] }
    let head = try log.look().state.head
    #expect(try log.settle(.random(), after: head.sequence) == .absent)
    let late = EtcdTransaction(
      compare: [.unchanged(log.keys.head, since: head.revision)], success: [.put(log.keys.head, "2 -")])
    #expect(try !log.client.change(late).isMet)
    #expect(try user.append("t") { _ in [.insert([record(1)], index: 0)] }?.sequence == 2)
  }

  @Test func watchReportsACommitAtOnce() throws {
    let log = try log()
    let watch = EtcdWatch(log.client, key: log.keys.head, longestWait: .seconds(3_600))
    #expect(watch.prepare())
    _ = try LogUser(log).append("t") { _ in [.create] }
    try startThread("the wait for news") { watch.wait(upTo: nil) }.wait()
  }

  // MARK: The base

  @Test func newMachineStartsFromTheTablesAndOneThatWasAwayStartsOver() throws {
    try withTemporaryFolder { folder in
      let log = try log()
      func open(_ name: String) throws -> RecordStore {
        try RecordStore(
          at: folder.appendingPathComponent(name), sharedBy: SharedLog(log),
          options: StoreOptions(checkpoints: .manual))
      }
      let (a, b) = (try open("a"), try open("b"))
      let title = String(repeating: "one", count: 500_000)
      try a.table("t").add(["title": .string(title)])
      try a.table("gone").add(contentsOf: [["title": "gone"], ["title": "gone"]])
      try b.catchUp()
      try b.close()
      try a.table("gone").drop()
      #expect(try log.forgetCommits(olderThan: .zero) == 3)
      #expect(try keys(log, under: "commits/").isEmpty && keys(log, under: "parts/").isEmpty)
      #expect(try keys(log, under: "split/").isEmpty && keys(log, under: "pieces/").count == 2)
      try a.table("u").add(["title": "two"])
      for name in ["b", "new"] {
        let store = try open(name)
        try store.catchUp()
        #expect(
          try store.tableNames == ["t", "u"] && store.table("t").snapshot()[0]["title"] == .string(title))
        try store.checkInvariants()
        if name == "new" { #expect(try store.table("gone").add(["title": "again"]).rawValue == 3) }
      }
      // Tables that have not changed keep their pieces.
      let pieces = try keys(log, under: "pieces/")
      #expect(try log.forgetCommits(olderThan: .seconds(3_600)) == 0)
      #expect(try Set(keys(log, under: "pieces/")).isSuperset(of: pieces))
      #expect(try keys(log, under: "commits/").count == 2)
      #expect(
        try LogUser(EtcdLog(cluster().address, store: log.name, timeout: longestWait)).newest("gone").state
          .counter == 3)
      try a.catchUp()
      #expect(try a.table("gone").count == 1)
    }
  }

  @Test func sweepRemovesUnusedPartsAndPieces() throws {
    let log = try log()
    let (user, token) = (LogUser(log), CommitToken.random().text)
    try log.write(Array("lost".utf8), under: log.keys.parts(of: token))
    try log.write(Array("lost".utf8), under: log.keys.pieces(of: token))
    _ = try user.append("t") { _ in
      [.create, .insert([record(1, String(repeating: "x", count: 70_000))], index: 0)]
    }
    _ = try log.forgetCommits(olderThan: .seconds(3_600))
    #expect(try keys(log, under: "parts/").count == 1 && keys(log, under: "pieces/").count == 1)
    #expect(try user.newest("t").state.records.count == 1)
  }

  /// - Parameter keep: what an administrator has stored under the key `keep`.
  @Test(arguments: [("0", 5), ("604800", 105), ("30 days", 105), ("", 105)])
  func manyCommitsCompactTheLogAutomatically(keep: String, kept: Int) throws {
    let log = try EtcdLog(
      cluster().address, store: log().name, timeout: longestWait, compactingEvery: 100)
    let user = LogUser(log)
    _ = try log.asking([.put(log.keys.keep, keep)])
    _ = try user.append("t") { _ in [.create, .insert([record(1)], index: 0)] }
    for number in 2...105 { _ = try user.append("t") { _ in [.replace(record(1, "\(number)"))] } }
    #expect(try keys(log, under: "commits/").count == kept)
    #expect(try log.look().state.base.sequence == 100)
    #expect(try user.newest("t").state.records[0].field("text") == .string("105"))
    #expect(try log.status().head == 105 && log.status().records == 1)
  }

  @Test func readerNoticesThatItsCommitsAreForgotten() throws {
    let log = try log()
    let user = LogUser(log)
    for table: TableKey in ["t", "u"] { _ = try user.append(table) { _ in [.create] } }
    #expect(try log.forEachCommit(after: 0) { _ in })
    #expect(try log.forgetCommits(olderThan: .zero) == 2)
    #expect(try !log.forEachCommit(after: 0) { _ in })
    _ = try user.append("v") { _ in [.create] }
    #expect(try !log.forEachCommit(after: 1) { _ in } && log.tables() == ["t", "u", "v"])
  }

  @Test func listOfTablesThatIsTooLongLeavesNoPieces() throws {
    let log = try log()
    // In the list, each name has more than 540 characters.
    let names = (1...2_000).map { TableKey(String(repeating: "ä", count: 90) + "\($0)") }
    var table = TableState()
    let applied = try table.applyRecording(.create)
    let commit = NewCommit(
      changes: names.map { LoggedChange(applied, of: $0) }, position: 0,
      tables: Dictionary(uniqueKeysWithValues: names.map { ($0, 0) }),
      states: Dictionary(uniqueKeysWithValues: names.map { ($0, table) }))
    #expect(try log.append(timeout: longestWait, { commit }, beforeOthersSee: { _ in }) != nil)
    let error = storeError { _ = try log.forgetCommits(olderThan: .zero) }
    #expect(error?.code == .unrepresentableValue && error?.description.contains("2000 tables") == true)
    #expect(try keys(log, under: "pieces/").isEmpty)
  }

  /// More commits than one request returns.
  @Test func missingCommitIsNamed() throws {
    let log = try log()
    try withTemporaryFolder { folder in
      let store = try RecordStore(
        at: folder, sharedBy: SharedLog(log), following: .whenAsked, options: StoreOptions())
      for number in 1...600 { try store.table("t").add(["number": .integer(Int64(number))]) }
    }
    #expect(try LogUser(log).commits(after: 0).count == 600)
    for missing in [UInt64(600), 513, 7] {
      _ = try log.asking([.delete(EtcdRange(log.keys.commit(missing)))])
      let error = storeError { _ = try log.commits(after: 0) }
      #expect(error?.code == .damagedJournal && error?.description.contains("commit \(missing)") == true)
    }
  }

  /// Once it knows that there are more commits, a machine reads two batches at once.
  @Test func commitsOfSeveralBatchesArriveOnceAndInOrder() throws {
    let log = try log()
    try withTemporaryFolder { folder in
      let store = try RecordStore(
        at: folder, sharedBy: SharedLog(log), following: .whenAsked, options: StoreOptions())
      let id = try store.table("t").add(["number": 1])
      for number in 2...1_700 { try store.table("t").set(["number": .integer(Int64(number))], of: id) }
    }
    let reader = try EtcdLog(cluster().address, store: log.name, timeout: longestWait)
    var (sequences, counts): ([UInt64], [Int]) = ([1], [])
    while sequences.count < 1_700 {
      let commits = try reader.news(after: FollowedCommit(sequence: sequences.last ?? 0)).commits
      try #require(!commits.isEmpty)
      sequences += commits.map(\.sequence)
      counts.append(commits.count)
    }
    #expect(sequences == Array(1...1_700))
    #expect(counts == [512, 1_023, 164])
  }

  /// - Parameter isContinued: whether others have written after the restore.
  @Test(arguments: [false, true]) func logRestoredFromABackupIsAConflict(isContinued: Bool) throws {
    try withTemporaryFolder { folder in
      let log = try log()
      let store = try RecordStore(at: folder, sharedBy: SharedLog(log))
      for title in ["one", "two"] { try store.table("t").add(["title": .string(title)]) }
      try store.close()
      // Restore the keys to their state before the second commit, as a snapshot would.
      let (first, second) = (log.keys.commit(1), log.keys.commit(2))
      let former = try log.asking([.get(EtcdRange(first)), .get(EtcdRange(second))]).ranges.map { $0[0].text }
      if isContinued {
        let (old, new) = (String(former[1].prefix(32)), CommitToken.random().text)
        _ = try log.asking([
          .put(log.keys.head, "2 \(new)"), .put(second, former[1].replacing(old, with: new)),
        ])
      } else {
        _ = try log.asking([
          .put(log.keys.head, "1 \(former[0].prefix(32))"), .delete(EtcdRange(second)),
        ])
      }
      let again = try RecordStore(
        at: folder, sharedBy: .etcd(cluster().address, store: log.name, timeout: longestWait))
      #expect(storeError { try again.table("t").add(["title": "three"]) }?.code == .conflict)
      #expect(storeError { try again.catchUp() }?.code == .conflict)
      #expect(try again.table("t").count == 2)
    }
  }

  @Test func statusShowsTheMembers() throws {
    let log = try log()
    _ = try LogUser(log).append("t") { _ in [.create, .insert([record(1), record(2)], index: 0)] }
    let status = try log.status()
    guard case .members(3, .some) = status.servers else {
      Issue.record("\(status.servers)")
      return
    }
    #expect(status.head == 1 && status.start == 0 && status.tables == 1 && status.records == 2)
    #expect(status.commitBytes > 100 && status.databaseBytes > 10_000 && status.server.hasPrefix("etcd 3."))
  }
}

extension SharedNews {
  /// Empty if the reader has to start over.
  var commits: [LoggedCommit] {
    switch self {
    case .commits(let commits), .more(let commits): commits
    case .startOver: []
    }
  }
}
