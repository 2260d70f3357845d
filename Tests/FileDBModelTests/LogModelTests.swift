import FileDB
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
