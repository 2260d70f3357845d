import FileDB
import Foundation
import TestSupport

/// What a run of `filedb` gave back.
struct ToolResult: Equatable {
  var output: String
  var error: String
  var status: Int32
}

/// A built program, beside the test bundle.
func program(_ name: String) -> URL {
  URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0])
    .resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent(name)
}

let filedbProgram = program("filedb")

/// Runs `filedb` as a person would, in `folder`.
@discardableResult
func filedb(
  _ arguments: String..., in folder: URL, input: String = "", environment: [String: String] = [:]
) throws -> ToolResult {
  try run(filedbProgram.path, arguments, in: folder, input: input, environment: environment)
}

@discardableResult
func filedb(
  _ arguments: [String], in folder: URL, input: String = "", environment: [String: String] = [:]
) throws -> ToolResult {
  try run(filedbProgram.path, arguments, in: folder, input: input, environment: environment)
}

/// Runs a line of shell, for which `filedb` is on the path.
func shell(_ line: String, in folder: URL) throws -> ToolResult {
  let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
  let environment = ["PATH": filedbProgram.deletingLastPathComponent().path + ":" + path]
  return try run("/bin/sh", ["-c", line], in: folder, input: "", environment: environment)
}

/// Runs `filedb` on a terminal of `columns` columns and returns what it shows there.
func filedbOnTerminal(
  _ arguments: String, columns: Int, in folder: URL, input: String = "", environment: [String: String] = [:]
) throws -> ToolResult {
  let line = "stty cols \(columns); '\(filedbProgram.path)' \(arguments)"
  var result = try run(
    "/usr/bin/script", ["-qec", line, "/dev/null"], in: folder, input: input, environment: environment)
  result.output = result.output.replacing("\r\n", with: "\n")
  return result
}

let hasScript = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")
let hasBash = FileManager.default.isExecutableFile(atPath: "/bin/bash")
let hasSetpriv = FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")

/// Runs `filedb` as nobody in particular: root may write everywhere.
func filedbWithoutRights(_ arguments: String..., in folder: URL) throws -> ToolResult {
  guard geteuid() == 0 else {
    return try run(filedbProgram.path, arguments, in: folder, input: "", environment: [:])
  }
  // The build folder may be where only root can go.
  let copy = FileManager.default.temporaryDirectory.appendingPathComponent("filedb-\(UUID().uuidString)")
  // By a program of its own: a descriptor that is open for writing here could go on to a program that another test
  // starts just now, and what somebody may write to cannot be run ("Text file busy").
  _ = try run("/bin/cp", [filedbProgram.path, copy.path], in: folder, input: "", environment: [:])
  defer { try? FileManager.default.removeItem(at: copy) }
  try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: copy.path)
  let rights = ["--reuid=65534", "--regid=65534", "--clear-groups", copy.path]
  return try run("/usr/bin/setpriv", rights + arguments, in: folder, input: "", environment: [:])
}

func run(
  _ path: String, _ arguments: [String], in folder: URL, input: String, environment: [String: String]
) throws -> ToolResult {
  let process = process(path, arguments, in: folder, environment: environment)
  // Files, not pipes: a pipe that fills up while nobody reads would stop the program.
  return try withTemporaryFolder { scratch in
    let files = ["input", "output", "error"].map { scratch.appendingPathComponent($0) }
    try Data(input.utf8).write(to: files[0])
    for file in files[1...] { try Data().write(to: file) }
    let input = try FileHandle(forReadingFrom: files[0])
    let outputs = try files[1...].map { try FileHandle(forWritingTo: $0) }
    // A process stays in memory, with its files.
    defer { for file in [input] + outputs { try? file.close() } }
    (process.standardInput, process.standardOutput, process.standardError) = (input, outputs[0], outputs[1])
    try process.start()
    try process.waitForEnd()
    return ToolResult(
      output: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
      error: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self),
      status: process.terminationStatus)
  }
}

private func process(
  _ path: String, _ arguments: [String], in folder: URL, environment: [String: String]
) -> Process {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: path)
  process.arguments = arguments
  process.currentDirectoryURL = folder
  let own = ProcessInfo.processInfo.environment
  // The last three are for Tests/sanitize.
  let names = [
    "PATH", "HOME", "XDG_STATE_HOME", "LD_LIBRARY_PATH", "TMPDIR", "LSAN_OPTIONS", "TSAN_OPTIONS",
    "ASAN_SYMBOLIZER_PATH",
  ]
  let kept = names.reduce(into: [:]) { $0[$1] = own[$1] }
  process.environment = kept.merging(["LANG": "C.UTF-8"]) { $1 }.merging(environment) { $1 }
  return process
}

