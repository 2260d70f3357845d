import ArgumentParser
import FileDB
import FileDBExchange
import Foundation

extension DelimitedFormat.Encoding: ExpressibleByArgument {}

struct Import: StoreCommand {
  static let configuration = CommandConfiguration(
    abstract: "Add the rows of a delimited text file to a table, which is made where it is missing.",
    discussion: """
      Either --header or --fields names the fields. All rows are added, or, where one is wrong, none. An empty text \
      leaves its field out, unless the field is a string.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument(help: "The file; - is standard input.") var file: String
  @Argument var table: TableReference
  @Option(help: ArgumentHelp("The character between fields; 'tab' for a tab.", valueName: "c"))
  var separator = ","
  @Option(help: ArgumentHelp("The character around fields; empty for none.", valueName: "c")) var quote = "\""
  @Flag(help: "The first row names the fields.") var header = false
  @Option(help: ArgumentHelp("The names of the fields.", valueName: "a,b,c")) var fields: String?
  @Option(
    help: ArgumentHelp(
      "Types of fields that are no strings: integer, float, bool, date, data, json.",
      valueName: "a=integer,b=float"))
  var types: String?
  @Option(help: "How the file's characters are encoded.") var encoding = DelimitedFormat.Encoding.utf8
  @OptionGroup var place: PositionOptions
  @OptionGroup var options: WriteOptions

  func run() throws {
    guard header != (fields != nil) else {
      throw ValidationError("Name the fields: --header, or --fields a,b,c.")
    }
    let importer = DelimitedImport(
      fields: fields.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) },
      types: try fieldTypes())
    let name = file == "-" ? "standard input" : file
    let input = file == "-" ? InputFile.standardInput : try InputFile(URL(fileURLWithPath: file))
    let reader = DelimitedReader(name: name, format: try format()) { try input.read() }
    var batches: [[Record]] = [[]]
    var progress = Progress()
    let count = try importer.run(reader, file: name) { record in
      if batches[batches.count - 1].count == 1_000 { batches.append([]) }
      batches[batches.count - 1].append(record)
      progress.report("\((batches.count - 1) * 1_000) rows read")
    }
    progress.finish()
    try options.write(store(for: table)) { tx in
      var place = place.position ?? .bottom
      for number in batches.indices {
        let ids = try tx.add(contentsOf: batches[number], to: .records(table.name), at: place)
        if let last = ids.last { place = .after(last) }
        batches[number] = []  // Now the transaction has them.
      }
    }
    let done = options.dryRun ? "would be imported" : "imported"
    Terminal.note("\(count) records \(done) into '\(table.name)'")
  }

  private func format() throws -> DelimitedFormat {
    let separator = ["tab", "\\t"].contains(separator) ? "\t" : separator
    guard separator.count == 1, quote.count <= 1,
      let format = DelimitedFormat(separator: Character(separator), quote: quote.first, encoding: encoding)
    else { throw ValidationError("--separator takes one ASCII character, --quote another or none.") }
    return format
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
