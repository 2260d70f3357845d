import FileDB
import FileDBCluster
import Foundation
import Synchronization
import TestSupport
import Testing

/// Writes to a shared log that do not read it first.
@Suite struct EarlyWriteTests {
  private func open(_ folder: URL, _ name: String, _ log: SharedLog) throws -> RecordStore {
    try RecordStore(
      at: folder.appendingPathComponent(name), sharedBy: log, following: .whenAsked,
      options: StoreOptions(checkpoints: .manual))
  }

  @Test func writeReadsTheLogOnlyIfOthersProbablyWrote() throws {
    let readCount = Counter()
    let log = SharedLog(MemoryLog(willRead: { readCount.add() }))
    try withTemporaryFolder { folder in
      let (a, b) = (try open(folder, "a", log), try open(folder, "b", log))
      let table = try a.table("t")
      let id = try table.add(["title": "one"])
      try table.set(["title": "two"], of: id)
      var before = readCount.value
      for number in Int64(0)..<10 { try table.set(["title": .integer(number)], of: id) }
      #expect(readCount.value == before)

      try b.table("t").set(["title": "four"], of: id)
      before = readCount.value
      var runs = 0
      try a.write { tx in
        runs += 1
        try tx["t"].update(id) { $0["title"] = .string(($0["title"]?.string ?? "") + "!") }
      }
      #expect(readCount.value > before && runs == 2, "the log refuses what was made from old records")
      try b.catchUp()
      #expect(try b.table("t").snapshot().map { $0["title"] } == ["four!"])

      // Now others probably write, so the next write reads first. It finds nothing, so the one after it does not.
      before = readCount.value
      try table.set(["title": "five"], of: id)
      #expect(readCount.value > before)
      before = readCount.value
      try table.set(["title": "six"], of: id)
      #expect(readCount.value == before)
      for store in [a, b] { try store.checkInvariants() }
    }
  }

  @Test(arguments: [false, true]) func writeAfterCatchingUpToWriteAsksForNoNewsAgain(areThereNews: Bool)
    throws
  {
    let readCount = Counter()
    let log = SharedLog(MemoryLog(willRead: { readCount.add() }))
    try withTemporaryFolder { folder in
      let b = try open(folder, "b", log)
      let id = try b.table("t").add(["title": "one"])
      let a = try open(folder, "a", log)
      if areThereNews { try b.table("t").add(["title": "two"]) }
      let before = readCount.value
      try a.catchUpToWrite()
      #expect(try a.table("t").count == (areThereNews ? 2 : 1))
      try a.table("t").set(["title": "three"], of: id)
      #expect(readCount.value == before + 1)
      // What comes in between is noticed all the same.
      try a.catchUpToWrite()
      try b.table("t").set(["title": "four"], of: id)
      try a.write { tx in try tx["t"].update(id) { $0["title"] = .string("\($0["title"]?.string ?? "")!") } }
      #expect(try a.table("t").snapshot().first?["title"] == "four!")
      for store in [a, b] { try store.checkInvariants() }
    }
  }

  /// The log has refused the first one, and the body then finds nothing to do.
  @Test func refusedCommitThatIsNotMadeAgainIsForgotten() throws {
    let log = SharedLog(MemoryLog())
    try withTemporaryFolder { folder in
      let (a, b) = (try open(folder, "a", log), try open(folder, "b", log))
      let id = try a.table("t").add(["n": 1])
      try a.table("t").set(["n": 2], of: id)
      try b.table("t").set(["n": 3], of: id)
      var runs = 0
      try a.write { tx in
        runs += 1
        if try tx["t"].record(with: id)["n"] == 2 { try tx["t"].set(["n": 4], of: id) }
      }
      #expect(runs > 1)
      #expect(try a.replicaStatus()?.sent == nil)
      try a.catchUp()
      #expect(a.takeSettledCommits().isEmpty)
      for store in [a, b] { try store.checkInvariants() }
    }
  }

