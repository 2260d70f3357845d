import ArgumentParser
import FileDB

struct SetFields: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Set fields of a record; the others stay.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var table: TableReference
  @Argument var id: RecordID
  @Argument(help: FieldAssignment.help) var fields: [FieldAssignment]
  @OptionGroup var options: WriteOptions

  func run() throws {
    let record = try fields.record()
    let table = try existingTable(table)
    try options.write(table.store) { tx in try tx.set(record, of: id, in: table.name) }
  }
}
