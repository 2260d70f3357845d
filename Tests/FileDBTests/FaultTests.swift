import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// What a store does when its disk fails, verb by verb.
@Suite struct FaultTests {
  private static let place = URL(fileURLWithPath: "/store")

  /// Two commits to two tables; the second one changes both, and drops a third.
  private static func commit(_ number: Int, on disk: any Disk) throws {
    let store = try RecordStore(at: place, disk: disk, options: StoreOptions())
    try store.write { tx in
      if number == 1 {
        for table in ["a", "b", "c"] { try tx.add(["commit": 1], to: .records(table)) }
      } else {
        try tx.set(["commit": 2], of: 1, in: .records("a"))
        try tx.add(["commit": 2], to: .records("b"))
        try tx.drop(.records("c"))
      }
    }
  }

  /// The commit that each table shows, 0 for a table that is not there.
  private static func state(of disk: any Disk) throws -> [Int64] {
    let store = try RecordStore(at: place, disk: disk, options: StoreOptions())
    return try ["a", "b", "c"].map { try store.table($0).snapshot.last?.record["commit"]?.integer ?? 0 }
  }

  @Test(arguments: [EIO, ENOSPC, EDQUOT, EMFILE, EACCES], [false, true])
  func aFaultAtEveryVerbLeavesWholeTables(errno: CInt, lasting: Bool) throws {
    for verb in 0... {
      let memory = MemoryDisk()
      try Self.commit(1, on: memory)
      let faults = FaultyDisk.Faults.fail(at: verb, errno: errno, lasting: lasting, halfWritten: true)
      let disk = FaultyDisk(over: memory, faults: faults)
      let error = storeError { try Self.commit(2, on: disk) }
      // Each table is as it was or as it should be, and a store that goes on finds it sound.
      let state = try Self.state(of: memory)
      #expect(
        [1, 2].contains(state[0]) && [1, 2].contains(state[1]) && [0, 1].contains(state[2]),
        "verb \(verb): \(state)")
      if disk.faultCount == 0 {
        #expect(error == nil)
        #expect(state == [2, 2, 0])
        break
      }
      if error == nil { #expect(state == [2, 2, 0], "verb \(verb): a write that returned is done") }
      if disk.verbs[verb] == .append || disk.verbs[verb] == .create {
        #expect(state == [1, 1, 1], "verb \(verb): nothing is replaced before all drafts are written")
      }
      try Self.commit(1, on: memory)
      try RecordStore(at: Self.place, disk: memory, options: StoreOptions()).checkInvariants()
    }
  }

  @Test func aPowerCutAfterEveryVerbLeavesWholeTables() throws {
    for verb in 0... {
      let memory = MemoryDisk()
      try Self.commit(1, on: memory)
      let disk = FaultyDisk(over: memory, faults: .fail(at: verb, lasting: true))
      let finished = storeError { try Self.commit(2, on: disk) } == nil
      for names in MemoryDisk.UnsyncedNames.allCases {
        let state = try Self.state(of: memory.surviving(names))
        #expect(
          [1, 2].contains(state[0]) && [1, 2].contains(state[1]) && [0, 1].contains(state[2]),
          "verb \(verb): \(state)")
        if finished { #expect(state == [2, 2, 0], "what was acknowledged survives") }
      }
      if disk.faultCount == 0 { break }
    }
  }

  /// See https://wiki.postgresql.org/wiki/Fsync_Errors: a failed sync is reported once, and a second one may lie.
  @Test func aFailedFolderSyncClosesTheStoreForWriting() throws {
    let (trial, memory) = (MemoryDisk(), MemoryDisk())
    for disk in [trial, memory] { try Self.commit(1, on: disk) }
    let verbs = FaultyDisk(over: trial)
    try Self.commit(2, on: verbs)
    let sync = try #require(verbs.verbs.lastIndex(of: .syncFolder))
    let disk = FaultyDisk(over: memory, faults: .fail(at: sync))
    let store = try RecordStore(at: Self.place, disk: disk, options: StoreOptions())
    let error = storeError {
      try store.write { tx in
        try tx.set(["commit": 2], of: 1, in: .records("a"))
        try tx.add(["commit": 2], to: .records("b"))
        try tx.drop(.records("c"))
      }
    }
    #expect(error?.code == StoreError.outcomeUnknown)
    #expect(error?.errno == EIO)
    #expect(storeError { try store.table("a").add([:]) }?.code == StoreError.closed)
    try store.refresh()
    #expect(try store.table("a").row(with: 1)["commit"] == 2, "reading goes on")
    let anew = try RecordStore(at: Self.place, disk: memory, options: StoreOptions())
    try anew.table("a").add([:])
    try anew.checkInvariants()
  }

  @Test func theStoreGoesOnAfterAFault() throws {
    let memory = MemoryDisk()
    try Self.commit(1, on: memory)
    for verb in 0... {
      let disk = FaultyDisk(over: memory, faults: .fail(at: verb))
      let store = try? RecordStore(at: Self.place, disk: disk, options: StoreOptions())
      guard let store, let table = try? store.table("a") else { continue }
      let before = table.count
      let failed = storeError { try table.add(["n": 1]) } != nil
      if disk.faultCount == 0 { break }
      if storeError({ try store.write { _ in } })?.code == StoreError.closed { continue }
      try store.refresh()
      #expect(failed ? [before, before + 1].contains(table.count) : table.count == before + 1)
      try table.add(["n": 2])
      try store.checkInvariants()
    }
  }
}
