import FileDB
import FileDBEssentials
import FileDBExchange

/// The user's git, run in a folder.
struct Git {
  let folder: URL

  /// - Returns: its output, without the line feeds at the end.
  /// - Throws: ``StoreError/Code/fileNotFound`` if there is no git.
  func run(_ arguments: String...) throws -> (output: String, error: String, status: Int32) {
    let (output, error, status) = try read(arguments)
    return (Self.text(output), Self.text(error), status)
  }

  /// - Returns: its output as bytes.
  /// - Throws: ``StoreError/Code/fileNotFound`` if there is no git.
  func read(_ arguments: [String]) throws -> (output: [UInt8], error: [UInt8], status: Int32) {
    let (output, error) = try (PipeEnds(), PipeEnds())
    let words = ["/usr/bin/env", "git", "-C", folder.path] + arguments
    let process = try spawn(words, output: output.writing, error: error.writing)
    for end in [output.writing, error.writing] { close(end) }
    // Errors have only a few lines, which do not fill a pipe.
    let bytes = try [output, error].map { try $0.bytes() }
    var status: CInt = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let exitStatus = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    guard exitStatus != 127 else {
      throw StoreError(.fileNotFound, "git is not installed, or not on the path")
    }
    return (bytes[0], bytes[1], exitStatus)
  }

  private static func text(_ bytes: [UInt8]) -> String {
    let end = bytes.lastIndex { $0 != UInt8(ascii: "\n") }.map { $0 + 1 } ?? 0
    return String(decoding: bytes[..<end], as: UTF8.self)
  }

  private func spawn(_ words: [String], output: CInt, error: CInt) throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO)
    var process = pid_t()
    let failure = withCStrings(words) { posix_spawn(&process, words[0], &actions, nil, $0, environ) }
    guard failure == 0 else {
      throw StoreError(.inputOutput, String(cString: strerror(failure)), file: words[0])
    }
    return process
  }
}

/// A pipe whose ends are not inherited by other programs.
private struct PipeEnds {
  let reading: CInt
  let writing: CInt

  init() throws {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else {
      throw StoreError(.inputOutput, String(cString: strerror(errno)), file: "git")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (reading, writing) = (ends[0], ends[1])
  }

  /// Reads everything that arrives. Closes the reading end.
  func bytes() throws -> [UInt8] { try InputFile(closing: reading, name: "git").readAll() }
}

/// Runs `body` with `words` in the form of a program's arguments.
func withCStrings<Result>(
  _ words: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws -> Result
) rethrows -> Result {
  var pointers = words.map { strdup($0) } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  return try pointers.withUnsafeMutableBufferPointer { try body($0.baseAddress!) }
}
