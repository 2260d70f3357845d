import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

struct GitTextconv: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "textconv",
    abstract: "Print a table's file as lines for 'git diff' and 'git log -p'.",
    discussion: """
      Each record has a line with its id, then one for each field. The index map is left out, since it changes with \
      every record that is added on top. A file that is not a table is printed as it is. 'filedb git setup' makes git \
      use this command.
      """)

  @Argument(help: "The file; its name does not matter.") var file: String

  func run() throws {
    let url = URL(fileURLWithPath: file)
    do {
      let table = try TableSnapshot<Fields>(contentsOf: url)
      Terminal.print("autoincrement \(table.counter)")
      for record in table {
        Terminal.print("record \(record.id)")
        for field in record.fields.dictionary {
          Terminal.print("  \(TerminalText.defused(field.key)): \(Self.text(field.value))")
        }
      }
    } catch let error as StoreError where error.exitStatus == 65 {
      // Otherwise, git would show nothing at all.
      Terminal.print(String(decoding: try InputFile(url).readAll(), as: UTF8.self), terminator: "")
    }
  }

  /// The text of a value. Values of different types have different texts.
  private static func text(_ value: PlistValue) -> String {
    switch value {
    case .date, .data: "\(value.typeName) \(JSONText.value(value))"
    default: JSONText.value(value)
    }
  }
}
