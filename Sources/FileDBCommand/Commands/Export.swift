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
    var progress = Progress()
    defer { progress.finish() }
    func tell(_ count: Int) { progress.report("\(count) of \(rows.count) rows written") }
    if file == "-" {
      // On a terminal the rows themselves are seen.
      try export.write(rows, progress: Terminal.outputIsTerminal ? { _ in } : tell) {
        Terminal.print(bytes: $0)
      }
    } else {
      let url = URL(fileURLWithPath: file)
      try checkIsNoTable(url, in: table.store)
      try export.write(rows, to: url, progress: tell)
      progress.finish()
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

  /// In a store's folder a property list is a table, whatever its name, and a table must not be replaced, by whatever way
  /// its path leads there.
  private func checkIsNoTable(_ url: URL, in store: RecordStore) throws {
    let target = FileInfo.target(of: url)
    let folder = target.deletingLastPathComponent()
    let stores = [store.url, store.attachedURL].compactMap(\.self)
    guard stores.contains(where: { FileInfo.isSame(folder, $0) }) || FileInfo.isStore(folder) else { return }
    let names = try RecordStore(at: folder).tableNames
    let isTable = target.pathExtension == "plist" || names.contains(target.lastPathComponent)
    if isTable || exchange.format == .plist {
      throw ValidationError("'\(file)' would be taken for a table of a store; export it into another folder.")
    }
  }
}
