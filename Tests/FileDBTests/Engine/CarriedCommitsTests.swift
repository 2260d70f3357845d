import FileDB
import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

/// Commits of a table in conflict, which each checkpoint of the other tables takes over into the next journal.
@Suite struct CarriedCommitsTests {
  private static func open(_ disk: any Disk) throws -> RecordStore {
    var options = StoreOptions(checkpoints: .manual)
    options.longestFrame = 1_000
    return try RecordStore(at: URL(fileURLWithPath: "/store"), disk: disk, options: options)
  }

  /// The table "a" with four records and the table "b" with one, all in their files.
  private static func prepared() throws -> MemoryDisk {
    let memory = MemoryDisk()
    let store = try open(memory)
    try store.table("a").add(contentsOf: (1...4).map { ["n": .integer($0)] })
    try store.table("b").add(["n": 0])
    try store.checkpoint()
    return memory
  }

  /// Another program removes the first record of "a".
  private static func removeFirstRecord(on memory: MemoryDisk) throws {
    let file = "/store/a.plist"
    let text = String(decoding: try memory.read(file).bytes, as: UTF8.self)
    let start = try #require(text.firstRange(of: "\t\t<dict>\n")?.lowerBound)
    let end = try #require(text[start...].firstRange(of: "\t\t</dict>\n")?.upperBound)
    _ = try memory.replace(file, with: Array((text[..<start] + text[end...]).utf8))
  }

  /// Commits a change of "b", and makes a checkpoint without "a".
  private static func checkpointOther(_ store: RecordStore) throws {
    try store.table("b").add(["text": .string(String(repeating: "of another table ", count: 100))])
    #expect(storeError { try store.checkpoint() }?.code == .conflict)
  }

  private static let changes: [@Sendable (RecordTable<Fields>) throws -> Void] = [
    { try $0.move(2, to: .index(2)) },
    { try $0.move(4, to: .top) },
    { try $0.add(["n": 5], at: .index(1)) },
    { try $0.delete(3) },
    { try $0.set(["n": 30], of: 3) },
    { table in
      try table.add(["n": 5], at: .top)
      try table.delete(2)
      try table.move(3, to: .bottom)
    },
  ]

  @Test(arguments: changes.indices) func carriedCommitsAreCarriedOutOnce(change: Int) throws {
    let memory = try Self.prepared()
    let stores = [try Self.open(memory), try Self.open(memory)]
    let tables = try stores.map { try $0.table("a") }
    try tables[0].move(fromIndex: 0, toIndex: 1)
    try Self.changes[change](tables[0])
    try stores[1].refresh()
    let expected = Array(tables[0].lastSnapshot)
    #expect(tables[1].lastSnapshot.ids == expected.map(\.id))
    try Self.removeFirstRecord(on: memory)
    for round in 1...4 {
      try Self.checkpointOther(stores[round % 2])
      for (store, table) in zip(stores, tables) {
        try? store.refresh()
        #expect(table.lastSnapshot.ids == expected.map(\.id), "round \(round)")
        #expect(table.lastSnapshot.map(\.fields) == expected.map(\.fields), "round \(round)")
      }
    }
    try stores[0].repair("a", keeping: .both)
    for store in stores {
      try store.refresh()
      try store.checkInvariants()
      try store.checkNothingIsLeftBehind()
    }
  }

  // MARK: - Files of records

  /// How long each file of records is, by name.
  private static func recordsFiles(on memory: MemoryDisk) -> [String: Int] {
    memory.image.files.filter { $0.key.hasPrefix("/store/.filedb/records-") }.mapValues(\.count)
  }

  /// A store with two commits of "a" in files of records, and a conflict.
  private static func withRecordsFiles() throws -> (memory: MemoryDisk, store: RecordStore) {
    let memory = try prepared()
    let store = try open(memory)
    let table = try store.table("a")
    try table.set(["n": 10], of: 1)
    for _ in 0..<2 {
      try table.add(contentsOf: (0..<20).map { ["n": .integer($0), "text": "a record of some length"] })
    }
    try removeFirstRecord(on: memory)
    #expect(recordsFiles(on: memory).count == 2)
    return (memory, store)
  }

  @Test func recordsFilesDoNotPileUpBesideAConflict() throws {
    let (memory, store) = try Self.withRecordsFiles()
    let sizes = Self.recordsFiles(on: memory).values.sorted()
    let other = try Self.open(memory)
    for round in 1...6 {
      try Self.checkpointOther(round % 2 == 0 ? other : store)
      #expect(Self.recordsFiles(on: memory).values.sorted() == sizes, "round \(round)")
      let fresh = try Self.open(memory)
      #expect(try fresh.checkJournal() == nil)
      #expect(try fresh.pendingCommits().count == 3)
      #expect(try fresh.table("b").count == 1 + round)
    }
    try store.repair("a", keeping: .both)
    try store.refresh()
    #expect(try store.table("a").count == 44)
    try store.checkNothingIsLeftBehind()
    #expect(Self.recordsFiles(on: memory).isEmpty)
  }

  /// The disk is full from one call on, each in turn.
  @Test func failedCheckpointLeavesNoRecordsFileBehind() throws {
    for number in 0... {
      let (memory, store) = try Self.withRecordsFiles()
      try store.table("b").add(["n": 1])
      let files = Self.recordsFiles(on: memory)
      let count = Atomic<Int>(0)
      let disk = FaultyDisk(
        over: memory,
        faults: .choose { verb, _ in
          guard [.create, .append, .writeAt].contains(verb) else { return nil }
          return count.add(1, ordering: .relaxed).oldValue >= number ? .fail(errno: ENOSPC) : nil
        })
      let full = try Self.open(disk)
      let error = storeError { try full.checkpoint() }
      if disk.faultCount == 0 { break }
      #expect(error?.code == .diskFull, "call \(number)")
      #expect(Self.recordsFiles(on: memory) == files, "call \(number)")
      let fresh = try Self.open(memory)
      #expect(try fresh.pendingCommits().flatMap(\.changes).count { $0.table == "a" } == 3)
      try fresh.repair("a", keeping: .both)
      #expect(try fresh.table("a").count == 44)
      try fresh.checkNothingIsLeftBehind()
    }
  }
}
