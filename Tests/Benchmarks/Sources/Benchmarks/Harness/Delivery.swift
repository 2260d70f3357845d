import Dispatch
import Synchronization

/// What is observed while it changes.
enum ObservedRows: String, CaseIterable {
  case row, list
}

/// Hands what an observer sees to who waits for it.
final class Delivery: Sendable {
  private static let patience = DispatchTimeInterval.seconds(60)

  private let seen = Mutex<Int?>(nil)
  private let news = DispatchSemaphore(value: 0)

  func take(_ amount: Int?) {
    seen.withLock { $0 = amount }
    news.signal()
  }

  fileprivate func wait(for amount: Int) throws {
    while seen.withLock(\.self) != amount {
      let result = news.wait(timeout: .now() + Delivery.patience)
      try expect(result == .success, "an observer that never sees \(amount)")
    }
  }
}

extension Sample {
  /// The record that changes while it is observed: one from the middle.
  var observedID: Int { records / 2 + 1 }

  /// Changes the amount again and again, each time once the observer has seen the last, and returns the seconds of one
  /// change.
  /// - Parameter first: an amount that was not written before; neither were those above it.
  func deliver(
    _ delivery: Delivery, from first: Int, _ write: (_ amount: Int) throws -> Void
  ) throws -> Double {
    let pace = Pace(limit: 1)
    try pace.run(first..<first + 1_000) { amount in
      try write(amount)
      try delivery.wait(for: amount)
    }
    return pace.secondsEach
  }
}

/// Amounts that no record has.
struct NewAmounts {
  private var next = 1_000_000

  mutating func take() -> Int {
    next += 1_000
    return next
  }
}
