import ArgumentParser
import FileDB
import FileDBEssentials
import Synchronization

/// Runs the command line.
/// - Parameter extra: the additional abilities of `filedb-extra`; `nil` in `filedb`.
package func runFileDB(with extra: (any Extra)?) {
  FileDBTool.extra.withLock { $0 = extra }
  FileDBTool.main()
}

struct FileDBTool: ParsableCommand {
  private static let all = CommandConfiguration(
    commandName: "filedb",
    abstract: "Show and change a store: a folder of tables, each of which is an XML property list.",
    discussion: """
      The store is --store DIR, else $FILEDB_STORE, else the current folder. DIR may also be the address of a store that \
      machines share. A TABLE is a table's name, or the path \
      of a table file (it has a / or ends in .plist).

      \(ExitStatus.help)
      """,
    version: "0.1.0",
    // Each command states its name. Deriving the names from the types would take ArgumentParser a quarter of the time
    // of a short command.
    groupedSubcommands: [
      CommandGroup(
        name: "Look",
        subcommands: [
          Tables.self, Show.self, Get.self, Count.self, Info.self, Check.self, Diff.self, Watch.self,
          Browse.self,
          SQL.self,
        ]),
      CommandGroup(
        name: "Records",
        subcommands: [
          Add.self, SetFields.self, Unset.self, Edit.self, Delete.self, Duplicate.self, Move.self, Sort.self,
          Undo.self, Redo.self,
        ]),
      CommandGroup(name: "In, out", subcommands: [Import.self, Export.self, Batch.self, Copy.self]),
      CommandGroup(
        name: "Tables",
        subcommands: [
          Create.self, Drop.self, Truncate.self, SchemaCommand.self, TableGroup.self, FieldGroup.self,
        ]),
      CommandGroup(name: "Git", subcommands: [GitGroup.self, Merge.self, ConflictsGroup.self]),
      CommandGroup(name: "Sharing", subcommands: [ShipGroup.self, SharedGroup.self]),
      CommandGroup(name: "Mend", subcommands: [Repair.self, Checkpoint.self, Init.self]),
    ])

  /// While only some commands matter, a configuration without the others.
  private static let narrowed = Mutex<CommandConfiguration?>(nil)
  static var configuration: CommandConfiguration { narrowed.withLock(\.self) ?? all }

  @OptionGroup var location: StoreLocation

  static func main() {
    signal(SIGXFSZ, SIG_IGN)  // A write that exceeds the limit fails with an error instead.
    var outcome: (any Error)?
    var used: any ParsableCommand.Type = Self.self
    do {
      let words = try words()
      if words == ["--version"] {  // Installers ask for nothing else, and this needs no parser.
        Terminal.print(all.version)
        return StandardOutput.flush()
      }
      if try HelpRequest.answer(words) { return StandardOutput.flush() }
      if ExtraProgram.isWanted(for: words) { try ExtraProgram.replaceThisOne() }
      var command = try command(of: words)
      used = type(of: command)
      try RepeatedOption.check(words, of: used)
      // Do this before reading anything from standard input.
      if let command = command as? any StoreCommand, try command.isShared { _ = try needExtra() }
      try command.runAsAsked()
    } catch {
      outcome = error
    }
    StandardOutput.flush()  // Output comes before the error.
    Pager.finish()
    OpenStores.closeChanged()
    switch outcome {
    case nil: break
    case let error as StoreError where error.code == .languageMissing:
      fail(ExtraProgram.missing.description, ExtraProgram.missing.exitStatus)
    case let error as StoreError: fail(defusingWords(in: error.description), error.exitStatus)
    case let error as ScriptError: fail(error.description, error.exitStatus)
    case let error as ValidationError: fail(error, used)
    case let error?:
      let status = ExitStatus.code(of: error)
      if status.isSuccess {  // This is help, or the version.
        Terminal.print(CommandExamples.added(toHelp: fullMessage(for: error)))
        StandardOutput.flush()
        exit(withError: status)
      }
      let message = withoutHelp(fullMessage(for: error))
      if !message.isEmpty { Terminal.report(defusingWords(in: message)) }
      exit(withError: status)
    }
  }

  /// The arguments. Swift would replace bytes that are not UTF-8 by other characters, and these would end up in a
  /// record or in a folder's name.
  private static func words() throws -> [String] {
    try (1..<max(1, Int(CommandLine.argc))).map { number in
      guard let argument = CommandLine.unsafeArgv[number] else { return "" }
      if let word = String(validatingCString: argument) { return word }
      throw ValidationError(
        "argument \(number), '\(String(cString: argument))', is not UTF-8; to import such text, give its --encoding"
      )
    }
  }

