import FileDB
import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

/// What threads do while another one of them waits for the disk.
@Suite struct SharedSyncTests {
  /// A commit of this makes the journal longer.
  private static let long: Fields = ["text": .string(String(repeating: "long ", count: 40_000))]

  /// A store with the table "a", and with a journal.
  private static func prepared() throws -> MemoryDisk {
    let memory = MemoryDisk(.emptyHome)
    try open(memory).table("a").add([:])
    return memory
  }

  private static func open(_ disk: any Disk) throws -> RecordStore {
    try RecordStore(
      at: URL(fileURLWithPath: "/home/store"), disk: disk, options: StoreOptions(checkpoints: .manual))
  }

  /// Runs something in a thread of its own.
  private static func start(_ body: @escaping @Sendable () -> Void) -> DispatchSemaphore {
    let end = DispatchSemaphore(value: 0)
    Thread {
      body()
      end.signal()
    }.start()
    return end
  }

  /// While the first commit is in its sync, a second one waits for its own, and a third one for that of the longer journal.
  private struct Meeting: Sendable {
    let disk: FaultyDisk
    let errors: [StoreError?]
    /// The number of the first commit's sync.
    let firstSync: Int
    let store: RecordStore

    init(on memory: MemoryDisk, faults: FaultyDisk.Faults) throws {
      let (isInSync, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let isWritten = DispatchSemaphore(value: 0)
      let firstSync = Mutex<Int?>(nil)
      disk = FaultyDisk(over: memory, faults: faults) { number, verb in
        let isFirst = firstSync.withLock { first in
          if verb == .writeAt, first != nil { isWritten.signal() }
          guard verb == .syncData, first == nil else { return false }
          first = number
          return true
        }
        guard isFirst else { return }
        isInSync.signal()
        mayGoOn.wait()
      }
      let store = try SharedSyncTests.open(disk)
      let errors = Mutex<[StoreError?]>([nil, nil, nil])
      let adding = { @Sendable (number: Int, fields: Fields) in
        let error = storeError { try store.table("a").add(fields) }
        errors.withLock { $0[number] = error }
      }
      let first = SharedSyncTests.start { adding(0, [:]) }
      isInSync.wait()
      let second = SharedSyncTests.start { adding(1, [:]) }
      isWritten.wait()
      let third = SharedSyncTests.start { adding(2, SharedSyncTests.long) }
      isWritten.wait()
      mayGoOn.signal()
      for end in [first, second, third] { end.wait() }
      self.errors = errors.withLock { $0 }
      self.firstSync = try #require(firstSync.withLock { $0 })
      self.store = store
    }
  }

  /// The system reports a failed sync once, and may have dropped what any of the commits wrote before it.
  @Test(.timeLimit(.minutes(2))) func failedSyncFailsAllThatWaitForIt() throws {
    let rehearsal = try Meeting(on: Self.prepared(), faults: .none)
    #expect(rehearsal.errors.allSatisfy { $0 == nil })
    let next = try #require(rehearsal.disk.verbs[(rehearsal.firstSync + 1)...].firstIndex(of: .syncData))

    let memory = try Self.prepared()
    let meeting = try Meeting(on: memory, faults: .fail(at: next))
    #expect(meeting.errors[0] == nil)
    #expect(meeting.errors[1]?.code == StoreError.outcomeUnknown)
    #expect(meeting.errors[2]?.errno == EIO)
    #expect(storeError { try meeting.store.table("a").add([:]) }?.code == StoreError.closed)
    try Self.open(memory).checkInvariants()
  }

  /// Not for the sync of a longer journal, of a file that another program saved, or of records in a file of their own.
  @Test(.timeLimit(.minutes(2)), arguments: [1 << 20, 1_000])
  func readersDoNotWaitForWriters(longestFrame: Int) throws {
    let memory = try Self.prepared()
    try Self.open(memory).table("b").add(["n": 1])
    try Self.open(memory).checkpoint()
    var options = StoreOptions(checkpoints: .manual)
    options.longestFrame = longestFrame
    let reader = Mutex<RecordStore?>(nil)
    let syncs = Atomic<Int>(0)
    let disk = FaultyDisk(over: memory) { _, verb in
      let current = reader.withLock { $0 }
      guard [.sync, .syncData, .syncFolder].contains(verb), let store = current else { return }
      syncs.add(1, ordering: .relaxed)
      let end = Self.start {
        try! store.refresh()
        _ = try! store.table("b").snapshot.count
      }
      end.wait()
    }
    let store = try Self.open(disk)
    reader.withLock { $0 = store }
    try store.table("a").add(Self.long)
    #expect(syncs.load(ordering: .relaxed) >= 3)
    try store.checkpoint()
    reader.withLock { $0 = nil }
    try store.checkInvariants()
  }
}
