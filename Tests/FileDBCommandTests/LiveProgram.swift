import Foundation
import Synchronization
import TestSupport

/// A program that goes on while the test talks to it.
final class LiveProgram: Sendable {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let text = Mutex("")

  /// - Parameter name: of a product, built beside the tests.
  init(_ name: String, _ arguments: [String], in folder: URL) throws {
    process.executableURL = program(name)
    process.arguments = arguments
    try start(in: folder)
  }

  /// Runs a line of shell on a terminal.
  init(onTerminal line: String, in folder: URL, environment: [String: String]? = nil) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/script")
    process.arguments = ["-qec", line, "/dev/null"]
    if let environment { process.environment = environment }
    try start(in: folder)
  }

  static func onTerminal(_ name: String, in folder: URL) throws -> LiveProgram {
    try LiveProgram(onTerminal: "stty cols 100 rows 40; exec '\(program(name).path)'", in: folder)
  }

  private func start(in folder: URL) throws {
    process.currentDirectoryURL = folder
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.start()
    let reader = output.fileHandleForReading
    Thread.detachNewThread { [self] in
      while case let bytes = reader.availableData, !bytes.isEmpty {
        // A terminal puts a carriage return before each line feed.
        let said = String(decoding: bytes.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        text.withLock { $0 += said }
      }
    }
  }

  func type(_ keys: String) { input.fileHandleForWriting.write(Data(keys.utf8)) }

  /// Waits until the program has said this, since it was last asked.
  /// - Returns: what it has said before, and this.
  @discardableResult
  func waits(for expected: String) throws -> String {
    do {
      var said = ""
      try wait(for: expected) {
        text.withLock { text in
          guard let range = text.range(of: expected) else { return false }
          (said, text) = (String(text[..<range.upperBound]), String(text[range.upperBound...]))
          return true
        }
      }
      return said
    } catch is WaitedInVain {
      throw NeverSaid(expected: expected.debugDescription, output: text.withLock(\.self))
    }
  }

  /// Waits for the end.
  func status() throws -> Int32 {
    try process.waitForEnd()
    return process.terminationStatus
  }

  func kill() { if process.isRunning { process.terminate() } }
}
