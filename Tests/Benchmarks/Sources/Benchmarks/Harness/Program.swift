import Foundation

/// A program that did not end as it should.
struct ProgramFailed: Error, CustomStringConvertible {
  let description: String
}

/// Runs a program and returns what it printed, if that goes into no file. Spawned plainly: Foundation's `Process` looks for the end only now and
/// then, which would be the most of a short program's time.
@discardableResult
func runProgram(
  _ path: String, _ arguments: [String], input: String? = nil, output file: URL? = nil
) throws -> String {
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
  let output = FileHandle(fileDescriptor: descriptors[0], closeOnDealloc: true).readDataToEndOfFile()
  guard failure == 0 else { throw ProgramFailed(description: "\(path) does not start: error \(failure)") }

  var status: Int32 = 0
  while waitpid(process, &status, 0) < 0 && errno == EINTR {}
  guard status == 0 else {
    throw ProgramFailed(description: "\(path) \(arguments.first ?? "") failed, status \(status >> 8)")
  }
  return String(decoding: output, as: UTF8.self)
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
