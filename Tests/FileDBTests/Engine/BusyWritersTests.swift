import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

@Suite struct BusyWritersTests {
  /// Two processes with two writers each, which never pause, while both make checkpoints by themselves. A third process
  /// reads. What it sees never goes back, and the journal, which has all commits that the files lack, stays short.
  @Test func writersThatNeverPauseLoseNothing() throws {
    let memory = MemoryDisk()
    var options = StoreOptions(lockTimeout: .seconds(600))
    (options.largeFile, options.checkpointPause) = (100_000, .zero)
    let stores = try (0..<3).map { _ in
      try RecordStore(at: CheckpointBesideWritersTests.place, disk: memory, options: options)
    }
    let text = PlistValue.string(String(repeating: "long ", count: 100))
    let sizes = ["small": 10, "large": 500]
    for (name, size) in sizes {
      try stores[0].table(name).add(contentsOf: (0..<size).map { _ in ["n": 0, "text": text] })
    }
    let count = TestLength.commits
    let ends = (0..<4).map { number in
      startThread("writer \(number)") {
        do {
          let table = try stores[number % 2].table(number < 2 ? "small" : "large")
          let ids = try table.snapshot().map(\.id)
          for commit in 0..<count {
            try table.update(ids[commit % ids.count]) { $0["n"] = .integer(($0["n"]?.integer ?? 0) + 1) }
          }
        } catch { Issue.record(error) }
      }
    }
    let isDone = Atomic<Bool>(false)
    let reader = startThread("reader") {
      do {
        var seen = [0, 0]
        var longest = 0
        repeat {
          let now = try ["small", "large"].map { try Self.sum(stores[2].table($0).snapshot()) }
          #expect(now[0] >= seen[0] && now[1] >= seen[1])
          seen = now
          longest = max(longest, try memory.status("/store/.filedb/journal")?.stamp.size ?? 0)
        } while !isDone.load(ordering: .relaxed)
        #expect(longest < 16 << 20)
      } catch { Issue.record(error) }
    }
    for end in ends { try end.wait() }
    isDone.store(true, ordering: .relaxed)
    try reader.wait()
    for store in stores { try store.close() }
    for store in stores + [try CheckpointBesideWritersTests.open(memory)] {
      try store.refresh()
      for name in sizes.keys { #expect(try Self.sum(store.table(name).lastSnapshot) == 2 * count) }
      try store.checkInvariants()
    }
    let scan = JournalScan(try memory.read("/store/.filedb/journal").bytes, at: 0, after: nil)
    #expect(
      scan.frames.last?.frame.sequence == UInt64(4 * count + sizes.count)
        && scan.frames.first.map { $0.frame.sequence > 0 } == true)
    try CheckpointBesideWritersTests.open(memory).checkNothingIsLeftBehind()
  }

  private static func sum(_ table: TableSnapshot<Fields>) -> Int {
    table.reduce(0) { $0 + Int($1["n"]?.integer ?? 0) }
  }
}
