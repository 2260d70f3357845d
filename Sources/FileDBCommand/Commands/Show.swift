import ArgumentParser
import FileDB

struct Show: StoreCommand {
  static let configuration = CommandConfiguration(abstract: "Print the records of a table, in their order.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var table: TableReference
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Sort by fields, -FIELD for descending; the table stays as it is.", valueName: "key,-key"))
  var sort: String?
  @Flag(help: "Sort text as a person would: 'item 2' before 'item 10', letters before their case.")
  var localized = false
  @Option(help: ArgumentHelp("Print these fields only, in this order.", valueName: "a,b"))
  var fields: String?
  @Option(help: ArgumentHelp("Print at most this many records.", valueName: "n"))
  var limit: Int?
  @Option(help: ArgumentHelp("Leave out this many records at the start.", valueName: "n"))
  var offset = 0
  @OptionGroup var output: FormatOption

  func validate() throws {
    if offset < 0 || (limit ?? 0) < 0 { throw ValidationError("--limit and --offset are not negative.") }
  }

  func run() throws {
    let snapshot = try existingTable(table).snapshot
    var rows: [StoredRow<Record>] = []
    if let sort {
      rows = snapshot.sorted(by: try SortKey.parse([sort], text: localized ? .localized : .bytes))
      rows = Array(rows.dropFirst(offset).prefix(limit ?? .max))
    } else {
      rows = Array(snapshot.dropFirst(offset).prefix(limit ?? .max))
    }
    let chosen = fields.map { $0.split(separator: ",").map(String.init) }
    RecordPrinter(format: output.format, fields: chosen).print(rows)
  }
}
