import FileDBEssentials
import Synchronization

/// The program in which people scroll through long output.
enum Pager {
  private static let isStarted = Atomic<Bool>(false)
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
    guard let program = popen(given.isEmpty ? usual : given, "w") else { return }
    dup2(fileno(program), STDOUT_FILENO)
    close(fileno(program))  // So the remaining descriptor is the only one, and closing it ends the output.
    isStarted.store(true, ordering: .relaxed)
  }

  /// Waits until the reader has closed the pager.
  static func finish() {
    guard isStarted.exchange(false, ordering: .relaxed) else { return }
    close(STDOUT_FILENO)
    while wait(nil) < 0, errno == EINTR {}
  }
}
