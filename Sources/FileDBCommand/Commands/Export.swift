import ArgumentParser
import FileDB
import FileDBExchange
import FileDBSQLite
import Foundation

struct Export: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write the records of a table to a file in another format.",
    discussion: """
      A file that is there is replaced as a whole, or, where something goes wrong, not at all; a SQLite database gets \
      one more table. Each record has its id as 'id', by which 'filedb import --ids' finds it again. Where --where finds \
      nothing, the exit code is 1. 'filedb help show' says what a PREDICATE is.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var table: TableReference
  @Argument(help: "The file; - is standard output.") var file = "-"
  @OptionGroup var exchange: ExchangeOptions
  @OptionGroup var database: DatabaseDestination
  @Option(help: "Of csv, what ends a line; by default lf.") var lineEnd: DelimitedFormat.LineEnd?
  @OptionGroup var selection: SelectionOptions

  func run() throws {
    let write = try writer()
    let table = try existingTable(table)
    let snapshot = table.snapshot
    let rows = try selection.rows(of: snapshot)
    if file != "-" { try checkIsNoTable(URL(fileURLWithPath: file), in: table.store) }
    try write(rows, snapshot.counter)
    if file != "-" { Terminal.note("\(rows.count) records exported to '\(file)'") }
    if selection.matching.isGiven, rows.isEmpty { throw StoreError.noMatch(in: table.name) }
  }

  /// Writes the rows of a table, which has this counter.
  private typealias Writer = (AnyRandomAccessCollection<StoredRow<Record>>, _ counter: Int64) throws -> Void

  private func writer() throws -> Writer {
    switch try exchange.destination(file) {
    case .stream(let format):
      try database.checkIsAbsent()
      let export = TableExport(format: try laidOut(format), fields: selection.fieldNames)
      guard file != "-" else { return { rows, _ in try export.write(rows) { Terminal.print(bytes: $0) } } }
      let url = URL(fileURLWithPath: file)
      return { rows, _ in try export.write(rows, to: url) }
    case .database(let url):
      try checkIsNotForText()
      var export = SQLiteExport(to: url, table: database.table ?? table.name)
      export.fields = selection.fieldNames
      if database.replace { export.existingTable = .replaced }
      return { [export] rows, counter in try export.run(rows, counter: counter) }
    }
  }

  private func laidOut(_ format: ExchangeFormat) throws -> ExchangeFormat {
    if case .delimited(var delimited, let hasHeader) = format {
      delimited.lineEnd = lineEnd ?? .lf
      return .delimited(delimited, hasHeader: hasHeader)
    }
    try checkIsNotForText()
    if case .binaryPlist = format, file == "-", Terminal.outputIsTerminal {
      throw ValidationError("A binary property list is not for a terminal; name a file.")
    }
    return format
  }

  private func checkIsNotForText() throws {
    guard lineEnd == nil else { throw ValidationError("--line-end is for csv and tsv.") }
  }

  /// In the store's folder a property list is a table, whatever its name, and a table must not be replaced.
  private func checkIsNoTable(_ url: URL, in store: RecordStore) throws {
    let folder = url.deletingLastPathComponent().resolvingSymlinksInPath().path
    guard folder == store.url.resolvingSymlinksInPath().path else { return }
    let isTable = try url.pathExtension == "plist" || store.tableNames.contains(url.lastPathComponent)
    if isTable || exchange.format == .plist {
      throw ValidationError(
        "'\(file)' would be taken for a table of the store; export it into another folder.")
    }
  }
}
