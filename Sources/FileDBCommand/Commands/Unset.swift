import ArgumentParser
import FileDB

struct Unset: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "unset", abstract: "Remove fields from a record.",
    discussion: "A.B is the value B in the dictionary A. It is not an error if a field does not exist.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var table: TableReference
  @Argument var id: RecordID<Fields>
  @Argument(transform: RemovedField.init(argument:)) var fields: [RemovedField]
  @OptionGroup var options: WriteOptions

  func run() throws {
    let table = try existingTable(table)
    try options.write(table.store) { tx in
      _ = try FieldChanges(removing: fields).apply(to: id, in: table.name, &tx)
    }
  }
}
