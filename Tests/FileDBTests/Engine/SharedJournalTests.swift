import Foundation
import TestSupport
import Testing

@testable import FileDB

/// A copy of a store by hard links, as `cp -al` makes it, has the same journal.
@Suite struct SharedJournalTests {
  @Test(arguments: [CheckpointPolicy.manual, .everyCommit])
  func copyByHardLinksIsNotWrittenUntilItIsRepaired(checkpoints: CheckpointPolicy) throws {
    try withTemporaryFolder { folder in
      let (original, copy) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
      let options = StoreOptions(checkpoints: checkpoints)
      let store = try RecordStore(at: original, options: options)
      for n in Int64(1)...3 { try store.table("t").add(["n": .integer(n)]) }
      try link(original, to: copy)

      let other = try RecordStore(at: copy, options: options)
      #expect(try other.table("t").snapshot().ids == [1, 2, 3])
      for store in [store, other] {
        #expect(storeError { try store.table("t").add(["n": 4]) }?.code == .sharedJournal)
        #expect(storeError { try store.checkpoint() }?.code == .sharedJournal)
      }
      #expect(try other.journalRepairPlan() != nil)
      let report = try #require(try other.repairJournal())
      #expect(report.lostCount == 0)
      #expect(try other.journalRepairPlan() == nil)
      for (store, n) in [(store, Int64(4)), (other, 5)] {
        #expect(try store.table("t").add(["n": .integer(n)]) == 4)
        try store.checkpoint()
        #expect(try store.table("t").snapshot().values().get().map { $0["n"] } == [1, 2, 3, .integer(n)])
        try store.refresh()
        try store.checkInvariants()
      }
    }
  }

  private func link(_ folder: URL, to copy: URL) throws {
    try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: false)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let (from, to) = (folder.appendingPathComponent(name), copy.appendingPathComponent(name))
      if try StoreDisk.system.status(from.path)?.kind == .folder {
        try link(from, to: to)
      } else {
        try FileManager.default.linkItem(at: from, to: to)
      }
    }
  }
}
