import Foundation
import Synchronization

private let starting = Mutex(())

extension Process {
  /// Starts the program, while no other is started.
  ///
  /// Foundation learns of the end of a program from a socket. Another program that starts at the same moment would
  /// inherit the socket, and keep it open for as long as it runs.
  package func start() throws { try starting.withLock { _ in try run() } }

  /// Waits until the program ends, and kills it if it does not.
  ///
  /// On Linux, `waitUntilExit` looks only every 50 milliseconds.
  package func waitForEnd(_ file: String = #fileID, _ line: Int = #line) throws {
    // A script may run many programs, under a sanitizer or beside other builds.
    let end = ContinuousClock.now + longestWait * 5
    while isRunning, .now < end { usleep(500) }
    guard isRunning else { return }
    kill(processIdentifier, SIGKILL)
    let words = [executableURL?.lastPathComponent ?? ""] + (arguments ?? [])
    throw WaitedInVain(for: "the end of '\(words.joined(separator: " "))'", file, line)
  }
}
