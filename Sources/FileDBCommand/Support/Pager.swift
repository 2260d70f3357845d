import FileDBEssentials
import Synchronization

/// The program that people scroll through long output with.
enum Pager {
  private static let isStarted = Atomic<Bool>(false)
  /// In a shell. A small system may have none of them.
  private static let usual = "command -v less >/dev/null && exec less; exec cat"

  /// From here on standard output goes through it, if that is a terminal. What is a terminal has been found out by
  /// then, so colours stay.
  static func start() {
    guard Terminal.outputIsTerminal, Terminal.buffer == nil else { return }
    let given = ProcessInfo.processInfo.environment["PAGER"] ?? ""
    // As git has it: colours, lines of any length, and no waiting for less than a screen.
    setenv("LESS", "FRSX", 0)
    StandardOutput.flush()
    guard let program = popen(given.isEmpty ? usual : given, "w") else { return }
    dup2(fileno(program), STDOUT_FILENO)
    close(fileno(program))  // The end of the output is that of the one descriptor which is left.
    isStarted.store(true, ordering: .relaxed)
  }

  /// Waits until the reader has seen enough.
  static func finish() {
    guard isStarted.exchange(false, ordering: .relaxed) else { return }
    close(STDOUT_FILENO)
    while wait(nil) < 0, errno == EINTR {}
  }
}
