import Foundation

/// A process of this same program, whose output goes to a file: what it has said is there to be read once it is
/// killed, and it never waits for anyone to read it.
final class ChildProcess {
  private let number: pid_t
  private let output: URL
  private let error: URL
  private var read = 0
  private var rest = Data()
  /// How it ended, once it has.
  private(set) var status: CInt?

  /// - Parameters:
  ///   - environment: what it finds there beside what this process does.
  ///   - scratch: a folder for the output, outside the store.
  init(_ arguments: [String], environment own: [String: String] = [:], scratch: URL) throws {
    let name = UUID().uuidString
    output = scratch.appendingPathComponent("\(name).out")
    error = scratch.appendingPathComponent("\(name).err")
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (descriptor, file) in [(STDOUT_FILENO, output), (STDERR_FILENO, error)] {
      posix_spawn_file_actions_addopen(&actions, descriptor, file.path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
    }
    let program = URL(fileURLWithPath: CommandLine.arguments[0]).path
    let environment = ProcessInfo.processInfo.environment.merging(own) { $1 }.map { "\($0.key)=\($0.value)" }
    var number: pid_t = 0
    let result = Self.withCStrings([program] + arguments + ["--parent", "\(getpid())"]) { arguments in
      Self.withCStrings(environment) { posix_spawn(&number, program, &actions, nil, arguments, $0) }
    }
    guard result == 0 else { throw Fault("cannot start \(program): \(String(cString: strerror(result)))") }
    self.number = number
  }

  deinit { kill() }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let pointers = strings.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers)
  }

  /// Kills it, if it still runs, and removes its files. What it said before must have been read.
  func remove() {
    kill()
    for file in [output, error] { try? FileManager.default.removeItem(at: file) }
  }

  /// Kills it as `kill -9` does. It is gone when this returns, and so are its locks.
  func kill() {
    guard status == nil else { return }
    _ = systemKill(number, SIGKILL)
    collectStatus(0)
  }

  /// Whether it has ended by itself.
  var hasEnded: Bool {
    collectStatus(WNOHANG)
    return status != nil
  }

  private func collectStatus(_ options: CInt) {
    guard status == nil else { return }
    var status: CInt = 0
    var result: pid_t
    repeat { result = waitpid(number, &status, options) } while result < 0 && errno == EINTR
    if result == number { self.status = status }
  }

  /// What it said and has not been asked for yet, in whole lines.
  func newLines() throws -> [Data] {
    var lines = (rest + (try newOutput())).split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    rest = Data(lines.removeLast())  // Not a slice: swift-foundation traps when it appends to an empty one.
    return lines
  }

  func newOutput() throws -> Data {
    // Not there until it has come to open it.
    guard let file = FileHandle(forReadingAtPath: output.path) else { return Data() }
    defer { try? file.close() }
    try file.seek(toOffset: UInt64(read))
    let new = try file.readToEnd() ?? Data()
    read += new.count
    return new
  }

  /// How it ended and what it complained of.
  var complaint: String {
    let text = (try? String(contentsOf: error, encoding: .utf8)) ?? ""
    return "status \(status.map(String.init) ?? "none"): \(text)"
  }
}

// The C function, where a method of the same name hides it.
private func systemKill(_ number: pid_t, _ signal: CInt) -> CInt { kill(number, signal) }
