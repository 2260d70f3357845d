import Foundation

/// A running program of the tests. It is killed when the last reference to it is gone.
package final class Worker {
  private let process = Process()
  private let role: String
  private let output: URL
  private let error: URL

  /// - Parameter folder: the folder for its output.
  package init(_ arguments: [String], in folder: URL, program: String = "StoreWorker") throws {
    role = "\(program) \(arguments.first ?? "")"
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
    try process.start()
  }

  deinit { if process.isRunning { kill() } }

  /// Its output so far.
  package var said: String { get throws { try String(contentsOf: output, encoding: .utf8) } }

  package var isRunning: Bool { process.isRunning }

  package func kill() {
    _ = systemKill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits until its output is `text`.
  package func says(_ text: String) throws {
    try wait(for: "'\(role)' to say \(text)") {
      if try said == text { return true }
      if !isRunning { throw WorkerFailed(description: try allOutput) }
      return false
    }
  }

  /// Waits for its end and returns its output. It may run for as long as it says something from time to time.
  /// - Throws: ``WorkerFailed`` if it did not succeed.
  package func end() throws -> String {
    while isRunning {
      let before = try said
      try wait(for: "the end of '\(role)', or more than \(before)") { try !isRunning || said != before }
    }
    return try outputOfSuccess
  }

  /// The same, without blocking the thread.
  package func end() async throws -> String {
    while isRunning {
      let before = try said
      try await wait(for: "the end of '\(role)', or more than \(before)") { try !isRunning || said != before }
    }
    return try outputOfSuccess
  }

  private var allOutput: String {
    get throws { try said + String(contentsOf: error, encoding: .utf8) }
  }

  private var outputOfSuccess: String {
    get throws {
      process.waitUntilExit()
      guard process.terminationStatus == 0, process.terminationReason == .exit else {
        throw WorkerFailed(description: try allOutput)
      }
      return try said
    }
  }
}

package struct WorkerFailed: Error, CustomStringConvertible {
  package let description: String
}

// The C function, which a method with the same name hides.
private func systemKill(_ number: pid_t, _ signal: CInt) -> CInt { kill(number, signal) }
