import FileDB
import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

private struct Stop: Error {}

/// The names in a folder, hidden ones included, in order.
func contents(of folder: URL) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
}

@Suite struct TransactionTests {
  @Test func aBodyThatThrowsLeavesNoTrace() throws {
    try withStore(.disk) { store in
      let table = try store.table("t")
      try table.add(["n": 1])
      let bytes = try Data(contentsOf: table.url)
      #expect(throws: Stop.self) {
        try store.write { tx in
          try tx.add(["n": 2], to: .records("t"))
          try tx.add(["n": 1], to: .records("other"))
          try tx.delete(1, in: .records("t"))
          throw Stop()
        }
      }
      #expect(try Data(contentsOf: table.url) == bytes)
      #expect(table.snapshot.ids == [1])
      #expect(try store.tableNames == ["t"])
    }
  }

  @Test func aBodySeesItsOwnWritesAndNobodyElseDoes() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(["n": 1])
      try store.write { tx in
        let id = try tx.add(["n": 2], to: .records("t"), at: .top)
        #expect(try tx.snapshot(of: .records("t")).ids == [id, 1])
        #expect(table.snapshot.ids == [1])
      }
      #expect(table.snapshot.ids == [2, 1])
    }
  }

  @Test func oneTransactionWritesSeveralTables() throws {
    try withStore(.disk) { store in
      let ids = try store.write { tx in
        [try tx.add(["n": 1], to: .records("a")), try tx.add(["n": 2], to: .records("b"), at: .top)]
      }
      #expect(ids == [1, 1])
      #expect(try store.tableNames == ["a", "b"])
    }
  }

  @Test func aCaughtErrorUndoesOnlyItsVerb() throws {
    try withStore { store in
      let table = try store.table("t")
      try store.write { tx in
        try tx.add(["n": 1], to: .records("t"))
        #expect(throws: StoreError.self) { try tx.delete([1, 7], in: .records("t")) }
        #expect(throws: StoreError.self) { try tx.add(["n": 2], to: .records("t"), at: .before(7)) }
        #expect(throws: StoreError.self) {
          try tx.replaceAll(
            in: .records("t"), with: [IdentifiedRow(Record(), id: 1), IdentifiedRow(Record(), id: 1)])
        }
      }
      #expect(table.snapshot.ids == [1])
    }
  }

  @Test func aWriteInsideAWriteIsRefused() throws {
    try withStore { store in
      let table = try store.table("t")
      try store.write { tx in
        try tx.add(["n": 1], to: .records("t"))
        #expect(storeError { _ = try table.add(["n": 2]) }?.code == StoreError.nestedWrite)
      }
      #expect(table.count == 1)
    }
  }

  @Test func manyThreadsLoseNothing() async throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for turn in 0..<25 {
            #expect(throws: Never.self) {
              try table.add(["worker": .integer(Int64(worker)), "turn": .integer(Int64(turn))])
            }
            let snapshot = table.snapshot
            #expect(snapshot.last?.id == snapshot.ids.last)
          }
        }
      }
    }
    #expect(table.count == 200)
    for worker in 0..<8 {
      let turns = table.snapshot.filter { $0.record["worker"] == .integer(Int64(worker)) }.map {
        $0.record["turn"]
      }
      #expect(turns == (0..<25).map { PlistValue.integer($0) }, "each worker's records are in its own order")
    }
    try store.checkInvariants()
  }

  @Test func twoStoresOnOneFolderSeeEachOther() throws {
    try withTemporaryFolder { folder in
      let (one, two) = (try RecordStore(at: folder), try RecordStore(at: folder))
      let (mine, theirs) = (try one.table("t"), try two.table("t"))
      for turn in 0..<20 {
        #expect(try mine.add(["from": "one"]).rawValue == Int64(2 * turn + 1))
        #expect(try theirs.add(["from": "two"], at: .top).rawValue == Int64(2 * turn + 2))
      }
      try one.refresh()
      #expect(mine.snapshot.ids == theirs.snapshot.ids)
      #expect(mine.count == 40)
      try one.checkInvariants()
    }
  }

  @Test func anotherProcessHoldingTheLockTimesOut() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder, options: StoreOptions(lockTimeout: .milliseconds(30)))
      let table = try store.table("t")
      try table.add(["n": 1])
      let lock = try SystemDisk().lock(folder.path + "/.filedb/lock", timeout: .zero)
      #expect(storeError { _ = try table.add(["n": 2]) }?.code == StoreError.locked)
      #expect(table.count == 1, "reading goes on")
      withExtendedLifetime(lock) {}
      try store.checkInvariants()
    }
  }
}
