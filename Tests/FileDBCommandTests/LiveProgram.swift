import Foundation
import Synchronization

/// A program that goes on while the test talks to it.
final class LiveProgram: Sendable {
  struct NeverSaid: Error, CustomStringConvertible {
    let expected: String
    let output: String
    var description: String { "no \(expected.debugDescription) in \(output.debugDescription)" }
  }

  /// How long a program that hangs may keep a test.
  private static let patience = 60.0

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

  private init(shell line: String, in folder: URL) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/script")
    process.arguments = ["-qec", line, "/dev/null"]
    try start(in: folder)
  }

  static func onTerminal(_ name: String, in folder: URL) throws -> LiveProgram {
    let program = URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0])
      .resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent(name)
    return try LiveProgram(shell: "stty cols 100 rows 40; exec '\(program.path)'", in: folder)
  }

  private func start(in folder: URL) throws {
    process.currentDirectoryURL = folder
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
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

  /// Returns once the program has said this, since it was last asked.
  func waits(for expected: String) throws {
    let deadline = Date(timeIntervalSinceNow: Self.patience)
    while Date() < deadline {
      let isSaid = text.withLock { text in
        guard let range = text.range(of: expected) else { return false }
        text = String(text[range.upperBound...])
        return true
      }
      if isSaid { return }
      Thread.sleep(forTimeInterval: 0.02)
    }
    throw NeverSaid(expected: expected, output: text.withLock(\.self))
  }

  /// Waits for the end.
  func status() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }

  func kill() { if process.isRunning { process.terminate() } }
}
