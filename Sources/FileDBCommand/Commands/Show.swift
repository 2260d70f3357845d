import ArgumentParser
import FileDB

struct Show: StoreCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the records of a table, in their order.",
    discussion: """
      \(WhereOption.grammar)

      With --group, records with the same value in a field are printed together, the groups in the order of their first \
      records: in the table format under a heading each, in the others one behind the other. --limit and --offset count \
      before that. Where --where finds nothing, the exit code is 1.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var table: TableReference
  @OptionGroup var matching: WhereOption
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Sort by fields, -FIELD for descending; the table stays as it is.", valueName: "key,-key"))
  var sort: String?
  @Flag(help: "Sort text as a person would: 'item 2' before 'item 10', letters before their case.")
  var localized = false
  @Option(help: ArgumentHelp("Print these fields only, in this order.", valueName: "a,b"))
  var fields: String?
  @Option(help: ArgumentHelp("Print records with the same value in this field together.", valueName: "field"))
  var group: String?
  @Option(help: ArgumentHelp("Print at most this many records.", valueName: "n"))
  var limit: Int?
  @Option(help: ArgumentHelp("Leave out this many records at the start.", valueName: "n"))
  var offset = 0
  @OptionGroup var output: FormatOption

  func validate() throws {
    if offset < 0 || (limit ?? 0) < 0 { throw ValidationError("--limit and --offset are not negative.") }
  }

  func run() throws {
    let predicate = try matching.predicate()
    let table = try existingTable(table)
    let rows = try rows(of: table.snapshot, where: predicate)
    let chosen = fields.map { $0.split(separator: ",").map(String.init) }
    let printer = RecordPrinter(format: output.format, fields: chosen)
    let page = Array(rows.dropFirst(offset).prefix(limit ?? .max))
    if let group {
      printer.print(RowGroup.groups(of: page, by: group), by: group)
    } else {
      printer.print(page)
    }
    if matching.isGiven, rows.isEmpty { throw StoreError.noMatch(in: table.name) }
  }

  /// Without a condition or an order, the table itself: a page of it needs no other rows.
  private func rows(
    of snapshot: TableSnapshot<Record>, where predicate: RecordPredicate?
  ) throws -> AnyRandomAccessCollection<StoredRow<Record>> {
    guard let sort else {
      return predicate.map { AnyRandomAccessCollection(snapshot.rows(where: $0)) }
        ?? AnyRandomAccessCollection(snapshot)
    }
    let rows = snapshot.sorted(by: try SortKey.parse([sort], text: localized ? .localized : .bytes))
    return AnyRandomAccessCollection(predicate.map { rows.filter($0.matches) } ?? rows)
  }
}
