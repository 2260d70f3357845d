import ArgumentParser
import FileDB

struct Duplicate: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "duplicate",
    abstract: "Copy records, by their ids or by a condition, and print the ids of the copies.",
    discussion: "Each copy goes below its original, unless you give a place.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(
    help: ArgumentHelp(IDWord.help.abstract, valueName: "ids"), transform: IDWord.each)
  var words: [[IDWord]] = []
  @OptionGroup var condition: WriteCondition
  @OptionGroup var place: PositionOptions
  @OptionGroup var options: WriteOptions

  func validate() throws { try condition.matching.validate(besides: words.flatMap(\.self)) }

  func run() throws {
    let table = try existingTable(table)
    let chosen = try ChosenRecords(words.flatMap(\.self), condition)
    let copies = try options.write(table.store) { tx in
      try tx[table.name].duplicate(chosen.ids(in: tx[table.name].snapshot()), to: place.position)
    }
    for copy in copies { Terminal.print(copy.description) }
  }
}
