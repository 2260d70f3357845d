import ArgumentParser
import FileDB

struct Move: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Move records to another place, by their ids or by a condition.",
    discussion: """
      Afterwards they follow one another there: in the order in which you name them, or with --where in the order that \
      they had. 'filedb help show' explains predicates.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @OptionGroup var records: RecordChoice
  @OptionGroup var place: PositionOptions
  @OptionGroup var options: WriteOptions

  func validate() throws {
    if place.position == nil {
      throw ValidationError("Say where: --top, --bottom, --before ID, --after ID or --index N.")
    }
  }

  func run() throws {
    let table = try existingTable(table)
    let chosen = try records.chosen()
    let count = try options.write(table.store) { tx in
      let ids = try chosen.ids(in: tx[table.name].snapshot())
      try tx[table.name].move(ids, to: place.position ?? .bottom)
      return ids.count
    }
    if chosen.isCounted { Terminal.note(count, "moved", by: options) }
  }
}
