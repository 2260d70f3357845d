import ArgumentParser
import FileDB
import FileDBExchange
import Foundation

struct Import: StoreCommand {
  static let configuration = CommandConfiguration(
    abstract: "Bring the rows of a file into a table, which is made where it is missing.",
    discussion: """
      The file is delimited text, JSON, NDJSON or a property list, by its extension or --format. Of delimited text the first \
      row names the fields, unless --fields does. All rows come in, or, where one is wrong, none. With --on-error skip the \
      wrong ones are reported and left out; where no row is left, the exit code is 65.

      With --key a row whose key is there changes that record: fields of the row win, the others stay.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument(help: "The file; - is standard input, during which other writers wait.") var file: String
  @Argument var table: TableReference
  @OptionGroup var exchange: ExchangeOptions
  @Option(help: ArgumentHelp("The names of the columns, where there is no header.", valueName: "a,b,c"))
  var fields: String?
  @Option(
    help: ArgumentHelp(
      "Types of fields that are no strings: integer, float, bool, date, data, json.",
      valueName: "a=integer,b=float"))
  var types: String?
  @Flag(
    help:
      "Find the types of the columns: integer, float, bool, date where all values are, and are written the same."
  )
  var detect = false
  @Option(help: "What an empty text of csv is: no field, unless it is in quotes; or a text.")
  var empty = DelimitedImport.EmptyText.missing
  @Option(
    help: ArgumentHelp("Change the records that have the same values in these fields.", valueName: "a,b"))
  var key: String?
  @Flag(
    help:
      "The field id is the record's id, as in exports, and id_ a field called id; else id is a field like any other."
  )
  var ids = false
  @Option(help: "What a wrong row does.") var onError = TableImport.ErrorPolicy.stop
  @OptionGroup var place: PositionOptions
  @OptionGroup var options: WriteOptions

  func validate() throws {
    if ids, key != nil { throw ValidationError("Only one of --key and --ids.") }
    if (exchange.header == true) == (fields != nil), exchange.header != nil {
      throw ValidationError("Name the fields: --header, or --fields a,b,c.")
    }
  }

  func run() throws {
    var importer = try importer()
    let source = try source()
    if detect {
      importer.types = try importer.detectedTypes(of: source)
      let types = importer.types.map { "\($0.key)=\($0.value)" }.sorted()
      Terminal.note("types: " + (types.isEmpty ? "all are text" : types.joined(separator: ",")))
    }
    var progress = Progress()
    defer { progress.finish() }
    let report = try options.write(store(for: table)) { tx in
      try importer.run(source, into: .records(table.name), at: place.position ?? .bottom, in: &tx) { count in
        progress.report("\(count) rows read")
      }
    }
    try say(report)
  }

  private func importer() throws -> TableImport {
    var format = try exchange.format(of: file == "-" ? nil : file)
    if case .delimited(let delimited, _) = format {
      format = .delimited(delimited, hasHeader: fields == nil)
    } else if fields != nil || detect {
      throw ValidationError("--fields and --detect are for csv and tsv.")
    }
    var importer = TableImport(format: format)
    importer.fields = Self.names(fields) ?? []
    importer.types = try fieldTypes()
    importer.emptyText = empty
    importer.matching = Self.names(key).map(TableImport.Matching.key) ?? (ids ? .id : .nothing)
    importer.onError = onError
    return importer
  }

  private func source() throws -> ImportSource {
    guard file != "-" else { return try detect ? .standardInput.buffered() : .standardInput }
    let url = URL(fileURLWithPath: file)
    // Before the store is locked, and for good: a pipe can be opened only once.
    var opened: InputFile? = try InputFile(url)
    let source = ImportSource(name: file) {
      let input = try opened ?? InputFile(url)
      opened = nil
      return { try input.read() }
    }
    let attributes = try? FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
    let isRegular = attributes?[.type] as? FileAttributeType == .typeRegular
    return detect && !isRegular ? try source.buffered() : source
  }

  private func say(_ report: ImportReport) throws {
    for error in report.skipped { Terminal.complain(error.description) }
    let would = options.dryRun ? "would be " : ""
    let taken = report.added + report.changed + report.unchanged
    let skipped = report.skipped.isEmpty ? "" : ", \(report.skipped.count) skipped"
    if key != nil || ids {
      Terminal.note(
        "\(report.added) \(would)added, \(report.changed) \(would)changed, \(report.unchanged) unchanged"
          + skipped)
    } else {
      Terminal.note("\(report.added) records \(would)imported into '\(table.name)'" + skipped)
    }
    if taken == 0, !report.skipped.isEmpty { throw ExitCode(65) }
  }

  private static func names(_ list: String?) -> [String]? {
    list.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
  }

  private func fieldTypes() throws -> [String: FieldType] {
    var result: [String: FieldType] = [:]
    for item in types?.split(separator: ",") ?? [] {
      guard let equals = item.lastIndex(of: "="),
        let type = FieldType(rawValue: String(item[item.index(after: equals)...]))
      else { throw ValidationError("--types takes FIELD=TYPE, and '\(item)' is none.") }
      result[String(item[..<equals])] = type
    }
    return result
  }
}
