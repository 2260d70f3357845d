import FileDB
import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

private struct Stop: Error {}

/// Whether `body` throws ``Stop``.
private func stops(_ body: () throws -> Void) -> Bool {
  do { try body() } catch { return error is Stop }
  return false
}

/// The names in a folder, hidden ones included, in order.
func contents(of folder: URL) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
}

@Suite struct TransactionTests {
  /// On some disks both would be one file, and the records of one would be lost.
  @Test(arguments: [("notes", "Notes"), ("caf\u{e9}", "cafe\u{301}"), ("stra\u{df}e", "STRA\u{df}E")])
  func tableNamesThatDifferInCaseOrAccentsAreRefused(name: String, alike: String) throws {
    try withStore(.disk) { store in
      func makesBoth() -> StoreError? {
        storeError {
          try store.write { tx in
            try tx[name].add(["n": 1])
            try tx[alike].add(["n": 2])
          }
        }
      }
      #expect(makesBoth()?.code == .invalidTableName, "in one transaction")
      #expect(try store.tableNames == [])
      try store.table(name).create()
      #expect(
        storeError { try store.table(alike).create() }?.code == .invalidTableName, "in the journal")
      try store.checkpoint()
      let error = storeError { try store.table(alike).add(["n": 1]) }
      #expect(error?.code == .invalidTableName, "in a file")
      #expect(error?.description.contains("'\(name)'") == true)
      try store.table(name).add(["n": 1])
      try store.table("other").add(["n": 1])
      #expect(Set(try store.tableNames) == [name, "other"])
    }
  }

  @Test func throwingWriteChangesNothing() throws {
    try withStore(.disk) { store in
      let table = try store.table("t")
      try table.add(["n": 1])
      try store.checkpoint()
      let bytes = try Data(contentsOf: table.url)
      #expect(throws: Stop.self) {
        try store.write { tx in
          try tx["t"].add(["n": 2])
          try tx["other"].add(["n": 1])
          try tx["t"].delete(1)
          throw Stop()
        }
      }
      #expect(try Data(contentsOf: table.url) == bytes)
      #expect(table.lastSnapshot.ids == [1])
      #expect(try store.tableNames == ["t"])
    }
  }

  @Test func tableOfATransactionHasBeenRead() throws {
    try withStore(.disk) { store in
      try store.table("t").add(contentsOf: [["n": 1], ["n": 2]])
      let other = try RecordStore(at: store.url)
      let counts = try other.write { tx in (try tx["t"].lastSnapshot.count, try tx["t"].count) }
      #expect(counts == (2, 2))
    }
  }

  @Test func transactionSwappedIntoAnotherWriteIsRefused() throws {
    let (one, other) = (RecordStore.inMemory(), RecordStore.inMemory())
    try one.write { mine in
      try other.write { theirs in swap(&mine, &theirs) }
      let error = storeError { try mine["t"].add(["n": 1]) }
      #expect(error?.code == .closed)
    }
    #expect(try one.table("t").count == 0)
    #expect(try other.table("t").count == 0)
  }

  @Test func onlyTheWriteItselfSeesItsUncommittedChanges() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    try table.add(["n": 1])
    let outside = Mutex<[RecordID<Fields>]>([])
    try store.write { tx in
      let id = try tx["t"].add(["n": 2], at: .top)
      #expect(try tx["t"].snapshot().ids == [id, 1])
      #expect(table.lastSnapshot.ids == [2, 1])
      let end = startThread("a look from another thread") {
        outside.withLock { $0 = table.lastSnapshot.ids }
      }
      try end.wait()
    }
    #expect(outside.withLock { $0 } == [1])
    #expect(table.lastSnapshot.ids == [2, 1])
    try store.checkInvariants()
  }

  @Test func oneTransactionWritesSeveralTables() throws {
    try withStore(.disk) { store in
      let ids = try store.write { tx in
        [try tx["a"].add(["n": 1]), try tx["b"].add(["n": 2], at: .top)]
      }
      #expect(ids == [1, 1])
      #expect(try store.tableNames == ["a", "b"])
    }
  }

  @Test func namesOfTablesIncludeTheChangesOfTheTransaction() throws {
    try withStore(.disk) { store in
      for table in ["a", "b"] { try store.table(table).create() }
      try store.write { tx in
        try tx["c"].add(["n": 1])
        try tx["a"].drop()
        _ = try tx["never"].count
        #expect(try store.tableNames == ["b", "c"])
        #expect(try store.snapshot().tableNames == ["b", "c"])
      }
      #expect(try store.tableNames == ["b", "c"])
    }
  }

  @Test func caughtErrorUndoesOnlyTheFailedVerb() throws {
    try withStore { store in
      let table = try store.table("t")
      try store.write { tx in
        try tx["t"].add(["n": 1])
        #expect(throws: StoreError.self) { try tx["t"].delete([1, 7]) }
        #expect(throws: StoreError.self) { try tx["t"].add(["n": 2], at: .before(7)) }
        #expect(throws: StoreError.self) {
          try tx["t"].replaceAll(
            identified: [IdentifiedValue(Fields(), id: 1), IdentifiedValue(Fields(), id: 1)])
        }
      }
      #expect(table.lastSnapshot.ids == [1])
    }
  }

  @Test func nestedWriteJoinsOuterTransaction() throws {
    try withStore(.disk) { store in
      let (mine, theirs) = (try store.table("mine"), try store.table("theirs"))
      try mine.add(["n": 1])
      #expect(throws: Stop.self) {
        try store.write { tx in
          try tx["mine"].add(["n": 2])
          try theirs.add(["n": 1])  // An object that knows only its own table.
          try store.write { _ in try mine.delete(1) }
          #expect(mine.lastSnapshot.ids == [2])
          #expect(try theirs.count == 1)
          throw Stop()
        }
      }
      #expect(mine.lastSnapshot.ids == [1])
      #expect(try !theirs.exists)
      try store.write { _ in
        try mine.add(["n": 2])
        try theirs.add(["n": 1])
        try store.refresh()
      }
      #expect(mine.lastSnapshot.ids == [1, 2])
      #expect(theirs.lastSnapshot.ids == [1])
    }
  }

  @Test func caughtThrowOfNestedWriteUndoesOnlyThatWrite() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [["n": 1], ["n": 2], ["n": 3]])
      try store.write { tx in
        try tx["t"].delete(2)
        let outcome = stops {
          try store.write { inner in
            try inner["t"].add(["n": 4], at: .top)
            try inner["new"].add(["n": 1])
            let innermost = stops {
              try store.write { innermost in
                try innermost["t"].truncate()
                throw Stop()
              }
            }
            #expect(innermost)
            #expect(table.lastSnapshot.ids == [4, 1, 3])
            throw Stop()
          }
        }
        #expect(outcome)
        #expect(table.lastSnapshot.ids == [1, 3])
        #expect(try !tx["new"].snapshot().exists)
        try tx["t"].add(["n": 5])
      }
      #expect(table.lastSnapshot.map { $0.fields["n"] } == [1, 3, 5])
      #expect(try table.counter == 4, "an id that was undone was never given")
      #expect(try store.tableNames == ["t"])
    }
  }

  @Test func dryRunInsideWriteUndoesOnlyItself() throws {
    try withStore { store in
      let table = try store.table("t")
      try store.write { tx in
        try tx["t"].add(["n": 1])
        #expect(try store.dryRun { _ in try table.add(["n": 2]) } == 2)
        #expect(table.lastSnapshot.ids == [1])
      }
      #expect(table.lastSnapshot.ids == [1])
    }
  }

  /// Changes that cancel each other within a transaction.
  enum Undone: CaseIterable {
    case innerWrite, dryRun, failedChange, tooLargeChange

    func run(_ store: RecordStore, _ tx: inout StoreTransaction, _ fields: Fields) throws {
      switch self {
      case .innerWrite:
        do {
          try store.write { inner in
            try inner["t"].add(fields)
            throw Stop()
          }
        } catch is Stop {}
      case .dryRun: try store.dryRun { inner in _ = try inner["t"].add(fields) }
      case .failedChange:
        let taken = [IdentifiedValue(fields, id: 1)]
        let error = storeError { try tx["t"].add(identified: taken, at: .bottom) }
        try #require(error?.code == .duplicateID)
      case .tooLargeChange:
        let many = Array(repeating: fields, count: 120)
        let error = storeError { try tx["t"].add(contentsOf: many) }
        try #require(error?.code == .unrepresentableValue)
      }
    }
  }

  @Test(arguments: Undone.allCases) func undoneChangesDoNotCountTowardsTransactionLimit(undone: Undone) throws
  {
    let options = StoreOptions(limits: PlistLimits(fileBytes: 100_000))
    try withStore(options: options) { store in
      let fields: Fields = ["text": .string(String(repeating: "x", count: 1_000))]
      let table = try store.table("t")
      try table.add(["n": 1])
      try store.write { tx in
        for _ in 0..<120 { try undone.run(store, &tx, fields) }
        try tx["t"].add(["n": 2])
      }
      #expect(table.lastSnapshot.map { $0.fields["n"] } == [1, 2])
    }
  }

  @Test func concurrentWritersLoseNoRecords() async throws {
    let store = RecordStore.inMemory()
    let table = try await store.table("t")
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for turn in 0..<25 {
            #expect(throws: Never.self) {
              try table.add(["worker": .integer(Int64(worker)), "turn": .integer(Int64(turn))])
            }
            let snapshot = table.lastSnapshot
            #expect(snapshot.last?.id == snapshot.ids.last)
          }
        }
      }
    }
    #expect(try table.count == 200)
    for worker in 0..<8 {
      let turns = table.lastSnapshot.filter { $0.fields["worker"] == .integer(Int64(worker)) }.map {
        $0.fields["turn"]
      }
      #expect(turns == (0..<25).map { PlistValue.integer($0) }, "each worker's records are in its own order")
    }
    try store.checkInvariants()
  }

  @Test func storesOnOneFolderSeeEachOthersCommits() throws {
    try withTemporaryFolder { folder in
      let (one, two) = (try RecordStore(at: folder), try RecordStore(at: folder))
      let (mine, theirs) = (try one.table("t"), try two.table("t"))
      for turn in 0..<20 {
        #expect(try mine.add(["from": "one"]).rawValue == Int64(2 * turn + 1))
        #expect(try theirs.add(["from": "two"], at: .top).rawValue == Int64(2 * turn + 2))
      }
      try one.refresh()
      #expect(mine.lastSnapshot.ids == theirs.lastSnapshot.ids)
      #expect(try mine.count == 40)
      try one.checkInvariants()
    }
  }

  @Test func writeTimesOutWhileLockIsHeldElsewhere() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(
        at: folder, options: StoreOptions(lockTimeout: .milliseconds(30), checkpoints: .manual))
      let table = try store.table("t")
      try table.add(["n": 1])
      let lock = try SystemDisk().lock(folder.path + "/.filedb/lock", timeout: .zero)
      #expect(storeError { _ = try table.add(["n": 2]) }?.code == .locked)
      #expect(try table.count == 1, "reading goes on")
      withExtendedLifetime(lock) {}
      try store.checkInvariants()
    }
  }
}
