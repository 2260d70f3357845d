import ArgumentParser
import FileDBExchange

/// How something is printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  /// For people; may change. The others are stable.
  case table
  case json, ndjson, csv, tsv, markdown, plist
}

struct FormatOption: ParsableArguments {
  @Option(help: "The output format; table is for people and may change, the others are stable.")
  var format = OutputFormat.table
  @Flag(help: "Print no line with the names of the columns: in table, csv, tsv and markdown.")
  var noHeader = false

  var heading: Heading { noHeader ? .hidden : .shown }
}

/// How records are printed.
struct RecordOutput: ParsableArguments {
  @OptionGroup var output: FormatOption
  @Flag(name: .customLong("no-id"), help: "Leave out the ids of the records.")
  var noID = false

  var format: OutputFormat { output.format }
  var ids: TableExport.IDs { noID ? .omitted : .written }
}
