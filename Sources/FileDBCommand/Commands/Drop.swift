import ArgumentParser
import FileDB

struct Drop: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Remove a table and its file.",
    discussion:
      "A later table of the same name continues the ids. To start again at 1, truncate before you drop.")

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @OptionGroup var options: WriteOptions
  @Flag(help: "Do nothing if there is no such table.") var ifExists = false
  @OptionGroup var confirmation: ConfirmOption

  func run() throws {
    try confirmation.check(options)
    if ifExists, try !exists(table) { return }
    let table = try existingTable(table)
    try confirmation.ask(
      "Remove '\(table.name.text)' with its \(table.count.counted("record"))", table, options
    ) { try $0.drop() }
    WriteOptions.noteRemovedLink(table)
    try options.write(table.store, named: "drop of \(table.name.text)") { tx in
      try tx[table.name].drop()
    }
  }
}
