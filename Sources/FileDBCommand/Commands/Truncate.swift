import ArgumentParser
import FileDB

struct Truncate: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "truncate", abstract: "Delete every record and start counting ids from 1 again.")

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
      "Delete \(table.count.counted("record")), all of '\(table.name.text)'", table, options
    ) { try $0.truncate() }
    try options.write(table.store, named: "truncation of \(table.name.text)") { tx in
      try tx[table.name].truncate()
    }
  }
}
