import FileDB
import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

/// What threads do while another one of them waits for the disk.
@Suite struct SharedSyncTests {
  private static let file = "/home/store/a.plist"

  /// A commit of this makes the journal longer.
  private static let long: Fields = ["text": .string(String(repeating: "long ", count: 40_000))]

  /// A store with the table "a", and with a journal.
  private static func prepared() throws -> MemoryDisk {
    let memory = MemoryDisk(.emptyHome)
    try open(memory).table("a").add([:])
    return memory
  }

  private static func open(_ disk: any Disk, longestFrame: Int = 1 << 20) throws -> RecordStore {
    var options = StoreOptions(checkpoints: .manual)
    options.longestFrame = longestFrame
    return try RecordStore(at: URL(fileURLWithPath: "/home/store"), disk: disk, options: options)
  }

  /// While the first commit is in its sync, a second one waits for its own, and a third one for that of the longer
  /// journal.
  private struct Meeting: Sendable {
    let errors: [StoreError?]
    let store: RecordStore

    init(on memory: MemoryDisk, faults: FaultyDisk.Faults) throws {
      let isInSync = Event("the sync of the first commit")
      let mayGoOn = Event("the end of the first commit's sync")
      let isWritten = Event("the write of another commit")
      let hasBegun = Mutex(false)
      let disk = FaultyDisk(over: memory, faults: faults) { _, verb in
        let isFirst = hasBegun.withLock { hasBegun in
          if verb == .writeAt, hasBegun { isWritten.report() }
          guard verb == .syncData, !hasBegun else { return false }
          hasBegun = true
          return true
        }
        guard isFirst else { return }
        isInSync.report()
        try? mayGoOn.wait()
      }
      let store = try SharedSyncTests.open(disk)
      let errors = Mutex<[StoreError?]>([nil, nil, nil])
      let adding = { @Sendable (number: Int, fields: Fields) in
        let error = storeError { try store.table("a").add(fields) }
        errors.withLock { $0[number] = error }
      }
      let first = startThread("the first commit") { adding(0, [:]) }
      try isInSync.wait()
      let second = startThread("the second commit") { adding(1, [:]) }
      try isWritten.wait()
      let third = startThread("the third commit") { adding(2, SharedSyncTests.long) }
      try isWritten.wait()
      mayGoOn.report()
      for end in [first, second, third] { try end.wait() }
      self.errors = errors.withLock { $0 }
      self.store = store
    }
  }

  /// The system reports a failed sync once, and may have dropped what any of the commits wrote before it.
  @Test func failedSyncFailsAllThatWaitForIt() throws {
    #expect(try Meeting(on: Self.prepared(), faults: .none).errors.allSatisfy { $0 == nil })

    // The sync after the first commit's, whichever of the two others makes it.
    let syncs = Atomic<Int>(0)
    let faults = FaultyDisk.Faults.choose { verb, _ in
      guard verb == .syncData else { return nil }
      return syncs.add(1, ordering: .relaxed).newValue == 2 ? .fail(errno: EIO) : nil
    }
    let memory = try Self.prepared()
    let meeting = try Meeting(on: memory, faults: faults)
    #expect(meeting.errors[0] == nil)
    #expect(meeting.errors[1]?.code == .outcomeUnknown)
    #expect(meeting.errors[2]?.errno == EIO)
    #expect(storeError { try meeting.store.table("a").add([:]) }?.code == .closed)
    try Self.open(memory).checkInvariants()
  }

  /// Not for the sync of a longer journal, of a file that another program saved, or of records in a file of their own.
  @Test(arguments: [1 << 20, 1_000])
  func readersDoNotWaitForWriters(longestFrame: Int) throws {
    let memory = try Self.prepared()
    try Self.open(memory).table("b").add(["n": 1])
    try Self.open(memory).checkpoint()
    _ = try memory.replace(Self.file, with: memory.read(Self.file).bytes)
    let reader = Mutex<RecordStore?>(nil)
    let syncs = Atomic<Int>(0)
    let disk = FaultyDisk(over: memory) { _, verb in
      let current = reader.withLock { $0 }
      guard [.sync, .syncData, .syncFolder].contains(verb), let store = current else { return }
      syncs.add(1, ordering: .relaxed)
      let end = startThread("a reader") {
        try! store.refresh()
        _ = try! store.table("b").lastSnapshot.count
      }
      #expect(throws: Never.self) { try end.wait() }
    }
    let store = try Self.open(disk, longestFrame: longestFrame)
    reader.withLock { $0 = store }
    try store.table("a").add(Self.long)
    #expect(syncs.load(ordering: .relaxed) >= 3)
    try store.checkpoint()
    reader.withLock { $0 = nil }
    try store.checkInvariants()
  }

