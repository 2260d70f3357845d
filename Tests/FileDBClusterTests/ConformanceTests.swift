import FileDB
import FileDBTables
import Foundation
import TestSupport
import Testing

/// The promises that every log makes to its store. See `CommitLog`.
@Suite struct ConformanceTests {
  @Test(arguments: LogKind.available) func commitsHaveNumbersWithoutGapsAndAreReadUnchanged(
    kind: LogKind
  ) throws {
    try kind.withLog { open in
      let user = LogUser(try open())
      let first = try #require(
        try user.append("a") { _ in [.create, .insert([record(1), record(2)], index: 0)] })
      let second = try #require(try user.append("b") { _ in [.create] })
      #expect(first.sequence == 1 && second.sequence == 2)
      let commits = try user.commits(after: 0)
      #expect(commits.map(\.sequence) == [1, 2])
      #expect(commits.map(\.token) == [first.token, second.token])
      #expect(commits.map(\.date) == [first.date, second.date])
      #expect(commits[0].changes(of: "a").count == 2 && commits[0].changes(of: "b").isEmpty)
      #expect(Set(commits[1].tables.keys) == ["b"])
      #expect(try user.commits(after: 1).map(\.sequence) == [2])
      #expect(try user.commits(after: 2).isEmpty)
    }
  }

  @Test(arguments: LogKind.available) func laterReadersApplyEveryChange(kind: LogKind) throws {
    try kind.withLog { open in
      let user = LogUser(try open())
      let steps: [(TableState) -> [Change]] = [
        { _ in [.create, .insert((1...6).map { record($0) }, index: 0)] },
        { _ in [.replace(record(2, "two")), .remove([id(3), id(5)])] },
        { _ in [.move(id(6), index: 0), .move(id(1), index: 2)] },
        { _ in [.reorder([id(4), id(2), id(1), id(6)]), .raiseCounter(to: 40)] },
        { _ in [.declare(.dict(["format": .string("filedb 1"), "version": .integer(1)]))] },
        { _ in [.insert([record(41, "ä\"\\{},NULL")], index: 2)] },
      ]
      for step in steps { _ = try user.append("täble \"1\"", step) }
      let state = try LogUser(try open()).newest("täble \"1\"").state
      #expect(state.records.map(\.id.rawValue) == [4, 2, 41, 1, 6] && state.counter == 41)
      #expect(state.records[1].field("text") == .string("two") && state.schemaValue != nil)

      _ = try user.append("täble \"1\"") { _ in [.removeAll] }
      #expect(try user.newest("täble \"1\"").state.counter == 41)
      _ = try user.append("täble \"1\"") { _ in [.truncate] }
      #expect(try user.newest("täble \"1\"").state.counter == 0)
    }
  }

  @Test(arguments: LogKind.available) func logListsTablesThatWereCreatedAndNotDropped(kind: LogKind) throws {
    try kind.withLog { open in
      let user = LogUser(try open())
      #expect(try user.log.tables().isEmpty)
      for table: TableKey in ["a", "b", "c"] { _ = try user.append(table) { _ in [.create] } }
      _ = try user.append("b") { _ in [.drop] }
      #expect(try user.log.tables() == ["a", "c"])
      _ = try user.append("b") { _ in [.create] }
      #expect(try user.log.tables() == ["a", "b", "c"])
    }
  }

  @Test(arguments: LogKind.available) func countersOfDroppedTablesAreFound(kind: LogKind) throws {
    try kind.withLog { open in
      let user = LogUser(try open())
      for table: TableKey in ["a", "b", "c"] {
        _ = try user.append(table) { _ in [.create, .insert([record(1)], index: 0)] }
      }
      #expect(try user.log.droppedTables().isEmpty)
      for table: TableKey in ["b", "c"] { _ = try user.append(table) { _ in [.drop] } }
      _ = try user.append("c") { _ in [.create] }
      #expect(try user.log.droppedTables() == ["b"])
      #expect(try user.newest("b").state.counter == 1)
    }
  }

  /// In a folder, a lock keeps the other writer out.
  @Test(arguments: LogKind.available.filter { $0 != .folder })
  func commitThatListedTheTablesIsMadeAgainIfAnotherCreatesOne(kind: LogKind) throws {
    try kind.withLog { open in
      let (a, b) = (LogUser(try open()), LogUser(try open()))
      _ = try a.append("t") { _ in [.create] }
      try b.catchUp()
      var seen: [Set<TableKey>] = []
      _ = try a.append("t") { _ in
        seen.append(try a.log.tables())
        if seen.count == 1 { _ = try b.append("u") { _ in [.create] } }
        if seen.count == 2 { _ = try b.append("u") { _ in [.drop] } }
        return [.raiseCounter(to: Int64(seen.count))]
      }
      #expect(seen == [["t"], ["t", "u"], ["t"]])
      #expect(try a.newest("t").state.counter == 3)
    }
  }

  @Test(arguments: LogKind.available) func logIsUnchangedWithoutACommitAndAfterAnError(kind: LogKind) throws {
    struct Regret: Error {}
    try kind.withLog { open in
      let user = LogUser(try open())
      _ = try user.append("a") { _ in [.create] }
      #expect(try user.log.append(timeout: longestWait, { nil }, beforeOthersSee: { _ in }) == nil)
      #expect(throws: Regret.self) { try user.append("a") { _ in throw Regret() } }
      #expect(try user.commits(after: 1).isEmpty)
      #expect(try user.append("a") { _ in [.insert([record(1)], index: 0)] }?.sequence == 2)
    }
  }

  @Test(arguments: LogKind.available) func outcomeIsKnownByTheToken(kind: LogKind) throws {
    try kind.withLog { open in
      let user = LogUser(try open())
      let commit = try #require(try user.append("a") { _ in [.create] })
      #expect(try user.log.outcome(of: try #require(commit.token)) == .committed)
      #expect(try user.log.outcome(of: .random()) != .committed)
    }
  }

  @Test(arguments: LogKind.available) func baseThatIsKnownIsNotReadAgain(kind: LogKind) throws {
    try kind.withLog { open in
      let user = LogUser(try open())
      _ = try user.append("a") { _ in [.create] }
      let base = try #require(try user.log.base(of: "a", unless: nil))
      #expect(try user.log.base(of: "a", unless: base) == nil)
      #expect(base.through <= 1)
    }
  }

  /// Each writer reads a record and adds one to it. If an update is lost, the sum is too small.
  @Test(arguments: LogKind.available) func noUpdateIsLostBetweenWritersAtTheSameTime(kind: LogKind)
    async throws
  {
    let (writers, count) = (4, 12)
    try await Task.detached {
      try kind.withLog { open in
        _ = try LogUser(try open()).append("n") { _ in [.create, .insert([record(1, "0")], index: 0)] }
        let users = try (0..<writers).map { _ in LogUser(try open()) }
        let failures = Failures()
        DispatchQueue.concurrentPerform(iterations: writers) { writer in
          failures.note {
            for _ in 0..<count {
              _ = try users[writer].append("n") { state in
                let number = state.records[0].field("text")?.string.flatMap { Int($0) } ?? -1_000
                return [.replace(record(1, "\(number + 1)"))]
              }
            }
          }
        }
        #expect(failures.all.isEmpty)
        let last = LogUser(try open())
        try last.catchUp()
        #expect(try last.newest("n").state.records[0].field("text") == .string("\(writers * count)"))
        #expect(try last.commits(after: 0).map(\.sequence) == (1...UInt64(writers * count + 1)).map { $0 })
        #expect(Set(try last.commits(after: 0).map(\.token)).count == writers * count + 1)
      }
    }.value
  }

  /// A log that only this process can reach has no watch.
  @Test(arguments: LogKind.available.filter(\.isShared))
  func watchTellsOfACommitOfAnotherProcess(kind: LogKind) throws {
    try kind.withLog { open in
      let writer = LogUser(try open())
      _ = try writer.append("a") { _ in [.create] }
      // A replica watches its folder, so let another process of the same machine write.
      let watch = try #require(try (kind.isReplica ? writer.log : open()).makeWatch())
      #expect(watch.prepare())
      _ = try writer.append("a") { _ in [.insert([record(1)], index: 0)] }
      try startThread("the wait for news") { watch.wait(upTo: nil) }.wait()
      watch.interrupt()
      try startThread("the wait that was interrupted") { watch.wait(upTo: nil) }.wait()
    }
  }
}
