import ArgumentParser
import FileDB

struct ShipRevert: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "revert",
    abstract: "Undo all changes to records of the shipped store, which --attach names.",
    discussion: "The records get back their fields and their places. Deleted records come back.")

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @OptionGroup var records: RecordChoice
  @OptionGroup var options: WriteOptions

  func run() throws {
    let table = try existingTable(table)
    let chosen = try records.chosen()
    try options.write(table.store) { tx in
      for id in try chosen.ids(in: tx[table.name].snapshot()) { try tx[table.name].revert(id) }
    }
  }
}
