import FileDB
import FileDBEssentials

/// A program that this one has started. Swift has neither `system` nor `popen` on Apple platforms.
struct ChildProcess {
  private let number: pid_t

  /// Starts a program.
  /// - Parameters:
  ///   - words: its path, and its arguments.
  ///   - input: what it reads; by default, and like the other two, what this process has.
  /// - Throws: ``StoreError/Code/inputOutput``.
  init(
    _ words: [String], input: CInt = STDIN_FILENO, output: CInt = STDOUT_FILENO, error: CInt = STDERR_FILENO
  ) throws {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (own, stream) in [(input, STDIN_FILENO), (output, STDOUT_FILENO), (error, STDERR_FILENO)]
    where own != stream {
      posix_spawn_file_actions_adddup2(&actions, own, stream)
    }
    var number = pid_t()
    let failure = withCStrings(words) { posix_spawn(&number, words[0], &actions, nil, $0, environ) }
    guard failure == 0 else {
      throw StoreError(.inputOutput, String(cString: strerror(failure)), file: words[0])
    }
    self.number = number
  }

  /// Starts a line of shell that the user wrote, such as $EDITOR.
  /// - Parameter arguments: what the line calls `"$@"`. They never become a part of its syntax.
  init(
    shell line: String, _ arguments: [String] = [], input: CInt = STDIN_FILENO, output: CInt = STDOUT_FILENO
  ) throws {
    try self.init(["/bin/sh", "-c", line, "filedb"] + arguments, input: input, output: output)
  }

  /// Waits for its end.
  /// - Returns: its exit status, or 128 and the number of the signal that ended it, as in a shell.
  func wait() -> Int32 {
    var status: CInt = 0
    while waitpid(number, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
  }

  /// Runs a line of shell that starts a program which the user operates, and waits for its end. ^C and ^\ go to that
  /// program, and do not end this one.
  /// - Returns: the result of ``wait()``.
  static func runForUser(shell line: String, _ arguments: [String]) throws -> Int32 {
    // The program would inherit SIG_IGN, but not a handler.
    let usual = [SIGINT, SIGQUIT].map { ($0, signal($0) { _ in }) }
    defer { for (number, handler) in usual { signal(number, handler) } }
    return try ChildProcess(shell: line, arguments).wait()
  }
}

/// A pipe whose ends are not inherited by other programs.
struct PipeEnds {
  let reading: CInt
  let writing: CInt

  init() throws {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw StoreError(.inputOutput, String(cString: strerror(errno))) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (reading, writing) = (ends[0], ends[1])
  }
}

/// Runs `body` with `words` in the form of a program's arguments.
private func withCStrings<Result>(
  _ words: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws -> Result
) rethrows -> Result {
  var pointers = words.map { strdup($0) } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  return try pointers.withUnsafeMutableBufferPointer { try body($0.baseAddress!) }
}
