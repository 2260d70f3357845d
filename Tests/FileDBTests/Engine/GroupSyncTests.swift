import Foundation
import Synchronization
import Testing

@testable import FileDB

@Suite struct GroupSyncTests {
  @Test func workIsNotDoneWhereItIsDoneAlready() {
    let runs = Atomic<Int>(0)
    GroupSync().run(until: { true }, work: { runs.add(1, ordering: .relaxed) })
    #expect(runs.load(ordering: .relaxed) == 0)
  }

  @Test func workRunsUntilItIsDone() {
    let runs = Atomic<Int>(0)
    GroupSync().run(
      until: { runs.load(ordering: .relaxed) == 3 }, work: { runs.add(1, ordering: .relaxed) })
    #expect(runs.load(ordering: .relaxed) == 3)
  }

  /// While one thread is at work, the others wait; what it does for all of them is not repeated.
  @Test func threadsThatWaitShareTheWorkOfOne() {
    let sync = GroupSync()
    let runs = Atomic<Int>(0)
    let atWork = Atomic<Int>(0)
    let isDone = Atomic<Bool>(false)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      sync.run(
        until: { isDone.load(ordering: .sequentiallyConsistent) },
        work: {
          #expect(atWork.add(1, ordering: .sequentiallyConsistent).newValue == 1)
          runs.add(1, ordering: .sequentiallyConsistent)
          isDone.store(true, ordering: .sequentiallyConsistent)
          atWork.subtract(1, ordering: .sequentiallyConsistent)
        })
    }
    #expect(runs.load(ordering: .sequentiallyConsistent) == 1)
  }

  @Test func threadsThatComeBackShareEachWork() {
    // All are there at the end of the first work. Without patience, each thread would wait for every second one.
    #expect(works(ofThreads: 4, rounds: 10, patience: .seconds(1)) <= 14)
  }

  @Test func lonelyThreadWaitsForNobody() {
    #expect(works(ofThreads: 1, rounds: 3, patience: .seconds(3_600)) == 3)
  }

  /// Counts the works that threads need of which each asks for one after another.
  private func works(ofThreads count: Int, rounds: Int, patience: Duration) -> Int {
    let sync = GroupSync { _ in patience }
    let rounds = Rounds(of: rounds, byThreads: count)
    let group = DispatchGroup()
    for _ in 0..<count {
      group.enter()
      Thread {
        rounds.run(with: sync)
        group.leave()
      }.start()
    }
    group.wait()
    return rounds.works
  }

  private final class Rounds: Sendable {
    private let count: Int
    private let threads: Int
    private let state = Mutex((asked: 0, worked: 0, works: 0))

    init(of count: Int, byThreads threads: Int) { (self.count, self.threads) = (count, threads) }

    var works: Int { state.withLock(\.works) }

    func run(with sync: GroupSync) {
      for _ in 0..<count {
        let mine = state.withLock { state in
          state.asked += 1
          return state.asked
        }
        sync.run(until: { state.withLock { $0.worked >= mine } }, work: work)
      }
    }

    /// Is for all that was asked for before it began.
    private func work() {
      let asked = state.withLock(\.asked)
      repeat { Thread.sleep(forTimeInterval: 0.01) } while state.withLock { $0.asked < threads }
      state.withLock { $0 = ($0.asked, asked, $0.works + 1) }
    }
  }
}
