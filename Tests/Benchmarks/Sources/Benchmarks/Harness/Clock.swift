import Foundation

/// Runs `body` and returns its seconds; what it made is checked, and let go, after the clock has stopped.
func seconds<Result>(of body: () throws -> Result, check: (Result) throws -> Void) rethrows -> Double {
  let start = ContinuousClock.now
  let result = try body()
  let seconds = (ContinuousClock.now - start).seconds
  try check(result)
  return seconds
}

/// Runs `body` and returns the seconds that all threads of this process spent on a processor meanwhile.
func processorSeconds(of body: () throws -> Void) rethrows -> Double {
  let start = processorSecondsSoFar()
  try body()
  return processorSecondsSoFar() - start
}

private func processorSecondsSoFar() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}

/// Does small things one after the other until all are done or the time is up, so that who is slow does fewer of them.
final class Pace {
  private let limit: Double
  private(set) var seconds = 0.0
  private(set) var done = 0

  init(limit: Double) { self.limit = limit }

  var secondsEach: Double { seconds / Double(done) }

  func run<Item>(_ items: some Sequence<Item>, _ body: (Item) throws -> Void) rethrows {
    let start = ContinuousClock.now
    // The clock is looked at seldom, for a look costs as much as the quickest things that are measured.
    var nextLook = 1
    defer { seconds = (ContinuousClock.now - start).seconds }
    for item in items {
      try body(item)
      done += 1
      guard done == nextLook else { continue }
      if (ContinuousClock.now - start).seconds > limit { return }
      nextLook = done + max(1, done / 8)
    }
  }
}
