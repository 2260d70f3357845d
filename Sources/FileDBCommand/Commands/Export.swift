import ArgumentParser
import FileDB
import FileDBExchange
import Foundation

struct Export: StoreCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write the records of a table to a file in another format.",
    discussion: """
      A file that is there is replaced as a whole, or, where something goes wrong, not at all. Each record has its id as \
      'id', by which 'filedb import --ids' finds it again. Where --where finds nothing, the exit code is 1. 'filedb help \
      show' says what a PREDICATE is.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var table: TableReference
  @Argument(help: "The file; - is standard output.") var file = "-"
  @OptionGroup var exchange: ExchangeOptions
  @Option(help: "Of csv, what ends a line.") var lineEnd = DelimitedFormat.LineEnd.lf
  @OptionGroup var selection: SelectionOptions

  func run() throws {
    let export = TableExport(format: try format(), fields: selection.fieldNames)
    let table = try existingTable(table)
    let rows = try selection.rows(of: table.snapshot)
    if file == "-" {
      try export.write(rows) { Terminal.print(bytes: $0) }
    } else {
      let url = URL(fileURLWithPath: file)
      try checkIsNoTable(url, in: table.store)
      try export.write(rows, to: url)
      Terminal.note("\(rows.count) records exported to '\(file)'")
    }
    if selection.matching.isGiven, rows.isEmpty { throw StoreError.noMatch(in: table.name) }
  }

  private func format() throws -> ExchangeFormat {
    let format = try exchange.format(of: file == "-" ? nil : file)
    switch format {
    case .delimited(var delimited, let hasHeader):
      delimited.lineEnd = lineEnd
      return .delimited(delimited, hasHeader: hasHeader)
    case .binaryPlist where file == "-" && Terminal.outputIsTerminal:
      throw ValidationError("A binary property list is not for a terminal; name a file.")
    default: return format
    }
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
