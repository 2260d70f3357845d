import Foundation

/// A running program of the tests; killed with its last reference.
package final class Worker {
  private let process = Process()
  private let output: URL
  private let error: URL

  /// - Parameter folder: for what it says.
  package init(_ arguments: [String], in folder: URL, program: String = "StoreWorker") throws {
    let name = UUID().uuidString
    // Files, not pipes: a pipe that fills up while nobody reads would stop the program.
    output = folder.appendingPathComponent("\(name).out")
    error = folder.appendingPathComponent("\(name).err")
    for file in [output, error] { try Data().write(to: file) }
    // Beside the test bundle.
    process.executableURL = URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0])
      .resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent(program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: error)
    try process.run()
  }

  deinit { if process.isRunning { kill() } }

  /// What it has said so far.
  package var said: String { get throws { try String(contentsOf: output, encoding: .utf8) } }

  package var isRunning: Bool { process.isRunning }

  package func kill() {
    _ = systemKill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits until it ends well, and returns what it said.
  package func end() throws -> String {
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

// The C function, where a method of the same name hides it.
private func systemKill(_ number: pid_t, _ signal: CInt) -> CInt { kill(number, signal) }
