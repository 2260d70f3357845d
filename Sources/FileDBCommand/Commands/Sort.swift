import ArgumentParser
import FileDB

struct Sort: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "sort", abstract: "Sort the records of a table, and save the order.",
    discussion: """
      Records without the field come last. Records that compare as equal keep their order. Records that are added \
      later are not sorted in; run the command again.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(
    parsing: .allUnrecognized,
    help: ArgumentHelp(
      "Fields to sort by, such as group,-kcal: by group, and in a group by kcal, the greatest first.",
      valueName: "key,-key"))
  var keys: [String]
  @Flag(help: "Sort text as a person would: 'item 2' before 'item 10', and case only as a last resort.")
  var localized = false
  @OptionGroup var options: WriteOptions

  func run() throws {
    // A key may begin with a hyphen, so the parser takes this for one.
    if keys.contains("--help") { throw CleanExit.helpRequest(self) }
    let keys = try SortKey.parse(keys, text: TextOrder(localized: localized))
    let table = try existingTable(table)
    try Terminal.noteUnknown(keys.map(\.reference), in: table.snapshot())
    try options.write(table.store, named: "sort of \(table.name.text)") { tx in
      try tx[table.name].sort(by: keys)
    }
  }
}
