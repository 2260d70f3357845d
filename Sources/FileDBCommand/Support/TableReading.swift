import FileDB
import FileDBEssentials
import FileDBExchange

extension StoreOptions {
  private static let wholeFiles = "FILEDB_WHOLE_FILES"

  /// Reads tables in pieces, so that a command takes as long as what it looks at, however large the table is.
  static var ofCommands: StoreOptions {
    var options = StoreOptions()
    if getenv(wholeFiles) == nil { options.reading = .pieces(giveUp: beginAgain) }
    return options
  }

  /// Runs the command from its beginning, with files read as a whole: another program has written into one that was
  /// being read. Where that would do something twice, the command ends.
  private static func beginAgain(_ error: StoreError) -> Never {
    // The commit is there, and writing the table's file is left to the next command.
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