  // MARK: - Between the steps of a commit

  /// Lets another thread do something before one of a store's calls that write or sync, and waits for it.
  private final class Interruption: Sendable {
    private struct State {
      /// How many calls are still to come before it.
      var left = 0
      var body: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Cancels what has not happened yet.
    /// - Returns: whether there was such a thing.
    func cancel() -> Bool { state.withLock { $0.body.take() != nil } }

    func set(beforeCall number: Int, _ body: @escaping @Sendable () -> Void) {
      state.withLock { $0 = State(left: number, body: body) }
    }

    func pass(_ verb: FaultyDisk.Verb) {
      guard [.append, .writeAt, .sync, .syncData, .syncFolder].contains(verb) else { return }
      let body = state.withLock { state -> (@Sendable () -> Void)? in
        defer { state.left -= 1 }
        guard state.left == 0 else { return nil }
        defer { state.body = nil }
        return state.body
      }
      if let body { #expect(throws: Never.self) { try startThread("the interruption", body).wait() } }
    }
  }

  /// A store whose tables "a" and "b" have a record each in their files.
  private static func withTwoTables() throws -> MemoryDisk {
    let memory = MemoryDisk(.emptyHome)
    let store = try open(memory)
    try store.table("a").add(["title": "first a"])
    try store.table("b").add(["title": "first b"])
    try store.checkpoint()
    return memory
  }

  /// An editor saves a table while a commit is written, and another thread reads what it saved.
  @Test(arguments: [1 << 20, 100])
  func commitIsSeenInAllTablesAfterAnEditorSaved(longestFrame: Int) throws {
    for number in 0... {
      let memory = try Self.withTwoTables()
      let interruption = Interruption()
      let disk = FaultyDisk(over: memory) { _, verb in interruption.pass(verb) }
      let store = try Self.open(disk, longestFrame: longestFrame)
      let (a, b) = (try store.table("a"), try store.table("b"))
      interruption.set(beforeCall: number) {
        let file = "/home/store/a.plist"
        let text = String(decoding: try! memory.read(file).bytes, as: UTF8.self)
        _ = try! memory.replace(file, with: Array(text.replacing("first a", with: "edited a").utf8))
        try? store.refresh()
      }
      let id = try store.write { tx in
        try tx["b"].add(["title": "second b"])
        return try tx["a"].add(["title": .string(String(repeating: "second a ", count: 100))])
      }
      if interruption.cancel() { break }
      #expect(try a.count == 2 && b.count == 2, "before call \(number)")
      #expect(storeError { _ = try a.record(with: id) } == nil, "before call \(number)")
      try store.refresh()
      #expect(try a.record(with: 1).fields["title"] == "edited a", "before call \(number)")
      #expect(try a.count == 2 && b.count == 2, "before call \(number)")
      try store.checkInvariants()
    }
  }

  /// A thread reads while another one writes, and has no file descriptor left for the journal, or for a file of
  /// records.
  @Test func failedReadDoesNotHarmACommitOfAnotherThread() throws {
    for number in 0... {
      let memory = try Self.withTwoTables()
      let first = try Self.open(memory, longestFrame: 1_000)
      try first.table("a").add(["title": "second a"])
      try first.table("b").add(Self.long)
      let interruption = Interruption()
      let unreadable = Mutex<String?>(nil)
      let faults = FaultyDisk.Faults.choose { verb, path in
        let isHit = unreadable.withLock { $0.map(path.contains) } ?? false
        return isHit && [.read, .status, .open].contains(verb) ? .fail(errno: EMFILE) : nil
      }
      let disk = FaultyDisk(over: memory, faults: faults) { _, verb in interruption.pass(verb) }
      let store = try Self.open(disk, longestFrame: 1_000)
      let (a, b) = (try store.table("a"), try store.table("b"))
      interruption.set(beforeCall: number) {
        for file in ["/journal", "/records-"] {
          unreadable.withLock { $0 = file }
          try? store.refresh()
        }
        unreadable.withLock { $0 = nil }
      }
      try a.add(["title": "third a"])
      if interruption.cancel() { break }
      let fresh = try Self.open(memory)
      let counts = [try fresh.table("a").count, try fresh.table("b").count]
      #expect(counts == [3, 2], "before call \(number)")
      #expect(try a.count == 3 && b.count == 2, "before call \(number)")
      try store.checkInvariants()
    }
  }
}
