import FileDB
import FileDBCluster
import Foundation
import Synchronization
import TestSupport
import Testing

/// Stores on a log that has no files: nothing above the log may know of any.
@Suite struct LogModelTests {
  private func open(_ log: MemoryLog) -> RecordStore {
    RecordStore(at: URL(fileURLWithPath: "/nowhere"), log: log, options: StoreOptions())
  }

  @Test(arguments: [0, 7]) func storesOnASharedLogAgreeWithPlainArrays(lossEvery: Int) throws {
    let log = MemoryLog(losingOneAnswerIn: lossEvery)
    var stores = (0..<3).map { _ in open(log) }
    var verbs = RandomVerbs(
      random: SeededRandom.fromEnvironment("shared log model"), tables: ["a", "b", "c"], size: 20)
    for _ in 0..<1_500 {
      let number = stores.indices.randomElement(using: &verbs.random)!
      switch Int.random(in: 0..<100, using: &verbs.random) {
      case ..<60: try transaction(in: stores[number], &verbs)
      case ..<70: try verbs.stepAndRegret(in: stores[number])
      case ..<78: try log.forget()
      case ..<86: stores[number] = open(log)
      default: break
      }
      try stores[number].refresh()
      try verbs.compare(with: stores[number])
    }
    if lossEvery > 0 { #expect(log.lostAnswerCount > 50) }
  }

  /// Each store of a replica is on a machine of its own.
  @Test(arguments: LogKind.available.filter { $0 != .folder && $0 != .memory })
  func storesOnALogOfAnotherKindAgreeWithPlainArrays(kind: LogKind) throws {
    try kind.withLog { open in
      func store() throws -> RecordStore {
        let log = try open()
        return RecordStore(
          at: URL(fileURLWithPath: "/nowhere"), log: log, files: (log as? ReplicaLog)?.folder,
          options: StoreOptions(checkpoints: .manual))
      }
      var stores = try (0..<3).map { _ in try store() }
      var verbs = RandomVerbs(
        random: SeededRandom.fromEnvironment("\(kind) model"), tables: ["a", "b", "c"], size: 20)
      for _ in 0..<400 {
        let number = stores.indices.randomElement(using: &verbs.random)!
        switch Int.random(in: 0..<100, using: &verbs.random) {
        case ..<60: try transaction(in: stores[number], &verbs)
        case ..<70: try verbs.stepAndRegret(in: stores[number])
        case ..<80: try stores[number].checkpoint()
        case ..<83: stores[number] = try store()
        default: break
        }
        if let replica = stores[number].log as? ReplicaLog { _ = try replica.catchUp(timeout: longestWait) }
        try stores[number].refresh()
        try verbs.compare(with: stores[number])
      }
    }
  }

  /// A body that runs again begins with what it changed the time before.
  private func transaction(in store: RecordStore, _ verbs: inout RandomVerbs) throws {
    let before = verbs
    let count = Int.random(in: 1...6, using: &verbs.random)
    try store.write { tx in
      (verbs.plain, verbs.random) = (before.plain, before.random)
      for _ in 0..<count { try verbs.step(&tx) }
    }
  }

  @Test func bodyRunsAgainWhereAnotherStoreWasQuicker() throws {
    let other = Mutex<RecordStore?>(nil)
    let log = MemoryLog(interlude: {
      let store = other.withLock { store in
        defer { store = nil }
        return store
      }
      _ = try? store?.table("t").add(["n": "first"], at: .top)
    })
    let store = open(log)
    try store.table("t").add(["n": "there"])
    other.withLock { $0 = open(log) }
    var runs = 0
    let id = try store.write { tx in
      runs += 1
      return try tx["t"].add(["n": "second"])
    }
    #expect(runs == 2 && id == 3)
    #expect(try store.table("t").lastSnapshot.map { $0["n"] } == ["first", "there", "second"])
  }

  /// A log that runs `body` once, between the next body of a write and its append.
  private func logInterrupted(by body: @escaping @Sendable (MemoryLog) -> Void) -> (
    MemoryLog, arm: () -> Void
  ) {
    let armed = Mutex<MemoryLog?>(nil)
    let log = MemoryLog(interlude: {
      let log = armed.withLock { log in
        defer { log = nil }
        return log
      }
      if let log { body(log) }
    })
    return (log, { armed.withLock { $0 = log } })
  }

  @Test func commitToAnotherTableInBetweenIsTakenIn() throws {
    let (log, arm) = logInterrupted { log in
      let other = RecordStore(at: URL(fileURLWithPath: "/nowhere"), log: log, options: StoreOptions())
      _ = try? other.table("b").add(["n": "theirs"])
    }
    let store = open(log)
    let (mine, theirs) = (try store.table("a"), try store.table("b"))
    // Otherwise, both would create a table, and so change the list of tables.
    try mine.create()
    arm()
    var runs = 0
    try store.write { tx in
      runs += 1
      try tx["a"].add(["n": "mine"])
    }
    #expect(runs == 1, "nobody else wrote to the same table")
    #expect(mine.lastSnapshot.count == 1 && theirs.lastSnapshot.count == 1)
    try mine.add(["n": "more"])
    #expect(try mine.snapshot().count == 2 && open(log).table("b").lastSnapshot.count == 1)
  }

  @Test func bodyRunsAgainWhereATableThatItReadWasChanged() throws {
    let (log, arm) = logInterrupted { log in
      let other = RecordStore(at: URL(fileURLWithPath: "/nowhere"), log: log, options: StoreOptions())
      _ = try? other.table("b").add(["n": "theirs"])
    }
    let store = open(log)
    arm()
    try store.write { tx in
      let count = try tx["b"].snapshot().count
      try tx["a"].add(["n": .integer(Int64(count))])
    }
    #expect(try store.table("a").snapshot().map { $0["n"] } == [.integer(1)])
  }

  @Test func verbsThatNeedFilesSayThatThereAreNone() throws {
    let store = open(MemoryLog())
    try store.table("t").add(["n": 1])
    #expect(storeError { _ = try store.url(of: "t") }?.code == .notAFolder)
    #expect(storeError { _ = try store.check("t") }?.code == .notAFolder)
    #expect(storeError { _ = try store.repair("t") }?.code == .notAFolder)
    try store.checkpoint()
    try store.close()
  }
}
