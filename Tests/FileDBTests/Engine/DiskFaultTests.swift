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
        for table in ["a", "b", "c"] { try tx[table].add(["commit": 1]) }
      } else {
        try tx["a"].set(["commit": .integer(Int64(number))], of: 1)
        try tx["b"].add(["commit": .integer(Int64(number))])
        if try tx["c"].snapshot().exists { try tx["c"].drop() }
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
    let commits = try ["a", "b"].map { try store.table($0).lastSnapshot.last?.fields["commit"]?.integer ?? 0 }
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
      try failVerbs(errno: errno, lasting: lasting, longestFrame: longestFrame)
    }
  }

  /// Every call fails by EIO. Few places ask which error it was, so every third call fails by another one, unless
  /// everything is tried.
  private func failVerbs(errno: CInt, lasting: Bool, longestFrame: Int) throws {
    let step = errno == EIO || TestLength.isFull ? 1 : 3
    var random = SeededRandom.fromEnvironment("failures by \(errno)")
    for verb in stride(from: Int.random(in: 0..<step, using: &random), to: .max, by: step) {
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
    #expect(error?.code == .outcomeUnknown)
    #expect(error?.errno == EIO)
    #expect(storeError { try store.table("a").add([:]) }?.code == .closed)
    #expect(storeError { try store.checkpoint() }?.code == .closed)
    try store.refresh()
    #expect(try store.table("a").value(of: 1)["commit"] == 2, "reading goes on")
    let anew = try Self.open(memory)
    try anew.table("a").add([:])
    try anew.checkInvariants()
  }

  /// A page whose sync failed may be lost although it can still be read: it must be written again before anything is
  /// built on it.
  @Test func nextCommitRewritesCommitThatWasNotSynced() throws {
    let memory = try Self.prepared()
    try Self.commit(2, in: Self.open(FaultyDisk(over: memory, faults: .skip(.syncData))))
    let disk = FaultyDisk(over: memory)
    try Self.commit(3, in: Self.open(disk))
    let journal = try JournalScan(memory.read("/store/.filedb/journal").bytes, at: 0, after: nil)
    let written = disk.written[.writeAt]?.reduce(0, +) ?? 0
    #expect(written >= journal.end - journal.frames[2].offset)
  }

  @Test(arguments: [1 << 20, 100]) func onlyFailedSyncsEndTheStoresWork(longestFrame: Int) throws {
    for verb in 0... {
      let memory = try Self.prepared()
      let disk = FaultyDisk(over: memory, faults: .fail(at: verb, halfWritten: true))
      guard let store = try? Self.open(disk, longestFrame: longestFrame) else { continue }
      let failed = storeError { try store.table("b").add(["n": 1]) }
      if disk.faultCount == 0 { break }
      if [.syncData, .syncFolder].contains(disk.verbs[verb]) {
        #expect(storeError { try store.table("b").add(["n": 2]) }?.code == .closed)
        try Self.open(memory).checkInvariants()
        continue
      }
      let before = try store.table("b").count
      #expect(before == (failed == nil ? 2 : 1))
      try store.table("b").add(["n": 2])
      #expect(try store.table("b").count == before + 1)
      try store.checkInvariants()
      try store.checkNothingIsLeftBehind()
    }
  }

  // MARK: - What a commit builds on

  /// The bytes of the table "a" as another program makes them.
  private static func edited(_ memory: MemoryDisk) throws -> [UInt8] {
    let text = String(decoding: try memory.read("/store/a.plist").bytes, as: UTF8.self)
    return Array(text.replacing("<integer>1<", with: "<integer>7<").utf8)
  }

  /// A disk on which a sync failed. The system reports this once, and a later sync does not write what was dropped.
  private static func failing(sync number: Int, of memory: MemoryDisk) -> FaultyDisk {
    let count = Atomic<Int>(0)
    let lost = Mutex<String?>(nil)
    return FaultyDisk(
      over: memory,
      faults: .choose { verb, path in
        guard verb == .syncData || verb == .syncFolder else { return nil }
        if lost.withLock({ $0 == path }) { return .skip }
        guard count.add(1, ordering: .relaxed).oldValue == number else { return nil }
        lost.withLock { $0 = path }
        return .fail(errno: EIO)
      })
  }

  /// Each sync of a commit fails in turn: in a new store, and in one where an editor saved a table's file in place and
  /// did not sync it.
  @Test(arguments: [false, true]) func noCommitIsMadeAfterAFailedSync(isNew: Bool) throws {
    for number in 0... {
      let memory = isNew ? MemoryDisk() : try Self.prepared()
      if !isNew { try memory.open("/store/a.plist").write(Self.edited(memory), at: 0) }
      let disk = Self.failing(sync: number, of: memory)
      let store = try Self.open(disk)
      let error = storeError { try store.table("a").add(["n": 1]) }
      if disk.faultCount == 0 { break }
      #expect(error?.errno == EIO, "sync \(number)")
      for attempt in [{ try store.table("a").add(["n": 2]) }, { try store.checkpoint() }]
        as [() throws -> Any]
      {
        #expect(storeError { _ = try attempt() }?.code == .closed, "sync \(number)")
      }
      try store.refresh()
      for survivor in [memory.surviving(.kept), memory.surviving(.lost)] {
        let anew = try Self.open(survivor)
        let found = storeError { try anew.table("a").add(["n": 3]) }
        #expect(found == nil, "after sync \(number)")
        try anew.checkInvariants()
        try anew.checkNothingIsLeftBehind()
      }
    }
  }

  /// Nothing was lost.
  @Test func fileThatCannotBeOpenedDoesNotCloseStore() throws {
    let memory = try Self.prepared()
    _ = try memory.replace("/store/a.plist", with: Self.edited(memory))
    let failures = Atomic<Int>(0)
    let disk = FaultyDisk(
      over: memory,
      faults: .choose { verb, path in
        guard verb == .open, path == "/store/a.plist" else { return nil }
        return failures.add(1, ordering: .relaxed).oldValue == 0 ? .fail(errno: EMFILE) : nil
      })
    let store = try Self.open(disk)
    #expect(storeError { try store.table("a").add(["n": 1]) }?.errno == EMFILE)
    try store.table("a").add(["n": 2])
    #expect(try store.table("a").lastSnapshot.map { $0.fields["n"] } == [nil, 2])
    try store.checkInvariants()
    try store.checkNothingIsLeftBehind()
  }

  enum Saving: CaseIterable {
    /// The system wrote an earlier version in the meantime.
    case inPlace
    case underAnotherName

    func save(_ bytes: [UInt8], instead other: [UInt8], to path: String, on memory: MemoryDisk) throws {
      switch self {
      case .inPlace:
        let file = try memory.open(path)
        try file.write(other, at: 0)
        try file.syncData(.full)
        try file.write(bytes, at: 0)
      case .underAnotherName:
        try memory.create(path + "~", as: .usual).append(bytes)
        try memory.rename(path + "~", to: path)
      }
    }
  }

  /// Another program saves the very bytes that the store wrote and synced, and syncs nothing.
  @Test(arguments: Saving.allCases) func commitSurvivesWhereFileWasSavedAgain(saving: Saving) throws {
    let memory = MemoryDisk()
    let store = try Self.open(memory)
    try store.table("a").add(["n": 1])
    try store.checkpoint()
    let bytes = try memory.read("/store/a.plist").bytes
    try saving.save(bytes, instead: Self.edited(memory), to: "/store/a.plist", on: memory)
    try store.table("a").set(["n": 2], of: 1)
    for survivor in [memory.surviving(.kept), memory.surviving(.lost)] {
      let anew = try Self.open(survivor)
      #expect(try anew.table("a").value(of: 1)["n"] == 2)
      try anew.checkInvariants()
      try anew.checkNothingIsLeftBehind()
    }
    try store.checkInvariants()
  }
}
