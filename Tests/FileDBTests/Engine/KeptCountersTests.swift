import FileDBStorage
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// No id is given twice, whatever happens to the record, its table and its file. Only `truncate` starts again at 1.
@Suite struct KeptCountersTests {
  /// What happens after the drop.
  enum Interval: CaseIterable {
    case nothing, checkpoint, twoCheckpoints

    func pass(in store: RecordStore) throws {
      if self != .nothing { try store.checkpoint() }
      guard self == .twoCheckpoints else { return }
      try store.table("other").add(["n": 1])
      try store.checkpoint()
    }
  }

  @Test(arguments: Interval.allCases)
  func tableThatIsDroppedAndMadeAgainGoesOnCounting(interval: Interval) throws {
    let disk = MemoryDisk()
    let store = try open(disk)
    let reader = try open(disk)
    #expect(try reader.table("t").lastSnapshot.counter == 0)
    let ids = try store.table("t").add(contentsOf: [["n": 1], ["n": 2], ["n": 3]])
    try store.table("t").drop()
    try interval.pass(in: store)
    #expect(try store.table("t").lastSnapshot.counter == 3)
    try reader.refresh()
    #expect(try reader.table("t").lastSnapshot.counter == 3)
    #expect(try open(disk).table("t").add(["n": 4]).rawValue == 4)
    try reader.refresh()
    let next = try reader.table("t").add(["n": 5])
    #expect(next.rawValue == 5 && !ids.contains(next))
    try store.refresh()
    for store in [store, reader] { try store.checkInvariants() }
  }

  @Test(arguments: Interval.allCases)
  func truncatedTableThatIsDroppedCountsFromOne(interval: Interval) throws {
    let store = try open(MemoryDisk())
    let table = try store.table("t")
    try table.add(contentsOf: [["n": 1], ["n": 2]])
    try table.drop()
    try interval.pass(in: store)
    try table.add(["n": 3])
    try table.truncate()
    try table.drop()
    try interval.pass(in: store)
    #expect(try table.add(["n": 4]).rawValue == 1)
    try store.checkInvariants()
  }

  /// The table is gone after it; the ids that others may have seen are not given again.
  @Test func undoneCreationOfATableKeepsTheCounter() throws {
    let store = try open(MemoryDisk())
    let undo = UndoStack(store: store)
    try undo.write { tx in
      _ = try tx["t"].add(contentsOf: [["n": 1], ["n": 2]])
    }
    try undo.undo()
    #expect(try !store.table("t").exists)
    try store.checkpoint()
    #expect(try store.table("t").add(["n": 3]).rawValue == 3)
    try store.checkInvariants()
  }

  @Test(arguments: ConflictChoice.allCases)
  func idsOfCommitsThatARepairLeavesOutAreNotGivenAgain(choice: ConflictChoice) throws {
    let disk = MemoryDisk()
    let store = try open(disk)
    let table = try store.table("t")
    try table.add(["n": 1])
    try store.checkpoint()
    let old = try disk.read("/store/t.plist").bytes
    try table.add(contentsOf: [["n": 2], ["n": 3]])
    // An editor's save that the waiting commit does not fit.
    let edited = String(decoding: old, as: UTF8.self).replacing(
      "<integer>1</integer>", with: "<integer>7</integer>")
    _ = try disk.replace("/store/t.plist", with: Array(edited.utf8))
    let fresh = try open(disk)
    try fresh.repair("t", keeping: choice)
    let highest = try #require(try fresh.table("t").lastSnapshot.ids.map(\.rawValue).max())
    #expect(try fresh.table("t").add(["n": 4]).rawValue > max(highest, 3))
    try fresh.checkInvariants()
  }

  /// FileDB refuses to go on, because it could give ids twice. Somebody who removes the file accepts that.
  @Test func countersThatCannotBeReadAreAnError() throws {
    let disk = MemoryDisk()
    let store = try open(disk)
    try store.table("t").add(["n": 1])
    try store.table("t").drop()
    try store.checkpoint()
    _ = try disk.replace("/store/.filedb/counters.plist", with: Array("<plist><dict>".utf8))
    let error = storeError { try open(disk).table("t").add(["n": 2]) }
    #expect(error?.file == "/store/.filedb/counters.plist")
    try disk.remove("/store/.filedb/counters.plist")
    #expect(try open(disk).table("t").add(["n": 2]).rawValue == 1)
  }

  private func open(_ disk: MemoryDisk) throws -> RecordStore {
    try RecordStore(
      at: URL(fileURLWithPath: "/store"), disk: disk, options: StoreOptions(checkpoints: .manual))
  }
}
