import Foundation

/// A running program of the tests. It is killed when the last reference to it is gone.
package final class Worker {
  private let process = Process()
  private let output: URL
  private let error: URL

  /// - Parameter folder: the folder for its output.
  package init(_ arguments: [String], in folder: URL, program: String = "StoreWorker") throws {
    let name = UUID().uuidString
    // Files, not pipes: if nobody reads a pipe, it fills up and blocks the program.
    output = folder.appendingPathComponent("\(name).out")
    error = folder.appendingPathComponent("\(name).err")
    for file in [output, error] { try Data().write(to: file) }
    // It is next to the test bundle.
    process.executableURL = URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0])
      .resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent(program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: error)
    try process.run()
  }

  deinit { if process.isRunning { kill() } }

  /// Its output so far.
  package var said: String { get throws { try String(contentsOf: output, encoding: .utf8) } }

  package var isRunning: Bool { process.isRunning }

  package func kill() {
    _ = systemKill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits for its end and returns its output.
  /// - Throws: ``WorkerFailed`` if it did not succeed, or not in time.
  package func end(within patience: Duration = .seconds(600)) throws -> String {
    let deadline = ContinuousClock.now + patience
    while isRunning, .now < deadline { usleep(10_000) }
    if isRunning { kill() }
    process.waitUntilExit()
    let said = try said
    guard process.terminationStatus == 0, process.terminationReason == .exit else {
      throw WorkerFailed(description: said + (try String(contentsOf: error, encoding: .utf8)))
    }
    return said
  }
}

package struct WorkerFailed: Error, CustomStringConvertible {
  package let description: String
}

// The C function, which a method with the same name hides.
private func systemKill(_ number: pid_t, _ signal: CInt) -> CInt { kill(number, signal) }
