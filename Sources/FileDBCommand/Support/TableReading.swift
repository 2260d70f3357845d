import FileDB
import FileDBEssentials
import FileDBExchange

extension StoreOptions {
  private static let wholeFiles = "FILEDB_WHOLE_FILES"

  /// Reads tables in pieces. So the time of a command depends on what it looks at, and not on the size of the table.
  static var ofCommands: StoreOptions {
    var options = StoreOptions()
    if getenv(wholeFiles) == nil { options.reading = .pieces(giveUp: beginAgain) }
    return options
  }

  /// Restarts the command with files read as a whole, because another program has written into a file that was being
  /// read. If the command would then do something twice, it ends instead.
  private static func beginAgain(_ error: StoreError) -> Never {
    // The commit exists. Writing the table's file is left to the next command.
    if StandardOutput.hasChangedStore.load(ordering: .relaxed) {
      StandardOutput.flush()
      exit(0)
    }
    if !StandardOutput.isBegun, !InputFile.standardInputIsUsed, setenv(wholeFiles, "1", 1) == 0 {
      execv(ThisProgram.path, CommandLine.unsafeArgv)
    }
    Terminal.complain(error.description)
    exit(75)
  }

}
