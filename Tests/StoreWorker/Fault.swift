import Foundation
import Synchronization

/// The store did not keep a promise.
struct Fault: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// - Throws: ``Fault`` with `message`, if `condition` does not hold.
func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
  if !condition { throw Fault(message()) }
}

/// Set when somebody wants a supervisor to stop: it must still end its processes and unmount what it mounted.
private let isStopped = Atomic<Bool>(false)

func stopOnSignals() {
  isStopped.store(false, ordering: .relaxed)  // Made here, for a signal handler may not.
  for number in [SIGHUP, SIGINT, SIGTERM] {
    signal(number) { _ in isStopped.store(true, ordering: .relaxed) }
  }
}

/// - Throws: ``Fault`` once a signal has come.
func requireNotStopped() throws { try require(!isStopped.load(ordering: .relaxed), "stopped by a signal") }

/// Waits until `condition` holds.
/// - Throws: ``Fault`` after a minute: only what hangs takes so long.
func waitUntil(_ event: String, _ condition: () throws -> Bool) throws {
  let end = ContinuousClock.now + .seconds(60)
  while try !condition() {
    try requireNotStopped()
    try require(.now < end, "waited for a minute in vain until \(event)")
    usleep(500)
  }
}

/// Prints at once, where `print` would wait for the end when it writes to a pipe.
func report(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

private let lastSign = Mutex(ContinuousClock.now)

/// Prints a dot, at most once a second, so that whoever waits for this process sees that it gets on.
func showProgress() throws {
  let isDue = lastSign.withLock { last in
    guard .now - last >= .seconds(1) else { return false }
    last = .now
    return true
  }
  if isDue { try FileHandle.standardOutput.write(contentsOf: Data(".".utf8)) }
}

/// SplitMix64: a random sequence that its seed brings back.
struct Random: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// True once in `count` times.
  mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}
