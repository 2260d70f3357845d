import Dispatch
import Foundation
import Synchronization

/// Cuts a run of rows into one part for each core, of about the same length.
struct Parts {
  private let length: Int
  let count: Int

  /// - Parameter leastLength: below which it does not pay to wake another thread.
  init(of length: Int, leastLength: Int) {
    self.length = length
    count = max(1, min(ProcessInfo.processInfo.activeProcessorCount, length / leastLength))
  }

  subscript(part: Int) -> Range<Int> { length * part / count..<length * (part + 1) / count }

  /// What `body` makes of each part, in order. This thread works with those of the system's pool, and needs none of them.
  func concurrentMap<Result: Sendable>(_ body: @Sendable (Range<Int>) -> Result) -> [Result] {
    let results = Mutex([Result?](repeating: nil, count: count))
    DispatchQueue.concurrentPerform(iterations: count) { part in
      let result = body(self[part])
      results.withLock { $0[part] = result }
    }
    return results.withLock { $0.compactMap(\.self) }
  }
}
