import FileDBEssentials
import Synchronization

/// The program in which people scroll through long output.
enum Pager {
  private static let program = Mutex<ChildProcess?>(nil)
  /// A line of shell, because a small system may not have `less`.
  private static let usual = "command -v less >/dev/null && exec less; exec cat"

  /// From here on, standard output goes through the pager if it is a terminal. By then it is known whether there is a
  /// terminal, so colours stay.
  static func start() {
    guard Terminal.outputIsTerminal, Terminal.buffer == nil else { return }
    let given = ProcessInfo.processInfo.environment["PAGER"] ?? ""
    // The same as in git: show colours and lines of any length, and do not wait if the output fits on a screen.
    setenv("LESS", "FRSX", 0)
    StandardOutput.flush()
    guard let pipe = try? PipeEnds() else { return }
    program.withLock {
      $0 = try? ChildProcess(shell: given.isEmpty ? usual : given, input: pipe.reading)
      if $0 != nil { dup2(pipe.writing, STDOUT_FILENO) }
    }
    // So standard output is the only end for writing, and closing it ends the output.
    for end in [pipe.reading, pipe.writing] { close(end) }
  }

  /// Waits until the reader has closed the pager.
  static func finish() {
    guard let program = program.withLock({ $0.take() }) else { return }
    close(STDOUT_FILENO)
    _ = program.wait()
  }
}