  /// Only a commit is checked by the log. What else a write ends with may come from old records, too.
  @Test func writeThatOldRecordsWouldFailSeesTheNewestOnes() throws {
    let log = SharedLog(MemoryLog())
    try withTemporaryFolder { folder in
      let (a, b) = (try open(folder, "a", log), try open(folder, "b", log))
      try a.table("t").add(["title": "one"])
      let second = try b.table("t").add(["title": "two"])
      try a.table("t").set(["title": "changed"], of: second)
      try b.table("t").delete(second)
      #expect(storeError { try a.table("t").set(["title": "again"], of: second) }?.code == .recordNotFound)
      try b.table("t").add(["title": "three"])
      // This changes nothing, so there is no commit for the log to check.
      #expect(try a.write { tx in try tx["t"].count } == 2)
      try b.table("notes").add(["title": "one"])
      #expect(
        storeError { try a.table("Notes").add(["title": "two"]) } != nil, "the names differ in case alone")
      for store in [a, b] { try store.checkInvariants() }
    }
  }

  /// A checkpoint that leaves out a large table must not give its commits other numbers than they have in the log.
  @Test func largeTableThatWaitsKeepsTheNumbersOfItsCommits() throws {
    let log = SharedLog(MemoryLog())
    try withTemporaryFolder { folder in
      var options = StoreOptions(checkpoints: .manual)
      (options.largeFile, options.keptJournal, options.shortJournal) = (10_000, 100, 100)
      let (a, b) = try (
        RecordStore(
          at: folder.appendingPathComponent("a"), sharedBy: log, following: .whenAsked, options: options),
        open(folder, "b", log)
      )
      let big = try a.table("big")
      try big.add(contentsOf: (0..<100).map { _ in ["text": .string(String(repeating: "x", count: 300))] })
      try a.checkpoint()
      for round in Int64(0)..<4 {
        for number in Int64(0)..<3 { try big.add(["number": .integer(number)]) }
        try a.table("small").add(["round": .integer(round)])
        try a.checkpointTablesThatAreDue()
        try b.catchUp()
        try b.table("small").set(["b": true], of: RecordID(rawValue: round + 1)!)
      }
      for store in [a, b] {
        try store.catchUp()
        #expect(
          try store.table("big").count == 112
            && store.table("small").snapshot().allSatisfy { $0["b"] == true })
        try store.checkInvariants()
      }
    }
  }

  @Test func writeThatListsTheTablesSeesOneThatAnotherMachineCreatesMeanwhile() throws {
    let log = SharedLog(MemoryLog())
    try withTemporaryFolder { folder in
      let (a, b) = (try open(folder, "a", log), try open(folder, "b", log))
      try a.table("log").add(["tables": 0])
      var seen: [[String]] = []
      try a.write { tx in
        seen.append(try a.tableNames)
        if seen.count == 1 { try b.table("new").create() }
        try tx["log"].add(["tables": .integer(Int64(a.tableNames.count))])
      }
      #expect(seen == [["log"], ["log", "new"]])
      #expect(try a.table("log").snapshot().map { $0["tables"] } == [0, 2])
      for store in [a, b] { try store.checkInvariants() }
    }
  }

  /// The log has the commit, but the connection breaks before the folder has it.
  @Test func nextWriteSeesACommitThatTheFolderCouldNotTakeOver() throws {
    let interlude = Mutex<(@Sendable () -> Void)?>(nil)
    let memory = MemoryLog(interlude: {
      let body = interlude.withLock { body in
        defer { body = nil }
        return body
      }
      body?()
    })
    let log = UnreliableLog(memory)
    try withTemporaryFolder { folder in
      let b = try open(folder, "b", SharedLog(memory))
      let id = try b.table("t").add(["title": "one"])
      try memory.forget()
      #expect(storeError { _ = try open(folder, "a", SharedLog(log)) }?.code == .unreachable)
      let a = try open(folder, "a", SharedLog(log))
      try a.table("t").set(["title": "two"], of: id)
      interlude.withLock { body in
        body = {
          _ = try? b.table("u").add(["title": "other"])
          log.isAway.store(true, ordering: .relaxed)
        }
      }
      try a.table("t").set(["title": "three"], of: id)
      log.isAway.store(false, ordering: .relaxed)
      var seen: [PlistValue?] = []
      try a.write { tx in
        seen.append(try tx["t"].snapshot().first?["title"])
        try tx["t"].set(["title": "four"], of: id)
      }
      #expect(seen == ["three"])
      try a.checkInvariants()
    }
  }
}

private final class Counter: Sendable {
  private let count = Atomic<Int>(0)

  var value: Int { count.load(ordering: .relaxed) }

  func add() { count.wrappingAdd(1, ordering: .relaxed) }
}
