import ArgumentParser
import FileDB

struct Delete: StoreCommand {
  static let configuration = CommandConfiguration(
    abstract: "Delete records. If one of them is not there, none is deleted.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var table: TableReference
  @Argument var ids: [RecordID]
  @OptionGroup var options: WriteOptions

  func run() throws {
    let table = try existingTable(table)
    try options.write(table.store) { tx in try tx.delete(ids, in: table.name) }
  }
}
