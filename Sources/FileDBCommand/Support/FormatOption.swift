import ArgumentParser
import FileDBExchange

/// The formats for printing.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  /// For people. It may change. The other formats are stable.
  case table
  case json, ndjson, csv, tsv, markdown, plist
}

struct FormatOption: ParsableArguments {
  @Option(help: "The output format; table is for people and may change, the others are stable.")
  var format = OutputFormat.table
  @Flag(help: "Leave out the line with the names of the columns, in table, csv, tsv and markdown.")
  var noHeader = false

  var heading: Heading { noHeader ? .hidden : .shown }
}

/// The options for printing records.
struct RecordOutput: ParsableArguments {
  @OptionGroup var output: FormatOption
  @Flag(name: .customLong("no-id"), help: "Leave out the ids of the records.")
  var noID = false
  @Option(
    help: ArgumentHelp(
      "Print the times of the table format in this time zone, and let today be its day: local, or Europe/Berlin.",
      valueName: "zone"))
  var zone: String?

  var format: OutputFormat { output.format }
  var ids: TableExport.IDs { noID ? .omitted : .written }
}
