import ArgumentParser
import FileDB

struct Move: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Move records to another place.",
    discussion: "Afterwards they follow one another there, in the order in which you name them.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(
    help: ArgumentHelp("The ids of the records.", valueName: "ids"),
    transform: ManyWords.ids)
  var words: [[RecordID<Fields>]]
  @OptionGroup var place: PositionOptions
  @OptionGroup var options: WriteOptions

  func run() throws {
    guard let position = place.position else {
      throw ValidationError("Say where: --top, --bottom, --before ID, --after ID or --index N.")
    }
    let table = try existingTable(table)
    try options.write(table.store) { tx in try tx[table.name].move(words.flatMap(\.self), to: position) }
  }
}
