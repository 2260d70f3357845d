import ArgumentParser
import FileDB

struct ShipRevert: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "revert",
    abstract: "Undo all changes to records of the shipped store, which --attach names.",
    discussion: "The records get back their fields and their places. Deleted records come back.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(
    help: ArgumentHelp("The ids of the records.", valueName: "ids"),
    transform: ManyWords.ids)
  var words: [[RecordID<Fields>]]
  @OptionGroup var options: WriteOptions

  func run() throws {
    let table = try existingTable(table)
    try options.write(table.store) { tx in
      for id in words.joined() { try tx[table.name].revert(id) }
    }
  }
}
