import ArgumentParser
import FileDB
import FileDBExchange
import Foundation

struct Batch: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch", abstract: "Run a script of commands as one transaction.",
    discussion: """
      Each line is a command, without the word 'filedb'. All commands work on the same store. # begins a comment; quotes \
      and \\ work as in a shell. If a command fails, the message names its line, and nothing is done. File names are \
      relative to the script's own folder, wherever you run it.

      To build a store from its sources, give two lines for each table: 'drop TABLE --if-exists --yes' and \
      'import FILE TABLE'. Such a script makes the same files, byte for byte, however often you run it.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument(help: "The script; - is standard input.") var file = "-"
  @OptionGroup var options: WriteOptions

  func run() throws {
    let name = file == "-" ? "standard input" : file
    let input = file == "-" ? InputFile.standardInput : try InputFile(URL(fileURLWithPath: file))
    let script = try Script(try input.readAll(), name: name)
    let store = try store()
    if file != "-" { try enterFolder(of: file) }
    // What the commands print is true only once all of them are done.
    let output = Terminal.Buffer()
    try options.write(store, named: "batch of \(script.commands.count) commands") { tx in
      for command in script.commands {
        do {
          if let id = try PlainAdd(command.words)?.run(in: &tx) {
            output.append(id.description + "\n")
            continue
          }
          try Terminal.$buffer.withValue(output) {
            try OpenStores.$shared.withValue(store) { try run(command) }
          }
        } catch {
          throw ScriptError(file: script.name, line: command.line, cause: error)
        }
      }
    }
    output.flush()
  }

  /// So every path in the script begins there, as an include does in a compiler.
  private func enterFolder(of script: String) throws {
    let folder = URL(fileURLWithPath: script).deletingLastPathComponent().path
    guard FileManager.default.changeCurrentDirectoryPath(folder) else {
      throw StoreError(.permissionDenied, "this folder cannot be entered", file: folder)
    }
  }

  /// What looks at the files, where the transaction is not yet, or writes others, which it is not about, or is one of
  /// its own.
  private static let excluded: [any ParsableCommand.Type] = [
    Batch.self, Repair.self, Check.self, Tables.self, Info.self, Log.self, Watch.self, Checkpoint.self,
    Undo.self, Redo.self, Export.self, Diff.self,
  ]

  private func run(_ command: Script.Command) throws {
    do {
      var parsed = try FileDBTool.command(of: command.words)
      guard parsed is any StoreCommand, !Self.excluded.contains(where: { $0 == type(of: parsed) }) else {
        throw ValidationError("'\(command.words[0])' is not a command for a script.")
      }
      try RepeatedOption.check(command.words, of: type(of: parsed))
      try parsed.run()
    } catch let error as ExitCode where error == .success {
    }
  }
}

/// `add TABLE FIELD=VALUE …` without options. In a long script most lines are such, and each would take ArgumentParser a
/// hundred times as long as it takes to add the record.
private struct PlainAdd {
  private let table: TableName<Fields>
  private let fields: [FieldAssignment]

  /// - Returns: `nil` for what ``Add`` should look at: another command, an option, or something wrong.
  init?(_ words: [String]) {
    guard words.count >= 2, words[0] == "add", !words.contains(where: { $0.utf8.first == UInt8(ascii: "-") })
    else { return nil }
    let table = TableReference(argument: words[1])
    guard !table.isPath, let fields = try? words.dropFirst(2).map(FieldAssignment.init(argument:)) else {
      return nil
    }
    (self.table, self.fields) = (TableName(table.name), fields)
  }

  /// - Returns: the record's id; `nil`, and nothing is added, where the table does not exist.
  func run(in transaction: inout StoreTransaction) throws -> RecordID? {
    let table = try transaction[table]
    guard try table.exists else { return nil }
    var record = Fields()
    try FieldChanges(fields).apply(to: &record)
    return try table.add(record)
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
    // What a command said before on standard error is seen already.
    return "\(file):\(line): \(reason)\nnothing of the script was done"
  }

  var exitStatus: Int32 {
    switch cause {
    case let error as StoreError: error.exitStatus
    case is EncodingError: 65
    // Help is no failure by itself, but no command either.
    default: max(FileDBTool.exitCode(for: cause).rawValue, 64)
    }
  }
}