/// A `filedb` that goes on beside the test; killed with its last reference.
final class RunningTool {
  private let running: Process
  private let files: (output: URL, error: URL)

  /// - Parameters:
  ///   - scratch: where to keep what it prints; not the store, which it would change.
  ///   - pipe: where its output goes instead.
  init(
    _ arguments: [String], in folder: URL, scratch: URL, environment: [String: String] = [:],
    output pipe: Pipe? = nil
  ) throws {
    running = process(filedbProgram.path, arguments, in: folder, environment: environment)
    files = (scratch.appendingPathComponent("output"), scratch.appendingPathComponent("error"))
    for file in [files.output, files.error] { try Data().write(to: file) }
    running.standardInput = FileHandle.nullDevice
    running.standardOutput = if let pipe { pipe } else { try FileHandle(forWritingTo: files.output) }
    running.standardError = try FileHandle(forWritingTo: files.error)
    try running.start()
  }

  deinit { if running.isRunning { kill(running.processIdentifier, SIGKILL) } }

  var output: String { get throws { try String(contentsOf: files.output, encoding: .utf8) } }
  var error: String { get throws { try String(contentsOf: files.error, encoding: .utf8) } }

  func interrupt() { running.interrupt() }
  func terminate() { running.terminate() }

  /// Waits until it ends.
  /// - Returns: its exit status; `nil` if a signal ended it.
  func status() async throws -> Int32? {
    try await wait(for: "the end of filedb") { !running.isRunning }
    return running.terminationReason == .exit ? running.terminationStatus : nil
  }

  func waitForError(_ text: String) async throws {
    try await expect(text.debugDescription) { try error.contains(text) }
  }

  /// Waits until it has printed a whole last line like this.
  func waitForLine(where isLine: (Substring) -> Bool) async throws {
    try await expect("the expected line") {
      let output = try output
      return output.hasSuffix("\n") && output.split(separator: "\n").last.map(isLine) ?? false
    }
  }

  private func expect(_ what: String, until isThere: () throws -> Bool) async throws {
    do {
      try await wait(for: what) {
        let isOver = !running.isRunning
        if try isThere() { return true }
        guard !isOver else { throw NeverSaid(expected: what, output: "") }
        return false
      }
    } catch is WaitedInVain, is NeverSaid {
      throw NeverSaid(expected: what, output: try output + error)
    }
  }
}

/// A program did not print what it should have printed.
struct NeverSaid: Error, CustomStringConvertible {
  let expected: String
  let output: String
  var description: String { "waited in vain for \(expected) in \(output.debugDescription)" }
}

/// The commands in the tool's own description, for example `show` and `table rename`.
struct CommandList: Decodable {
  private struct Command: Decodable {
    let commandName: String
    let shouldDisplay: Bool
    let subcommands: [Command]?

    var verbs: [Command] { (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" } }
  }

  private let command: Command

  static func read() throws -> CommandList {
    let dump = try filedb("--experimental-dump-help", in: packageRoot).output
    return try JSONDecoder().decode(CommandList.self, from: Data(dump.utf8))
  }

  /// What stands first: the commands, and the groups.
  var words: [String] { command.verbs.map(\.commandName) }

  /// The full names of the commands, without the groups.
  var names: [String] {
    command.verbs.flatMap { command in
      command.verbs.isEmpty
        ? [command.commandName] : command.verbs.map { "\(command.commandName) \($0.commandName)" }
    }
  }
}

/// The identity of the shared store that a folder follows.
func joined(_ name: String, in folder: URL) throws -> String {
  let file = folder.appendingPathComponent("\(name)/.filedb/shared")
  return try String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .newlines)
}

/// Runs `body` in a store's folder whose table `t` has one record, with `a=1`, and then checks the store.
func withTableOfOneRecord(_ body: (URL) throws -> Void) throws {
  try withTemporaryFolder { folder in
    try filedb("create", "t", in: folder)
    try filedb("add", "t", "a=1", in: folder)
    try body(folder)
    try RecordStore(at: folder).checkInvariants()
  }
}
