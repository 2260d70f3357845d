import ArgumentParser
import FileDB

struct Unset: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "unset", abstract: "Remove fields of a record.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var table: TableReference
  @Argument var id: RecordID
  @Argument var fields: [String]
  @OptionGroup var options: WriteOptions

  func run() throws {
    let table = try existingTable(table)
    try options.write(table.store) { tx in try tx.unset(fields, of: id, in: table.name) }
  }
}
