import FileDBStorage
import Foundation
import Synchronization

/// How long a test waits for something that always comes. Only a program that hangs takes so long.
package let longestWait = Duration.seconds(60 * max(1, TestLength.operations / 100_000))

/// Something that a test waited for did not come.
package struct WaitedInVain: Error, CustomStringConvertible {
  package let description: String

  init(for event: String, _ file: String, _ line: Int) {
    description = "\(file):\(line): waited for \(longestWait) in vain for \(event)"
  }
}

/// What one thread waits for and another one reports.
package final class Event: Sendable {
  private let name: String
  private let reports = DispatchSemaphore(value: 0)

  /// - Parameter name: as in "waited in vain for the first sync".
  package init(_ name: String) { self.name = name }

  package func report() { reports.signal() }

  /// Waits until the event has been reported once more, or `count` times more.
  package func wait(
    times count: Int = 1, _ file: String = #fileID, _ line: Int = #line
  ) throws(WaitedInVain) {
    let end = DispatchTime.now() + longestWait / .seconds(1)
    for _ in 0..<count where reports.wait(timeout: end) != .success {
      throw WaitedInVain(for: name, file, line)
    }
  }
}

/// Holds threads for an async test until the test opens it, which is also what the test must do when it fails.
///
/// The threads wait without a limit, because the threads of other tests may make the async test wait for minutes.
package final class Gate: Sendable {
  private let opening = DispatchSemaphore(value: 0)

  package init() {}

  package func pass() {
    opening.wait()
    opening.signal()
  }

  package func open() { opening.signal() }
}

/// Runs `body` on a thread of its own, not on one that the tasks of other tests may keep busy.
/// - Returns: the end of `body`.
package func startThread(
  _ name: String, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
) -> Event {
  let end = Event("the end of \(name)")
  let thread = Thread {
    body()
    end.report()
  }
  if let stackSize { thread.stackSize = stackSize }
  thread.start()
  return end
}

/// Waits until `condition` holds. For what no event reports, such as the state of another process.
package func wait(
  for event: String, _ file: String = #fileID, _ line: Int = #line, until condition: () throws -> Bool
) throws {
  let end = ContinuousClock.now + longestWait
  while try !condition() {
    guard .now < end else { throw WaitedInVain(for: event, file, line) }
    usleep(1_000)
  }
}

/// A lock on a file, for a closure to release.
package final class HeldLock: Sendable {
  private let lock: Mutex<FileLock?>

  package init(_ lock: consuming sending FileLock) { self.lock = Mutex(lock) }

  package func release() { lock.withLock { $0 = nil } }

  package var isReleased: Bool { lock.withLock { $0 == nil } }
}

/// The stamp of a file, once the clock of the file system has left the time of its last change.
package func settledStamp(
  of path: String, _ file: String = #fileID, _ line: Int = #line
) throws -> FileStamp {
  var stamp: FileStamp?
  try wait(for: "the time of \(path) to pass", file, line) {
    stamp = try SystemDisk().status(path)?.stamp
    return stamp?.isSettled ?? true
  }
  guard let stamp else { throw BrokenInvariant(description: "\(file):\(line): there is no \(path)") }
  return stamp
}

// MARK: - In async code

// Other tests may keep the threads of all tasks busy for minutes. So these count their turns, which are then as rare as
// those of the tasks that they wait for, and not the time.

/// Waits until `condition` holds, without blocking the thread.
nonisolated(nonsending) package func wait(
  for event: String, _ file: String = #fileID, _ line: Int = #line, until condition: () throws -> Bool
) async throws {
  var turns = 0
  while try !condition() {
    guard turns < Int(longestWait / .milliseconds(1)) else { throw WaitedInVain(for: event, file, line) }
    turns += 1
    try await Task.sleep(for: .milliseconds(1))
  }
}

extension AsyncIteratorProtocol where Failure == Never {
  /// The next element. A sequence that ends before is an error.
  nonisolated(nonsending) package mutating func nextInTime(
    _ file: String = #fileID, _ line: Int = #line
  ) async throws -> Element {
    guard let next = try await nextOrEnd("the next element", file, line) else {
      throw BrokenInvariant(description: "\(file):\(line): the sequence has ended")
    }
    return next
  }

  /// Whether the sequence ends without another element.
  nonisolated(nonsending) package mutating func endsInTime(
    _ file: String = #fileID, _ line: Int = #line
  ) async throws -> Bool {
    try await nextOrEnd("the end of the sequence", file, line) == nil
  }

  nonisolated(nonsending) private mutating func nextOrEnd(
    _ event: String, _ file: String, _ line: Int
  ) async throws -> Element? {
    let watchdog = Watchdog()
    defer { watchdog.stop() }
    let next = await next(isolation: #isolation)
    if watchdog.hasGivenUp { throw WaitedInVain(for: event, file, line) }
    return next
  }
}

/// Cancels the task that made it if it is not stopped in time. The task must stop it before it ends.
private final class Watchdog: Sendable {
  private enum State { case watching, stopped, hasGivenUp }

  private let state = Mutex(State.watching)

  init() {
    // Safe: used only until `stop()`, while the task runs.
    nonisolated(unsafe) let task = withUnsafeCurrentTask(body: \.self)
    Task.detached { [self] in
      for _ in 0..<Int(longestWait / .seconds(1)) {
        try? await Task.sleep(for: .seconds(1))
        if state.withLock({ $0 == .stopped }) { return }
      }
      state.withLock { state in
        guard state == .watching else { return }
        state = .hasGivenUp
        task?.cancel()
      }
    }
  }

  var hasGivenUp: Bool { state.withLock { $0 == .hasGivenUp } }

  func stop() { state.withLock { if $0 == .watching { $0 = .stopped } } }
}
