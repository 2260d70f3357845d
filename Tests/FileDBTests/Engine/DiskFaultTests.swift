import FileDB
import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

/// What a store does when one call of its disk fails, for each call in turn.
@Suite struct DiskFaultTests {
  private static let place = URL(fileURLWithPath: "/store")

  private static func open(_ disk: any Disk, longestFrame: Int = 1 << 20) throws -> RecordStore {
    var options = StoreOptions(checkpoints: .manual)
    options.longestFrame = longestFrame
    return try RecordStore(at: place, disk: disk, options: options)
  }

  /// A transaction over three tables.
  private static func commit(_ number: Int, in store: RecordStore) throws {
    try store.write { tx in
      if number == 1 {
        for table in ["a", "b", "c"] { try tx.add(["commit": 1], to: .records(table)) }
      } else {
        try tx.set(["commit": .integer(Int64(number))], of: 1, in: .records("a"))
        try tx.add(["commit": .integer(Int64(number))], to: .records("b"))
        if try tx.snapshot(of: .records("c")).exists { try tx.drop(.records("c")) }
      }
    }
  }

  /// A disk with the first commit in the tables' files.
  private static func prepared() throws -> MemoryDisk {
    let memory = MemoryDisk()
    let store = try open(memory)
    try commit(1, in: store)
    try store.checkpoint()
    return memory
  }

  /// The commit that all tables show.
  private static func state(of disk: any Disk) throws -> Int64 {
    let store = try open(disk)
    let commits = try ["a", "b"].map { try store.table($0).snapshot.last?.fields["commit"]?.integer ?? 0 }
    let isDropped = try !store.table("c").exists
    guard Set(commits).count == 1, isDropped == (commits[0] >= 2) else {
      throw BrokenInvariant(description: "in part: \(commits), c dropped: \(isDropped)")
    }
    return commits[0]
  }

  /// Two commits and a checkpoint.
  /// - Returns: the last commit that was acknowledged.
  private static func work(on disk: any Disk, longestFrame: Int) -> Int64 {
    var acknowledged: Int64 = 1
    do {
      let store = try open(disk, longestFrame: longestFrame)
      for number in 2...3 {
        try commit(number, in: store)
        acknowledged = Int64(number)
      }
      try store.checkpoint()
    } catch {}
    return acknowledged
  }

  @Test(arguments: [EIO, ENOSPC, EDQUOT, EMFILE, EACCES], [false, true])
  func faultAtAnyDiskCallLosesAndTearsNoCommit(errno: CInt, lasting: Bool) throws {
    for longestFrame in [1 << 20, 100] {
      try failEveryVerb(errno: errno, lasting: lasting, longestFrame: longestFrame)
    }
  }

  private func failEveryVerb(errno: CInt, lasting: Bool, longestFrame: Int) throws {
    for verb in 0... {
      let memory = try Self.prepared()
      let faults = FaultyDisk.Faults.fail(at: verb, errno: errno, lasting: lasting, halfWritten: true)
      let disk = FaultyDisk(over: memory, faults: faults)
      let acknowledged = Self.work(on: disk, longestFrame: longestFrame)
      for survivor in [memory, memory.surviving(.kept), memory.surviving(.lost)] {
        let state = try Self.state(of: survivor)
        #expect([acknowledged, acknowledged + 1].contains(state), "verb \(verb)")
        let store = try Self.open(survivor)
        try Self.commit(4, in: store)
        try store.checkInvariants()
        try store.checkNothingIsLeftBehind()
        #expect(try Self.state(of: survivor) == 4, "verb \(verb)")
      }
      if disk.faultCount == 0 {
        #expect(acknowledged == 3)
        break
      }
    }
  }

  /// See https://wiki.postgresql.org/wiki/Fsync_Errors: a failed sync is reported once, and a second one may lie.
  @Test func failedSyncClosesStoreForWriting() throws {
    let trial = FaultyDisk(over: try Self.prepared())
    try Self.commit(2, in: Self.open(trial))
    let sync = try #require(trial.verbs.lastIndex(of: .syncData))
    let memory = try Self.prepared()
    let store = try Self.open(FaultyDisk(over: memory, faults: .fail(at: sync)))
    let error = storeError { try Self.commit(2, in: store) }
    #expect(error?.code == StoreError.outcomeUnknown)
    #expect(error?.errno == EIO)
    #expect(storeError { try store.table("a").add([:]) }?.code == StoreError.closed)
    #expect(storeError { try store.checkpoint() }?.code == StoreError.closed)
    try store.refresh()
    #expect(try store.table("a").value(of: 1)["commit"] == 2, "reading goes on")
    let anew = try Self.open(memory)
    try anew.table("a").add([:])
    try anew.checkInvariants()
  }

  /// A page whose sync failed may be lost although it can still be read: it must be written again before anything is built on
  /// it.
  @Test func nextCommitRewritesCommitThatWasNotSynced() throws {
    let memory = try Self.prepared()
    try Self.commit(2, in: Self.open(FaultyDisk(over: memory, faults: .skip(.syncData))))
    let disk = FaultyDisk(over: memory)
    try Self.commit(3, in: Self.open(disk))
    let journal = try JournalScan(memory.read("/store/.filedb/journal").bytes, at: 0, after: nil)
    let written = disk.written[.writeAt]?.reduce(0, +) ?? 0
    #expect(written >= journal.end - journal.frames[1].offset)
  }

  @Test(arguments: [1 << 20, 100]) func storeKeepsWorkingAfterFault(longestFrame: Int) throws {
    for verb in 0... {
      let memory = try Self.prepared()
      let disk = FaultyDisk(over: memory, faults: .fail(at: verb, halfWritten: true))
      guard let store = try? Self.open(disk, longestFrame: longestFrame) else { continue }
      let failed = storeError { try store.table("b").add(["n": 1]) }
      if disk.faultCount == 0 { break }
      if failed?.code == StoreError.outcomeUnknown { continue }
      let before = try store.table("b").count
      #expect(before == (failed == nil ? 2 : 1))
      try store.table("b").add(["n": 2])
      #expect(try store.table("b").count == before + 1)
      try store.checkInvariants()
      try store.checkNothingIsLeftBehind()
    }
  }
}
