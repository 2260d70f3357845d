import Dispatch
import FileDBEssentials
import Synchronization

/// Divides a length of records or bytes into parts of about the same length, one for each core.
package struct Parts {
  /// Read only once: on Linux, Foundation reads four files for each answer.
  private static let cores = ProcessInfo.processInfo.activeProcessorCount

  private let length: Int
  package let count: Int

  /// - Parameter leastLength: the length below which it does not pay to wake another thread.
  package init(of length: Int, leastLength: Int) {
    self.length = length
    count = max(1, min(Self.cores, length / leastLength))
  }

  package var indices: Range<Int> { 0..<count }

  package subscript(part: Int) -> Range<Int> { length * part / count..<length * (part + 1) / count }
}

/// The results of `body` for 0, 1 and so on below `count`, in order. This thread works together with those of the
/// system's pool. It does not depend on them.
/// - Throws: the error of the lowest number for which `body` throws one.
package func concurrentMap<Output: Sendable, Failure: Error>(
  _ count: Int, _ body: @Sendable (Int) throws(Failure) -> Output
) throws(Failure) -> [Output] {
  if count == 1 { return [try body(0)] }
  let results = Mutex([Result<Output, Failure>?](repeating: nil, count: count))
  DispatchQueue.concurrentPerform(iterations: count) { number in
    let result = Result { () throws(Failure) in try body(number) }
    results.withLock { $0[number] = result }
  }
  return try results.withLock { $0.compactMap(\.self) }.map { result throws(Failure) in try result.get() }
}
