import ArgumentParser
import FileDB

struct Show: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print the records of a table, in their order.",
    discussion: """
      \(WhereOption.grammar)

      --search finds records that contain all of its words. Each word may be in a different field, and may be a part of \
      a longer word. Case and accents do not matter. Only text and arrays of text are searched.

      With --group, records with the same values in the fields are printed together. The groups come in the order of \
      their first records. The table format prints a heading for each group; the other formats print one group after \
      another. --limit and --offset choose the records before they are grouped.

      The first \(RecordPrinter.firstScreen) records decide which columns a table has, and how wide they are. Later \
      records are printed as they are read: on a terminal, text that is too wide is cut off, and a message names the \
      fields that have no column. --fields chooses the columns, --whole cuts nothing off, and --page lets you scroll. \
      Each type has a colour; set NO_COLOR to turn colours off.

      If no record matches --where and --search, the exit code is 1.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @OptionGroup var selection: SelectionOptions
  @Option(
    help: ArgumentHelp("Print records with the same values in these fields together.", valueName: "a,b"),
    transform: FieldReference.someFields)
  var group: [FieldReference]?
  @Option(parsing: .unconditional, help: ArgumentHelp("Print at most this many records.", valueName: "n"))
  var limit: Int?
  @Option(
    parsing: .unconditional, help: ArgumentHelp("Leave out this many records at the start.", valueName: "n"))
  var offset = 0
  @OptionGroup var output: RecordOutput
  @Flag(help: "Print all columns and all of each value, however long the lines become.") var whole =
    false
  @Flag(help: "On a terminal, show everything, whole, in the program that $PAGER names; by default less.")
  var page = false

  func validate() throws {
    if offset < 0 || (limit ?? 0) < 0 { throw ValidationError("--limit and --offset must not be negative.") }
  }

  func run() throws { try LocalTime.run(in: output.zone) { try printRecords() } }

  private func printRecords() throws {
    let table = try existingTable(table)
    let snapshot = try table.snapshot()
    let records = try selection.records(of: snapshot)
    if page { Pager.start() }
    let printer = RecordPrinter(
      output, fields: try selection.chosenFields(), schema: snapshot.knownSchema,
      width: whole || page ? nil : Terminal.width)
    let isPage = offset > 0 || limit != nil
    let page = isPage ? records.dropFirst(offset).prefix(limit ?? .max) : records
    if let group {
      Terminal.noteUnknown(group, in: snapshot)
      try printer.print(PrintedGroup.groups(of: Array(page), by: group), by: group)
    } else {
      try printer.print(page, highestID: snapshot.counter)
    }
    if selection.isCondition, records.isEmpty { throw StoreError.noMatch(in: table.name) }
  }
}
