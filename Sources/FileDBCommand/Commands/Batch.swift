import ArgumentParser
import FileDB
import FileDBExchange
import Foundation

struct Batch: StoreCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run a script of commands as one transaction.",
    discussion: """
      One command a line, as after 'filedb', all on the same store; # begins a comment, quotes and \\ work as in a shell. \
      Where a command fails, its line is named and nothing is done.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument(help: "The script; - is standard input.") var file = "-"
  @OptionGroup var options: WriteOptions

  func run() throws {
    let name = file == "-" ? "standard input" : file
    let input = file == "-" ? InputFile.standardInput : try InputFile(URL(fileURLWithPath: file))
    guard let text = String(validating: try input.readAll(), as: UTF8.self) else {
      throw StoreError(StoreError.invalidText, "the script is not UTF-8 text", file: name)
    }
    let script = try Script(text, name: name)
    let store = try store()
    // What the commands print is true only once all of them are done.
    let output = Terminal.Buffer()
    try options.write(store) { _ in
      for command in script.commands {
        try Terminal.$buffer.withValue(output) {
          try OpenStores.$shared.withValue(store) { try run(command, of: script) }
        }
      }
    }
    output.flush()
  }

  /// What looks at the files, where the transaction is not yet, or writes others, which it is not about, or is one of its own.
  private static let excluded: [any ParsableCommand.Type] = [
    Batch.self, Repair.self, Check.self, Tables.self, Info.self, Log.self, Watch.self, Checkpoint.self,
    Undo.self, Redo.self, Export.self, Diff.self,
  ]

  private func run(_ command: Script.Command, of script: Script) throws {
    do {
      var parsed = try FileDBTool.parseAsRoot(command.words)
      guard parsed is any StoreCommand, !Self.excluded.contains(where: { $0 == type(of: parsed) }) else {
        throw ValidationError("'\(command.words[0])' is no command for a script.")
      }
      try parsed.run()
    } catch let error as ExitCode where error == .success {
    } catch {
      throw ScriptError(file: script.name, line: command.line, cause: error)
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
    return "\(file):\(line): \(message.split(separator: "\n").first.map(String.init) ?? "it failed")"
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
