import ArgumentParser
import FileDB

struct Duplicate: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "duplicate", abstract: "Copy a record and print the copy's id.",
    discussion: "The copy goes below the original, unless you give a place.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var table: TableReference
  @Argument var id: RecordID<Fields>
  @OptionGroup var place: PositionOptions
  @OptionGroup var options: WriteOptions

  func run() throws {
    let table = try existingTable(table)
    let copy = try options.write(table.store) { tx in
      try tx[table.name].duplicate(id, to: place.position)
    }
    Terminal.print(copy.description)
  }
}
