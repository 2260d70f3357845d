import ArgumentParser
import FileDB

struct Create: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Create an empty table, and the store's folder if it is missing.")

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @OptionGroup var options: WriteOptions

  func run() throws {
    try options.write(store(for: table)) { tx in try tx[table.name].create() }
  }
}
