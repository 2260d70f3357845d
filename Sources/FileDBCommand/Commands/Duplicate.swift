import ArgumentParser
import FileDB

struct Duplicate: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "duplicate", abstract: "Copy records and print the ids of the copies.",
    discussion: "Each copy goes below its original, unless you give a place.")

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
    let table = try existingTable(table)
    let copies = try options.write(table.store) { tx in
      try tx[table.name].duplicate(words.flatMap(\.self), to: place.position)
    }
    for copy in copies { Terminal.print(copy.description) }
  }
}