  /// A message in which each word that it repeats is on one line, without anything that a terminal interprets.
  /// Addresses are not repeated, because they may contain a password.
  private static func defusingWords(in message: String) -> String {
    let words = CommandLine.arguments.flatMap {
      [$0] + $0.split(separator: "=", maxSplits: 1).map(String.init)
    }
    return words.reduce(message) { message, word in
      let defused =
        StoreReference.isAddress(word) ? "\(word.prefix { $0 != ":" })://…" : TerminalText.defused(word)
      return defused == word ? message : message.replacing(word, with: defused)
    }
  }

  /// The command that the words ask for.
  /// - Throws: ArgumentParser's errors. For ArgumentParser, a mistyped command is one unexpected argument, and each
  ///   word after it is another.
  static func command(of words: [String]) throws -> any ParsableCommand {
    let rest = withoutOptions(words)
    // Otherwise, help would show that of the tool.
    if rest.first == "help" { try CommandNames.check(rest.dropFirst()) }
    guard let path = CommandNames.path(of: rest) else {
      do { return try parseAsRoot(words) } catch {
        try CommandNames.check(rest)
        throw error
      }
    }
    // Options before the command's name mean the same as those after it.
    let others = words.dropLast(rest.count) + rest.dropFirst(path.count)
    return try OnlyCommand.parse(path[path.count - 1], others)
      ?? parseAsRoot(Array(rest.prefix(path.count) + others))
  }

  /// The words from the command on.
  private static func withoutOptions(_ words: [String]) -> ArraySlice<String> {
    var rest = words[...]
    while let option = rest.first, option.hasPrefix("--"), option != "--" {
      rest = rest.dropFirst(["--store", "--attach", "--wait", "--timeout"].contains(option) ? 2 : 1)
    }
    return rest
  }

  /// Runs `body` while the tool has only the command that the words name; all of them if they name none.
  static func withCommand<Result>(of words: [String], _ body: () throws -> Result) rethrows -> Result {
    var one = all
    let name = withoutOptions(words).first
    one.subcommands = one.subcommands.filter { $0.configuration.commandName == name }
    guard !one.subcommands.isEmpty else { return try body() }
    narrowed.withLock { $0 = one }
    defer { narrowed.withLock { $0 = nil } }
    return try body()
  }

  /// A message of ArgumentParser without the help of the argument that it is about. That may be a paragraph, in which
  /// nobody would find what is wrong.
  private static func withoutHelp(_ message: String) -> String {
    guard let help = message.firstRange(of: "\nHelp:"), let usage = message.firstRange(of: "\nUsage:"),
      help.lowerBound < usage.lowerBound
    else { return message }
    return String(message[..<help.lowerBound] + message[usage.lowerBound...])
  }

  private static func fail(_ message: String, _ status: Int32) -> Never {
    Terminal.complain(message)
    exit(withError: ExitCode(status))
  }

  /// Reports a command's error about its options in ArgumentParser's words. ArgumentParser itself would show the usage
  /// of the whole tool.
  private static func fail(_ error: ValidationError, _ command: any ParsableCommand.Type) -> Never {
    let name = command == Self.self ? "" : CommandNames.fullName(of: command) + " "
    Terminal.report(
      """
      Error: \(defusingWords(in: error.message))
      Usage: \(usageString(for: command))
        See 'filedb \(name)--help' for more information.
      """)
    exit(withError: ExitCode.validationFailure)
  }
}

/// A tool that has one command, and no options.
///
/// ArgumentParser generates help and messages from all commands. But it also searches all of them, and its own
/// additional features, before it finds the command.
private struct OnlyCommand: ParsableCommand {
  private static let command = Mutex<(any ParsableCommand.Type)?>(nil)

  // With a name above it, ArgumentParser does not look for requests of completion scripts. Help is left to the tool.
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      _superCommandName: "", subcommands: command.withLock { $0.map { [$0] } ?? [] }, helpNames: [])
  }

  /// - Returns: `nil` if ArgumentParser would rather say something.
  static func parse(_ type: any ParsableCommand.Type, _ words: ArraySlice<String>) -> (any ParsableCommand)? {
    command.withLock { $0 = type }
    let name = type.configuration.commandName ?? ""
    guard let parsed = try? parseAsRoot(ManyWords.packed([name] + words)), Swift.type(of: parsed) == type
    else {
      return nil
    }
    return parsed
  }
}
