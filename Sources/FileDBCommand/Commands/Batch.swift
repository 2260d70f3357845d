import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

struct Batch: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch", abstract: "Run a script of commands as one transaction.",
    discussion: """
      Each line is a command, without the word 'filedb'. All commands work on the same store. # begins a comment; \
      quotes and \\ work as in a shell. If a command fails, the message names its line, and nothing is done. File \
      names are relative to the script's own folder, wherever you run it.

      To build a store from its sources, give two lines for each table: 'drop TABLE --if-exists --yes' and \
      'import FILE TABLE --ids'. The file then needs a column 'id'. Such a script makes the same files, byte for byte, \
      however often you run it. Without ids in the file, the records get new ids each time.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The script; - is standard input.") var file = "-"
  @OptionGroup var options: WriteOptions

  func run() throws {
    let source = file == "-" ? "standard input" : file
    let input = file == "-" ? InputFile.standardInput : try InputFile(URL(fileURLWithPath: file))
    let bytes = try input.readAll()
    let script = try Script(bytes, name: source)
    if ExtraProgram.isWanted(for: script) {
      try ExtraProgram.replaceThisOne(rereading: file == "-" ? bytes : nil)
    }
    let store = try store()
    if file != "-" { try enterFolder(of: file) }
    let name = "batch of \(script.commands.count.counted("command"))"
    // What the commands print is true only after all of them have succeeded.
    let output = Terminal.Buffer()
    do {
      try Terminal.$buffer.withValue(output) {
        try options.write(store, named: name) { tx in
          // A transaction may run again.
          output.clear()
          try run(script, on: store, in: &tx, output)
        }
      }
    } catch {
      output.flushMessages()
      throw error
    }
    output.flush()
  }

  private func run(
    _ script: Script, on store: RecordStore, in transaction: inout StoreTransaction, _ output: Terminal.Buffer
  ) throws {
    var additions = ScriptAdditions(to: output, of: script)
    for command in script.commands where try !additions.take(command, in: &transaction) {
      try additions.make(in: &transaction)
      additions.lines.begin([command.line], at: transaction.changeCount)
      do {
        try OpenStores.$shared.withValue(store) { try run(command) }
      } catch {
        throw ScriptError(file: script.name, line: command.line, cause: error)
      }
    }
    try additions.make(in: &transaction)
    // A rule may be broken in between, as long as it is kept at the end. If it is not, this finds the command that
    // wrote the record.
    do throws(StoreError) { try transaction.keepRules() } catch {
      guard let line = transaction.change(of: error).flatMap(additions.lines.line) else { throw error }
      throw ScriptError(file: script.name, line: line, cause: error)
    }
  }

  /// So every path in the script is relative to its folder, as for an include in a compiler.
  private func enterFolder(of script: String) throws {
    let folder = URL(fileURLWithPath: script).deletingLastPathComponent().path
    guard FileManager.default.changeCurrentDirectoryPath(folder) else {
      throw StoreError(.permissionDenied, "this folder cannot be entered", file: folder)
    }
  }

  /// Commands that look at files, which do not have the transaction's changes yet. Commands that write other files,
  /// which the transaction does not concern. Commands that are transactions themselves.
  private static let excluded: [any ParsableCommand.Type] = [
    Batch.self, Repair.self, Check.self, Tables.self, Info.self, Watch.self, Checkpoint.self, Undo.self,
    Redo.self, Export.self, Copy.self, Diff.self, SQL.self, Edit.self, ConflictsList.self, ConflictsTake.self,
    SharedSync.self, SharedStatus.self, SharedCompact.self,
  ]

  private func run(_ command: Script.Command) throws {
    do {
      var parsed = try FileDBTool.command(of: command.words)
      guard parsed is any StoreCommand, !Self.excluded.contains(where: { $0 == type(of: parsed) }) else {
        throw ValidationError(
          "'\(CommandNames.fullName(of: type(of: parsed)))' is not a command for a script.")
      }
      try RepeatedOption.check(command.words, of: type(of: parsed))
      try parsed.runAsAsked()
    } catch let error as ExitCode where error == .success {
    }
  }
}

/// A command of a script that failed.
struct ScriptError: Error {
  let file: String
  let line: Int
  let cause: any Error

  var description: String {
    let message: String
    switch cause {
    case let error as StoreError: message = error.description
    case let error as EncodingError: message = "\(error)"
    default: message = FileDBTool.message(for: cause)
    }
    let reason = message.split(separator: "\n").first.map(String.init) ?? "it failed"
    // What the command wrote to standard error has been shown already.
    return "\(file):\(line): \(reason)\nnothing of the script was done"
  }

  var exitStatus: Int32 {
    switch cause {
    case let error as StoreError: error.exitStatus
    // Help is not a failure by itself, but it is not a command either.
    default: max(ExitStatus.code(of: cause).rawValue, 64)
    }
  }
}
