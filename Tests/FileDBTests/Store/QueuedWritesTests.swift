import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

/// Async writes that wait together go to the disk as one commit, and succeed or fail one by one.
@Suite struct QueuedWritesTests {
  private struct Stop: Error {}

  /// Runs `bodies` as async writes that wait together.
  /// - Parameter mostTime: how long the bodies of one commit may take; an hour for as long as they need.
  /// - Returns: what each returned or threw.
  private func write(
    _ bodies: [@Sendable (inout StoreTransaction) throws -> RecordID<Fields>], to store: RecordStore,
    mostTime: Duration = .seconds(3_600)
  ) async -> [Result<RecordID<Fields>, any Error>] {
    let queue = QueuedWrites(mostTime: mostTime)
    let (waiting, continuation) = AsyncStream<Void>.makeStream()
    return await withTaskGroup(of: (Int, Result<RecordID<Fields>, any Error>).self) { group in
      for (number, body) in bodies.enumerated() {
        group.addTask {
          do {
            let id = try await withCheckedThrowingContinuation { task in
              let write = AsyncWrite(body)
              _ = write.wait(task)
              queue.add(write)
              continuation.yield()
            }
            return (number, .success(id))
          } catch {
            return (number, .failure(error))
          }
        }
      }
      for await _ in waiting.prefix(bodies.count) {}
      for _ in bodies { queue.commit(to: store) }  // Each takes one of the writes at least.
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  private func adding(_ number: Int) -> @Sendable (inout StoreTransaction) throws -> RecordID<Fields> {
    { tx in try tx["t"].add(["n": .integer(Int64(number))]) }
  }

  @Test(arguments: [(Duration.seconds(3_600), 1), (.zero, 40)])
  func writesThatWaitTogetherAreOneCommitUnlessTheyTakeLong(mostTime: Duration, count: Int) async throws {
    let disk = FaultyDisk(over: MemoryDisk(.emptyHome))
    let folder = URL(fileURLWithPath: "/home/store")
    let store = try RecordStore(at: folder, disk: disk, options: StoreOptions(checkpoints: .manual))
    try await store.table("t").add(["n": 0])
    let before = disk.verbs
    let results = await write((1...40).map(adding), to: store, mostTime: mostTime)
    #expect(Set(results.map { try? $0.get().rawValue }) == Set((2...41).map { Int64($0) }))
    let verbs = disk.verbs.dropFirst(before.count)
    let commits = try store.pendingCommits().dropFirst()
    #expect(commits.count == count && commits.map(\.changes.count).reduce(0, +) == 40)
    #expect(verbs.count { $0 == .writeAt } == count && verbs.count { $0 == .syncData } <= count)
    try store.checkInvariants()
  }

  @Test func bodyThatThrowsUndoesOnlyWhatItDid() async throws {
    let store = RecordStore.inMemory()
    var bodies = (0..<20).map(adding)
    for number in stride(from: 3, to: 20, by: 5) {
      bodies[number] = { tx in
        try tx["t"].add(["n": -1])
        throw Stop()
      }
    }
    let results = await write(bodies, to: store)
    for (number, result) in results.enumerated() {
      switch result {
      case .success(let id):
        #expect(number % 5 != 3)
        #expect(try await store.table("t").value(of: id) == ["n": .integer(Int64(number))])
      case .failure(let error): #expect(number % 5 == 3 && error is Stop)
      }
    }
    #expect(try await store.table("t").count == 16)
    try store.checkInvariants()
  }

  @Test func writeThatCannotBeCommittedFailsAlone() async throws {
    let options = StoreOptions(limits: PlistLimits(fileBytes: 20_000), checkpoints: .manual)
    let store = try RecordStore(
      at: URL(fileURLWithPath: "/home/store"), disk: MemoryDisk(.emptyHome), options: options)
    try await store.table("t").add(["n": 0])
    var bodies = (1...10).map(adding)
    bodies[4] = { tx in try tx["t"].add(["text": .string(String(repeating: "x", count: 30_000))]) }
    let results = await write(bodies, to: store)
    for (number, result) in results.enumerated() {
      #expect((try? result.get()) != nil || number == 4, "\(result)")
    }
    #expect(throws: StoreError.self) { try results[4].get() }
    #expect(try await store.table("t").count == 10)
    try store.checkInvariants()
  }

  @Test func syncThatFailsFailsAllWritesOfTheCommit() async throws {
    let isBroken = Flag()
    let disk = FaultyDisk(
      over: MemoryDisk(.emptyHome),
      faults: .choose { verb, _ in verb == .syncData && isBroken.isSet ? .fail(errno: EIO) : nil })
    let store = try RecordStore(
      at: URL(fileURLWithPath: "/home/store"), disk: disk, options: StoreOptions(checkpoints: .manual))
    try await store.table("t").add(["n": 0])
    isBroken.set()
    for result in await write((1...10).map(adding), to: store) {
      let error = #expect(throws: StoreError.self) { try result.get() }
      #expect([.outcomeUnknown, .closed].contains(error?.code))
    }
  }
}

private final class Flag: Sendable {
  private let state = Mutex(false)
  var isSet: Bool { state.withLock(\.self) }
  func set() { state.withLock { $0 = true } }
}
