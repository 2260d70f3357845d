import ArgumentParser
import FileDB

struct Search: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Print the records that contain all of the words.",
    discussion: """
      Each word may be in a different field, and may be a part of a longer word. Case and accents do not matter. Only \
      text and arrays of text are searched. If no record has all of the words, the exit code is 1. For exact \
      conditions, use 'filedb show --where'.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(help: "The words to look for.") var words: [String]
  @Option(name: .customLong("in"), help: ArgumentHelp("Search only these fields.", valueName: "a,b"))
  var searched: String?
  @Option(help: ArgumentHelp("Print only these fields, in this order.", valueName: "a,b"))
  var fields: String?
  @Option(parsing: .unconditional, help: ArgumentHelp("Print at most this many records.", valueName: "n"))
  var limit: Int?
  @OptionGroup var output: RecordOutput

  func validate() throws {
    if (limit ?? 0) < 0 { throw ValidationError("--limit must not be negative.") }
  }

  func run() throws {
    let snapshot = try existingTable(table).snapshot()
    let (searched, chosen) = try (FieldReference.list(searched), FieldReference.list(fields))
    Terminal.noteUnknown((searched ?? []) + (chosen ?? []), in: snapshot)
    let names = try searched?.map { field in
      guard case .path(let path) = field, path.count == 1 else {
        throw ValidationError("--in takes whole fields, not '\(field.title)'.")
      }
      return path[0].text
    }
    let found = snapshot.search(words.joined(separator: " "), in: names)
    let printer = RecordPrinter(output, fields: chosen, schema: snapshot.knownSchema)
    try printer.print(limit.map { Array(found.prefix($0)) } ?? found, highestID: snapshot.counter)
    if found.isEmpty { throw StoreError.noMatch(in: TableName(snapshot.table)) }
  }
}
