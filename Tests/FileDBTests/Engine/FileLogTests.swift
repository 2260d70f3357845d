import FileDB
import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct FileLogTests {
  private static let place = URL(fileURLWithPath: "/store")

  private func open(
    _ disk: any Disk, checkpoints: CheckpointPolicy = .manual, durability: Durability = .full
  ) throws -> RecordStore {
    var options = StoreOptions(checkpoints: checkpoints, durability: durability)
    options.checkpointPause = .seconds(3_600)  // Even a busy machine makes no checkpoint between two lines of a test.
    return try RecordStore(at: Self.place, disk: disk, options: options)
  }

  @Test(arguments: [(Durability.full, 1), (.barrier, 1), (.none, 0)])
  func aCommitIsOneWriteAndOneSync(durability: Durability, syncs: Int) throws {
    let disk = FaultyDisk(over: MemoryDisk())
    let store = try open(disk, durability: durability)
    func commit() throws {
      try store.write { tx in
        for table in ["a", "b"] { try tx[table].add(["n": 2]) }
      }
    }
    try commit()  // Makes sure of the files that the journal builds on.
    let before = disk.verbs.count
    try commit()
    let verbs = disk.verbs[before...]
    #expect(verbs.count { $0 == .writeAt } == 1)
    #expect(verbs.count { $0 == .syncData } == syncs)
    #expect(Set(verbs).isDisjoint(with: [.create, .append, .sync, .rename, .remove, .syncFolder]))
  }

  @Test func storeFollowsAnotherWithoutRereadingFiles() throws {
    let disk = FaultyDisk(over: MemoryDisk())
    let (one, other) = (try open(disk), try open(disk))
    let table = try other.table("t")
    #expect(try table.count == 0)
    let before = disk.verbs.count
    try one.write { tx in
      try tx["t"].add(contentsOf: [["n": 1], ["n": 2]])
      try tx["t"].move(2, to: .top)
    }
    try other.refresh()
    #expect(table.lastSnapshot.ids == [2, 1])
    try other.table("t").delete(1)
    try one.refresh()
    #expect(try one.table("t").lastSnapshot.ids == [2])
    #expect(!disk.verbs[before...].contains(.read))
    try one.checkpoint()
    try other.refresh()
    #expect(table.lastSnapshot.ids == [2])
    try other.checkInvariants()
  }

  @Test func writerFirstReadsCommitsItMissed() throws {
    let disk = MemoryDisk()
    let (one, other) = (try open(disk), try open(disk))
    let table = try other.table("t")
    for number in 1...3 {
      try one.table("t").add(["n": .integer(Int64(number))])
      try one.checkpoint()
    }
    try one.table("t").add(["n": 4])
    #expect(try table.add(["n": 5]) == 5)
    #expect(table.lastSnapshot.ids == [1, 2, 3, 4, 5])
    try one.refresh()
    try one.checkInvariants()
  }

  /// Writers that come during one sync share the next.
  @Test func concurrentWritersShareOneSync() throws {
    let isAppending = Event("a writer to append its commit")
    let isFirst = Atomic<Bool>(true)
    let disk = FaultyDisk(over: MemoryDisk()) { _, verb in
      if verb == .writeAt { isAppending.report() }
      guard verb == .syncData, isFirst.exchange(false, ordering: .relaxed) else { return }
      try? isAppending.wait(times: 8)
    }
    let store = try open(disk)
    let ends = (1...8).map { number in
      startThread("writer \(number)") { _ = try? store.table("t").add(["n": .integer(number)]) }
    }
    for end in ends { try end.wait() }
    #expect(try store.table("t").count == 8)
    // The last one has begun to append, but may be just too late for the second.
    #expect((2...3).contains(disk.verbs.count { $0 == .syncData }))
    try store.checkInvariants()
  }

  /// Another process may have failed to sync its commit. A sync that makes room for the next one does not write it.
  @Test func syncSaysNothingOfCommitsThatWereNotWrittenAgain() throws {
    let memory = MemoryDisk()
    try open(memory).table("t").add(["n": 1])
    @Sendable func last() throws -> JournalFrame {
      try #require(try Journal.open("/store/.filedb/journal", on: memory)?.frames.last)
    }
    let during = Mutex<(@Sendable () throws -> Void)?>(nil)
    let disk = FaultyDisk(over: memory) { _, verb in
      guard verb == .syncData, (try? last().sequence) == 2 else { return }
      // The sync of the second commit: meanwhile, another thread adds the third.
      do { try during.withLock { exchange(&$0, with: nil) }?() } catch { Issue.record(error) }
    }
    let store = try open(disk)
    let ends = Mutex<[Event]>([])
    during.withLock {
      $0 = {
        let end = startThread("the third commit") { _ = try? store.table("t").add(["n": 3]) }
        ends.withLock { $0.append(end) }
        try wait(for: "the third commit in the journal") { try last().sequence == 3 }
        #expect(try last().synced == 0)
      }
    }
    try store.table("t").add(["text": .string(String(repeating: "long ", count: 20_000))])
    for end in ends.withLock({ $0 }) { try end.wait() }
    #expect(try store.table("t").count == 3)
    try store.checkInvariants()
  }

  @Test func commitIsInvisibleUntilSynced() throws {
    let seen = Mutex<[Int]>([])
    let look = Mutex<(@Sendable () -> Int)?>(nil)
    let disk = FaultyDisk(over: MemoryDisk()) { _, verb in
      if verb == .syncData, let look = look.withLock({ $0 }) { seen.withLock { $0.append(look()) } }
    }
    let store = try open(disk)
    let table = try store.table("t")
    look.withLock { $0 = { (try? table.count) ?? -1 } }
    try table.add(["n": 1])
    try table.add(["n": 2])
    #expect(seen.withLock { $0 } == [0, 1])
    look.withLock { $0 = nil }  // It holds the disk, which holds it.
  }

  @Test func journalKnowsCreatedAndDroppedTables() throws {
    let disk = MemoryDisk()
    let store = try open(disk)
    try store.table("kept").add([:])
    try store.table("dropped").add([:])
    try store.checkpoint()
    try store.write { tx in
      try tx["dropped"].drop()
      try tx["new"].create()
    }
    #expect(try open(disk).tableNames == ["kept", "new"])
    #expect(try store.folder(of: disk) == ["dropped.plist", "kept.plist"], "the files are as they were")
    #expect(
      try store.pendingCommits().map { $0.changes.map { "\($0.table): \($0.change)" } } == [
        ["dropped: drop", "new: create"]
      ])
    try store.checkpoint()
    #expect(try store.folder(of: disk) == ["kept.plist", "new.plist"])
    #expect(try store.pendingCommits().isEmpty)
    try store.checkInvariants()
  }

  @Test func checkpointPolicyDecidesWhenFilesAreWritten() throws {
    func hasFile(_ disk: MemoryDisk) throws -> Bool { try disk.status("/store/t.plist") != nil }
    for (policy, afterCommit, afterClose) in [
      (CheckpointPolicy.everyCommit, true, true), (.automatic, false, true), (.manual, false, false),
    ] {
      let (closed, released) = (MemoryDisk(), MemoryDisk())
      let store = try open(closed, checkpoints: policy)
      try store.table("t").add(["n": 1])
      #expect(try hasFile(closed) == afterCommit)
      try store.close()
      #expect(try hasFile(closed) == afterClose)
      #expect(storeError { try store.table("t").add([:]) }?.code == .closed)
      #expect(try store.table("t").count == 1, "reading goes on")

      try open(released, checkpoints: policy).table("t").add(["n": 1])
      #expect(try hasFile(released) == afterClose)
      #expect(try open(released).table("t").count == 1)
    }
  }

  @Test func overgrownJournalTriggersCheckpoint() throws {
    let disk = MemoryDisk()
    let store = try open(disk, checkpoints: .automatic)
    let text = PlistValue.string(String(repeating: "x", count: 400_000))
    try store.table("t").add(["text": text])
    #expect(try !store.pendingCommits().isEmpty)
    for _ in 0..<2 { try store.table("t").add(["text": text]) }
    try wait(for: "the checkpoint") { try store.pendingCommits().isEmpty }
    try store.checkInvariants()
  }

  @Test func idleStoreMakesCheckpoint() throws {
    let disk = MemoryDisk()
    var options = StoreOptions()
    options.checkpointPause = .zero
    let store = try RecordStore(at: Self.place, disk: disk, options: options)
    try store.table("t").add(["n": 1])
    try wait(for: "the checkpoint") { try disk.status("/store/t.plist") != nil }
    try store.checkInvariants()
  }

  @Test func journalOfNewerFormatIsRefusedAndUntouched() throws {
    let disk = MemoryDisk()
    try open(disk).table("t").add([:])
    let payload = Array("FileDB journal 4\n65536\n5eed1234\n".utf8)
    let frame = JournalFrame(kind: .start, sequence: 1, synced: 1, payload: payload[...]).bytes(salt: 0)
    _ = try disk.replace("/store/.filedb/journal", with: frame)
    let store = try open(disk)
    #expect(storeError { try store.table("t").add([:]) }?.code == .newerFormat)
    #expect(storeError { _ = try store.repairJournal() }?.code == .newerFormat)
    #expect(try disk.read("/store/.filedb/journal").bytes == frame)
  }

  /// A table that is made and dropped again has no file before and none afterwards.
  @Test func tableMadeAndDroppedBehindCheckpointsIsSeenAsGone() throws {
    let disk = MemoryDisk()
    let (one, other) = (try open(disk), try open(disk))
    let table = try other.table("t")
    try one.table("t").add(["n": 1])
    try other.refresh()
    #expect(try table.exists)
    try one.table("t").drop()
    try one.checkpoint()
    try one.table("u").add(["n": 1])
    try one.checkpoint()
    try other.refresh()
    #expect(try !table.exists)
    try other.checkInvariants()
  }

  /// A commit right after a checkpoint is for files that the other store has not read.
  @Test func refreshBringsAllTablesToTheSameCommitAfterACheckpoint() throws {
    let disk = MemoryDisk()
    let (one, other) = (try open(disk), try open(disk))
    func commit() throws {
      try one.write { tx in for table in ["a", "b"] { try tx[table].add(["n": 1]) } }
    }
    try commit()
    let tables = [try other.table("a"), try other.table("b")]
    for _ in 0..<5 {
      try one.checkpoint()
      try other.refresh()
      try commit()
      try other.refresh()
      #expect(try tables[0].count == tables[1].count)
    }
  }

  @Test func recordsFileThatIsMissingIsDamageThatCanBeRepaired() throws {
    let disk = MemoryDisk()
    var options = StoreOptions(checkpoints: .manual)
    options.longestFrame = 256
    let store = try RecordStore(at: Self.place, disk: disk, options: options)
    try store.table("t").add(["n": 0])
    try store.table("t").add(contentsOf: (1...40).map { ["n": .integer($0)] })
    let name = try #require(try disk.list("/store/.filedb").first { $0.hasPrefix("records-") })
    try disk.remove("/store/.filedb/\(name)")
    let fresh = try open(disk)
    #expect(storeError { _ = try fresh.table("t") }?.code == .damagedJournal)
    let repair = try #require(try fresh.repairJournal())
    #expect(repair.lostCount == 1)
    #expect(try open(disk).table("t").count == 1)
  }

  /// The commits of another journal have the numbers of those before, and no table has a file.
  @Test(arguments: [1, 2, 5]) func anotherStoreInTheSamePlaceIsRead(count: Int) throws {
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("store")
    func open() throws -> RecordStore {
      try RecordStore(at: url, options: StoreOptions(checkpoints: .manual))
    }
    let store = try open()
    let table = try store.table("t")
    try table.add(contentsOf: [["n": -1], ["n": -2]])
    try table.add(["n": -3])
    try FileManager.default.removeItem(at: url)
    let other = try open().table("t")
    for n in 1...count { try other.add(["n": .integer(Int64(n))]) }
    try store.refresh()
    #expect(table.lastSnapshot.map { $0.fields["n"] } == (0..<count).map { .integer(Int64($0 + 1)) })
    #expect(try table.add(["n": 9]).rawValue == Int64(count + 1))
    #expect(try open().table("t").count == count + 1)
    try store.checkInvariants()
  }

  @Test func commitThatFailsLeavesNoRecordsFileBehind() throws {
    var options = StoreOptions(checkpoints: .manual)
    options.longestFrame = 256
    func addMany(_ store: RecordStore) throws {
      try store.table("t").add(contentsOf: (1...40).map { ["n": .integer($0)] })
    }
    // The last write of the second commit is its frame.
    let sound = FaultyDisk(over: MemoryDisk())
    let first = try RecordStore(at: Self.place, disk: sound, options: options)
    try first.table("t").add(["n": 0])
    try addMany(first)
    let frame = try #require(sound.verbs.lastIndex(of: .writeAt))

    let memory = MemoryDisk()
    let full = FaultyDisk(over: memory, faults: .fail(at: frame, errno: ENOSPC))
    let store = try RecordStore(at: Self.place, disk: full, options: options)
    try store.table("t").add(["n": 0])
    #expect(storeError { try addMany(store) }?.code == .diskFull)
    #expect(try !memory.list("/store/.filedb").contains { $0.hasPrefix("records-") })
    try store.table("t").add(["n": 1])
    #expect(try store.table("t").count == 2)
    try store.checkInvariants()
  }

  /// Another program may have larger limits: its commit is not damage, and no repair takes it away.
  @Test(arguments: [8 << 20, 256]) func commitBeyondTheLimitsOfThisProgramIsNoDamage(longestFrame: Int) throws
  {
    let disk = MemoryDisk()
    var options = StoreOptions(limits: PlistLimits(depth: 300), checkpoints: .manual)
    options.longestFrame = longestFrame
    var deep = PlistValue.string("deep")
    for _ in 0..<280 { deep = .array([deep]) }
    let other = try RecordStore(at: Self.place, disk: disk, options: options)
    try other.table("t").add(["deep": deep])
    let before = disk.image

    let store = try open(disk)
    for error in [
      storeError { _ = try store.table("t") }, storeError { try store.repairJournal() },
      storeError { try store.table("u").add([:]) },
    ] {
      #expect(error?.code == .damagedTable && error?.message.contains("256") == true)
      #expect(error?.file == "/store/.filedb/journal")
    }
    let files = disk.image.files.filter { $0.key != "/store/.filedb/checkpoint" }  // The lock of who repairs.
    #expect(files == before.files)
    #expect(try RecordStore(at: Self.place, disk: disk, options: options).table("t").count == 1)
  }

  /// Text in a record that looks like a frame is not a frame, whatever a crash cuts off.
  @Test func textThatLooksLikeAFrameIsNone() throws {
    let disk = MemoryDisk()
    let store = try open(disk)
    try store.table("t").add(["n": 1])
    let journal = try disk.read("/store/.filedb/journal").bytes
    let end = JournalScan(journal, at: 0, after: nil).end
    let frames = [JournalFrame.Kind.start, .commit].map { kind in
      String(
        decoding: JournalFrame(kind: kind, sequence: 2, synced: 9, payload: []).bytes(salt: 0).prefix(64),
        as: UTF8.self)
    }
    try store.table("t").add(["text": .string("\n" + frames.joined() + frames.joined())])
    var cut = try disk.read("/store/.filedb/journal").bytes
    let whole = JournalScan(cut, at: 0, after: nil).end
    cut.replaceSubrange(whole - 64..<whole, with: [UInt8](repeating: 0, count: 64))
    for shift in 0..<64 {
      // Wherever the lines come to lie, at one shift they begin where a frame would.
      var shifted = cut
      shifted.insert(contentsOf: [UInt8](repeating: 0x20, count: shift), at: end + 80)
      let scan = JournalScan(shifted, at: 0, after: nil)
      #expect(scan.damage?.reason != .missing, "shift \(shift)")
    }
  }
}

extension RecordStore {
  /// The names in the folder, hidden ones left out.
  fileprivate func folder(of disk: MemoryDisk) throws -> [String] {
    try disk.list(url.path).filter { !$0.hasPrefix(".") }.sorted()
  }
}
