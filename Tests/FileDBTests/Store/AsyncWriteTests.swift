import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

/// Writes in async code, and what else has an async form.
@Suite struct AsyncWriteTests {
  private struct Stop: Error {}

  @Test func concurrentWritesAreAllCommitted() async throws {
    let store = RecordStore.inMemory()
    let ids = try await withThrowingTaskGroup(of: RecordID<Fields>.self) { group in
      for number in 0..<50 {
        group.addTask {
          try await store.write { tx in try tx["t"].add(["n": .integer(Int64(number))]) }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(ids.sorted().map(\.rawValue) == Array(1...50))
    let numbers = try await store.table("t").lastSnapshot.compactMap { $0.fields["n"]?.integer }
    #expect(numbers.sorted() == Array(0..<50))
    try store.checkInvariants()
  }

  @Test func writeRethrowsErrorOfItsBody() async throws {
    let store = RecordStore.inMemory()
    await #expect(throws: Stop.self) { try await store.write { _ in throw Stop() } }
    #expect(try store.tableNames == [])
  }

  /// While one waits for the disk, the bodies of all others run, and one sync serves them.
  @Test func writesThatWaitTogetherShareASync() async throws {
    let memory = MemoryDisk(.emptyHome)
    let folder = URL(fileURLWithPath: "/home/store")
    let options = StoreOptions(checkpoints: .manual)
    try await RecordStore(at: folder, disk: memory, options: options).table("t").add(["n": 0])
    let count = 60
    let (runs, hasRun) = AsyncStream<Void>.makeStream()
    let firstSync = Gate()
    let disk = FaultyDisk(over: memory) { _, verb in if verb == .syncData { firstSync.pass() } }
    let store = try RecordStore(at: folder, disk: disk, options: options)
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { firstSync.open() }
      for number in 1...count {
        group.addTask {
          _ = try await store.write { tx in
            hasRun.yield()
            return try tx["t"].add(["n": .integer(Int64(number))])
          }
        }
      }
      var iterator = runs.makeAsyncIterator()
      for _ in 1...count { try await iterator.nextInTime() }
      firstSync.open()
      try await group.waitForAll()
    }
    // The last one may be just too late for the second.
    #expect(disk.verbs.count { $0 == .syncData } <= 3)
    let other = try RecordStore(at: folder, disk: memory, options: options)
    #expect(try await other.table("t").count == count + 1)
    try store.checkInvariants()
  }

  /// Even while another thread or another process has the lock.
  @Test(arguments: [1, 3])
  func writeCancelledBeforeItBeginsEndsAtOnce(waiting: Int) async throws {
    let store = RecordStore.inMemory()
    let write = Gate()
    defer { write.open() }
    await withCheckedContinuation { entered in
      _ = startThread("the write of another") {
        try? store.write { _ in
          entered.resume()
          write.pass()
        }
      }
    }
    let tasks = (0..<waiting).map { _ in
      Task { try await store.write { tx in try tx["t"].add(["n": 1]) } }
    }
    for task in tasks {
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    write.open()
    try await store.write { _ in }
    #expect(try store.tableNames == [])
    try store.checkInvariants()
  }

  @Test func cancelledTaskWritesNothing() async throws {
    let store = RecordStore.inMemory()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await store.write { tx in try tx["t"].add(["n": 1]) }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try store.tableNames == [])
  }

  /// A write that has begun is committed, even if its task is cancelled.
  @Test func writeCancelledInItsBodyIsCommitted() async throws {
    let store = RecordStore.inMemory()
    let cancel = Mutex<(@Sendable () -> Void)?>(nil)
    let mayBegin = Event("the task to be known")
    let task = Task {
      try await store.write { tx in
        try mayBegin.wait()
        cancel.withLock { $0?() }
        return try tx["t"].add(["n": 1])
      }
    }
    cancel.withLock { $0 = { task.cancel() } }
    mayBegin.report()
    #expect(try await task.value == 1)
    #expect(try await store.table("t").count == 1)
    try store.checkInvariants()
  }

  // MARK: - The verbs

  private struct Note: Codable, Sendable, Equatable {
    var title: String
  }

  @Test func tableVerbsDoTheSame() async throws {
    let store = RecordStore.inMemory()
    let notes = try await store.table(TableName<Note>("notes"))
    try await notes.create()
    let b = try await notes.add(Note(title: "b"), at: .top)
    let ids = try await notes.add(contentsOf: [Note(title: "c"), Note(title: "a")], at: .bottom)
    try await notes.update(b) { $0.title = "bb" }
    try await notes.update(ids[0], to: Note(title: "cc"))
    try await notes.set(["mark": 1], of: ids[1])
    let copy = try await notes.duplicate(ids[1])
    try await notes.unset(["mark"], of: ids[1])
    #expect(try notes.snapshot().ids == [b, ids[0], ids[1], copy])
    #expect(try notes.snapshot().map { $0.fields["mark"] } == [nil, nil, nil, 1])
    try await notes.move(b, to: .bottom)
    try await notes.move(fromIndex: 0, toIndex: 1)
    #expect(try notes.snapshot().ids == [ids[1], ids[0], copy, b])
    try await notes.sort(by: \.title)
    #expect(try notes.snapshot().ids == [ids[1], copy, b, ids[0]])
    try await notes.sort(by: [.descending("title")])
    #expect(try notes.snapshot().ids == [ids[0], b, ids[1], copy])
    #expect(try await notes.delete(where: RecordPredicate("title == 'a'")).ids == [ids[1], copy])
    try await notes.delete(b)
    try await notes.delete([ids[0]])
    #expect(try notes.count == 0 && notes.counter == 4)
    try await notes.replaceAll(records: [DecodedRecord(id: 9, value: Note(title: "x"))])
    #expect(try notes.value(of: 9) == Note(title: "x"))
    try await notes.deleteAll()
    #expect(try notes.count == 0 && notes.counter == 9)
    try await notes.truncate()
    #expect(try notes.counter == 0)
    try await notes.drop()
    #expect(try !notes.exists)
    try store.checkInvariants()
  }

  @Test func undoDoesTheSame() async throws {
    try await withTemporaryStore { store in
      let notes = try await store.table("notes")
      let stepWrite = try await store.undoableWrite { tx in try tx["notes"].add(["n": 1]) }
      let (id, step) = (stepWrite.result, stepWrite.step)
      let redo = try await store.undo(step)
      #expect(try notes.count == 0)
      try await store.undo(redo)
      #expect(try notes.snapshot().ids == [id])

      let stack = UndoStack(store: store)
      try await stack.write(named: "Change") { tx in try tx["notes"].set(["n": 2], of: id) }
      #expect(try await stack.undo())
      #expect(try await !stack.undo())
      #expect(try notes.record(with: id).fields["n"] == 1)
      #expect(try await stack.redo())

      try await store.undoLog.write(named: "Log") { tx in try tx["notes"].set(["n": 3], of: id) }
      #expect(try await store.undoLog.undo()?.name == "Log")
      #expect(try await store.undoLog.redo()?.name == "Log")
      #expect(try notes.record(with: id).fields["n"] == 3)
      #expect(try await store.undoLog.skip()?.name == "Log")
      #expect(try await store.undoLog.undo() == nil)
    }
  }

  @Test func storeOpensRefreshesAndCloses() async throws {
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (store, other) = (try await RecordStore.open(at: folder), try await RecordStore.open(at: folder))
    let (notes, same) = (try await store.table("notes"), try await other.table("notes"))
    try await notes.add(["n": 1])
    #expect(same.lastSnapshot.count == 0)
    try await other.refresh()
    #expect(same.lastSnapshot.count == 1)
    try await store.checkpoint()
    #expect(try notes.commitsBehind == 0)
    try await store.close()
    await #expect(throws: StoreError.self) { try await notes.add(["n": 2]) }
    try other.checkInvariants()
    await #expect(throws: StoreError.self) { try await RecordStore.open(at: URL(string: "https://a.b")!) }
  }
}
