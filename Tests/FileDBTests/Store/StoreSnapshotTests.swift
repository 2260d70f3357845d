import FileDB
import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

/// `RecordStore.snapshot()`: all tables at one moment.
@Suite struct StoreSnapshotTests {
  @Test func snapshotHasAllTablesAndStaysAsItIs() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      #expect(try store.snapshot().tableNames == [])
      try store.table("b").add(["n": 1])
      try RecordStore(at: folder).table("a").add(["n": 2])  // By another, and not read by this one.
      let all = try store.snapshot()
      try store.table("b").deleteAll()
      try store.table("a").drop()
      try store.table("c").create()
      #expect(all.tableNames == ["a", "b"])
      #expect(all["a"].map { $0["n"] } == [2])
      #expect(all["b"].map { $0["n"] } == [1])
      #expect(all["none"].isEmpty && !all["none"].exists)
      #expect(try store.snapshot().tableNames == ["b", "c"])
      try store.checkInvariants()
    }
  }

  @Test func snapshotInsideAWriteIsTheTransactions() throws {
    let store = RecordStore.inMemory()
    try store.table("a").add(["n": 1])
    try store.write { tx in
      try tx["a"].deleteAll()
      try tx["b"].create()
      let all = try store.snapshot()
      #expect(all.tableNames == ["a", "b"])
      #expect(all["a"].isEmpty)
    }
    try store.checkInvariants()
  }

  /// A writer moves a record between two tables again and again. Every snapshot has it exactly once.
  @Test func snapshotIsNeverBetweenTheTablesOfACommit() async throws {
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try RecordStore(at: folder)
    try await store.table("a").add(["n": 1])
    let writer = Task.detached {
      let other = try RecordStore(at: folder)
      for round in 0..<200 {
        let (from, to) = round.isMultiple(of: 2) ? ("a", "b") : ("b", "a")
        try await other.write { tx in
          try tx[from].deleteAll()
          try tx[to].add(["n": 1])
        }
      }
    }
    for _ in 0..<200 {
      let all = try store.snapshot()
      #expect(all["a"].count + all["b"].count == 1)
    }
    try await writer.value
    try store.checkInvariants()
  }

  /// While the tables are being listed and read, another process moves a record into a table that it makes.
  @Test(arguments: [true, false]) func snapshotHasATableThatWasMadeMeanwhile(dropsTheOther: Bool) throws {
    let url = URL(fileURLWithPath: "/home/store")
    for number in 0... {
      let memory = MemoryDisk(.emptyHome)
      try RecordStore(at: url, disk: memory, options: StoreOptions()).table("a").add(["n": 1])
      let start = Mutex<Int?>(nil)
      let disk = FaultyDisk(over: memory) { call, _ in
        let isDue = start.withLock { start in
          guard let first = start, call == first + number else { return false }
          start = nil
          return true
        }
        guard isDue else { return }
        try! RecordStore(at: url, disk: memory, options: StoreOptions()).write { tx in
          if dropsTheOther { try tx["a"].drop() } else { try tx["a"].deleteAll() }
          try tx["b"].add(["n": 1])
        }
      }
      let store = try RecordStore(at: url, disk: disk, options: StoreOptions())
      start.withLock { $0 = disk.verbs.count }
      let all = try store.snapshot()
      if start.withLock({ $0 }) != nil { break }
      #expect(all["a"].count + all["b"].count == 1, "before call \(number)")
      try store.checkInvariants()
    }
  }

  @Test func damagedTableIsAnError() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      try store.table("a").add(["n": 1])
      try Data("no table".utf8).write(to: folder.appendingPathComponent("b.plist"))
      #expect(storeError { _ = try store.snapshot() }?.table == "b")
    }
  }
}
