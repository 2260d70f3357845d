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
}
