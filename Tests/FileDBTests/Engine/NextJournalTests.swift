import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

/// At the end of a checkpoint, the next journal takes the place of a long one.
@Suite struct NextJournalTests {
  private static func journal(_ disk: MemoryDisk) throws -> UInt64 {
    try #require(try disk.extent("/store/.filedb/journal")).inode
  }

  /// Commits wait for a large file, and the next journal would have all of them again. Nor does each command write again
  /// what those before it have written.
  @Test func journalThatCannotGetShorterStays() throws {
    let disk = MemoryDisk()
    let counting = FaultyDisk(over: disk)
    func open() throws -> RecordStore {
      var options = StoreOptions()
      (options.largeFile, options.checkpointPause) = (1 << 20, .seconds(3_600))
      return try RecordStore(at: CheckpointBesideWritersTests.place, disk: counting, options: options)
    }
    let record: Fields = ["text": .string(String(repeating: "long ", count: 200))]
    var store = try open()
    try store.table("large").add(contentsOf: Array(repeating: record, count: 2_000))
    try store.checkpoint()
    let journal = try Self.journal(disk)
    let written = counting.written[.writeAt, default: []].reduce(0, +)
    for _ in 0..<100 {
      store = try open()
      try store.table("large").add(record)
      try store.close()
      #expect(try Self.journal(disk) == journal)
    }
    #expect(try disk.extent("/store/.filedb/journal")?.size ?? 0 > StoreOptions().keptJournal)
    // A commit has 1.3 kB. The journal is extended to 128 and to 256 KB.
    #expect(counting.written[.writeAt, default: []].reduce(0, +) - written < 100 * 2_000 + 3 * 65_536)
    store = try open()
    #expect(try store.table("large").commitsBehind == 100)
    try store.checkInvariants()
  }

  /// The files have their names by then, so the checkpoint does not fail.
  @Test func nextJournalIsLeftToALaterCheckpointIfTheLockIsNotFree() throws {
    let memory = try CheckpointBesideWritersTests.prepared()
    let former = try Self.journal(memory)
    let held = Mutex<FileLock?>(nil)
    let isHeld = Atomic<Bool>(false)
    let disk = FaultyDisk(over: memory) { _, verb in
      // Of the syncs of the journal, only the last one is made without the lock.
      guard verb == .syncData, !isHeld.load(ordering: .relaxed) else { return }
      do {
        try held.withLock { held in
          guard let lock = try memory.tryLock("/store/.filedb/lock") else { return }
          held = consume lock
          isHeld.store(true, ordering: .relaxed)
        }
      } catch { Issue.record(error) }
    }
    try CheckpointBesideWritersTests.open(disk, keptJournal: 0).checkpoint()
    let wasHeld = isHeld.load(ordering: .relaxed)
    #expect(wasHeld)
    #expect(try Self.journal(memory) == former && CheckpointBesideWritersTests.countInFile(memory) == 5)
    held.withLock { $0 = nil }
    let store = try CheckpointBesideWritersTests.open(memory, keptJournal: 0)
    try store.checkpoint()
    #expect(try Self.journal(memory) != former)
    try store.checkInvariants()
  }
}
