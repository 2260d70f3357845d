import Foundation

/// A program that did not end as it should.
struct ProgramFailed: Error, CustomStringConvertible {
  let description: String
}

/// Runs a program and returns what it printed, if that goes into no file. Spawned plainly: Foundation's `Process` looks
/// for the end only now and then, which would be the most of a short program's time.
@discardableResult
func runProgram(
  _ path: String, _ arguments: [String], input: String? = nil, output file: URL? = nil
) throws -> String {
  let running = try start(path, arguments, input: input, output: file)
  let output = FileHandle(fileDescriptor: running.output, closeOnDealloc: true).readDataToEndOfFile()
  let status = end(of: running.process)
  guard status == 0 else {
    throw ProgramFailed(description: "\(path) \(arguments.first ?? "") failed, status \(status >> 8)")
  }
  return String(decoding: output, as: UTF8.self)
}

/// The first line that a program prints. Whatever comes then is not read.
func firstLine(of path: String, _ arguments: [String]) throws -> String {
  let running = try start(path, arguments)
  var line: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 4096)
  while !line.contains(UInt8(ascii: "\n")) {
    let count = read(running.output, &piece, piece.count)
    guard count > 0 else { break }
    line += piece[..<count]
  }
  close(running.output)
  _ = end(of: running.process)  // It may die of the closed pipe.
  return String(decoding: line.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
}

/// Waits for the end of a process, and returns its status.
private func end(of process: pid_t) -> Int32 {
  var status: Int32 = 0
  while waitpid(process, &status, 0) < 0 && errno == EINTR {}
  return status
}

/// - Returns: the process, and where its output is to be read.
private func start(
  _ path: String, _ arguments: [String], input: String? = nil, output file: URL? = nil
) throws -> (process: pid_t, output: Int32) {
  var descriptors: [Int32] = [0, 0]
  guard pipe(&descriptors) == 0 else { throw ProgramFailed(description: "pipe: error \(errno)") }
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_addopen(&actions, 0, input ?? "/dev/null", O_RDONLY, 0)
  if let file {
    posix_spawn_file_actions_addopen(&actions, 1, file.path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
  } else {
    posix_spawn_file_actions_adddup2(&actions, descriptors[1], 1)
  }
  posix_spawn_file_actions_addclose(&actions, descriptors[0])

  var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
  defer { for word in words { free(word) } }
  let variables = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
  var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
  defer { for variable in environment { free(variable) } }
  var process = pid_t()
  let failure = posix_spawn(&process, path, &actions, nil, &words, &environment)
  close(descriptors[1])
  guard failure == 0 else {
    close(descriptors[0])
    throw ProgramFailed(description: "\(path) does not start: error \(failure)")
  }
  return (process, descriptors[0])
}

/// Starts a program that has nothing to do but to print a line.
func startingProgram(_ path: String, _ arguments: [String]) throws -> Run {
  {
    try seconds(
      of: { try runProgram(path, arguments) }, check: { try expect(!$0.isEmpty, "the program's line") })
  }
}

/// The path of an installed program.
func findProgram(_ name: String) -> String? {
  (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
    .first(where: FileManager.default.isExecutableFile)
}
