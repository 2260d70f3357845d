import ArgumentParser
import FileDB

struct Duplicate: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "duplicate",
    abstract: "Copy records, by their ids or by a condition, and print the ids of the copies.",
    discussion: "Each copy goes below its original, unless you give a place.")

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @OptionGroup var records: RecordChoice
  @OptionGroup var place: PositionOptions
  @OptionGroup var options: WriteOptions

  func run() throws {
    let table = try existingTable(table)
    let chosen = try records.chosen()
    let copies = try options.write(table.store) { tx in
      try tx[table.name].duplicate(chosen.ids(in: tx[table.name].snapshot()), to: place.position)
    }
    for copy in copies { Terminal.print(copy.description) }
  }
}
