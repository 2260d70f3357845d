import Synchronization
import TestSupport
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
  @Test func threadsThatWaitShareTheWorkOfOne() throws {
    let sync = GroupSync()
    let state = Mutex((isDone: false, works: 0))
    let hasAsked = Event("a thread to ask whether the work is done")
    let ends = (1...4).map { number in
      startThread("thread \(number)") {
        var isFirstTime = true
        sync.run(
          until: {
            if isFirstTime { hasAsked.report() }
            isFirstTime = false
            return state.withLock { $0.isDone }
          },
          work: {
            try? hasAsked.wait(times: 4)
            state.withLock { $0 = (true, $0.works + 1) }
          })
      }
    }
    for end in ends { try end.wait() }
    #expect(state.withLock { $0.works } == 1)
  }

  /// While one thread is at work for itself, another comes. If it may, it waits until the first one is back.
  @Test(arguments: [(Duration.seconds(3_600), 2), (.zero, 3)])
  func threadWaitsForThoseThatTheLastWorkWasFor(patience: Duration, works: Int) throws {
    let requests = Requests()
    let sync = GroupSync { _ in
      if patience > .zero { requests.mayComeBack.report() }
      return patience
    }
    let first = startThread("the first thread") {
      requests.make(with: sync)
      try? requests.mayComeBack.wait()
      requests.make(with: sync)
    }
    try requests.isWorking.wait()
    let second = startThread("the second thread") { requests.make(with: sync) }
    for end in [first, second] { try end.wait() }
    #expect(requests.works == works)
  }

  @Test func lonelyThreadWaitsForNobody() {
    let sync = GroupSync { _ in .seconds(3_600) }
    var works = 0
    for request in 1...3 { sync.run(until: { works >= request }, work: { works += 1 }) }
    #expect(works == 3)
  }
}

/// Requests for work. Each work is for all requests made before it began. The first goes on until a second request
/// waits.
private final class Requests: Sendable {
  let isWorking = Event("the first work to begin")
  let mayComeBack = Event("the second thread to wait for the first one, or to begin without it")
  private let secondWaits = Event("the second thread to wait for the first work")
  private let state = Mutex((made: 0, done: 0, works: 0))

  var works: Int { state.withLock(\.works) }

  func make(with sync: GroupSync) {
    let request = state.withLock { state in
      state.made += 1
      return state.made
    }
    var looks = 0
    sync.run(
      until: {
        looks += 1
        // By now, it is one of those that wait.
        if request == 2, looks == 2 { secondWaits.report() }
        return state.withLock { $0.done >= request }
      }, work: work)
  }

  private func work() {
    let (made, works) = state.withLock { ($0.made, $0.works) }
    if works == 0 {
      isWorking.report()
      try? secondWaits.wait()
    } else {
      mayComeBack.report()
    }
    state.withLock { $0 = ($0.made, made, works + 1) }
  }
}
