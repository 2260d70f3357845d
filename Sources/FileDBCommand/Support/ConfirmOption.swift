import ArgumentParser

/// The option `--yes` of a command that removes a lot.
struct ConfirmOption: ParsableArguments {
  @Flag(help: "Do not ask for confirmation. Required without a terminal.") var yes = false

  /// - Throws: `ValidationError` if the command could not ask for confirmation.
  func check(_ options: WriteOptions) throws {
    guard yes || options.dryRun || Terminal.isAnswering else {
      throw ValidationError(
        "Cannot ask for confirmation without a terminal. Give --yes, or try it with --dry-run.")
    }
  }

  /// - Throws: exit code 1 if the answer is no.
  func ask(_ question: @autoclosure () throws -> String, _ options: WriteOptions) throws {
    if !yes, !options.dryRun, try !Terminal.confirm(question()) { throw ExitCode(1) }
  }
}
