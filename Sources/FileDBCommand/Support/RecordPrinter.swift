import ArgumentParser
import FileDB
import FileDBExchange

/// How records are printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  /// For people; may change. The others are stable.
  case table
  case json, ndjson, csv, tsv, plist

  /// `nil` for a table.
  fileprivate var exchange: ExchangeFormat? {
    switch self {
    case .table: nil
    case .json: .json
    case .ndjson: .ndjson
    case .csv: .delimited(.csv)
    case .tsv: .delimited(.tsv)
    case .plist: .plist
    }
  }
}

struct FormatOption: ParsableArguments {
  @Option(help: "The output format; table is for people and may change, the others are stable.")
  var format = OutputFormat.table
}

/// Prints records in any of the formats.
struct RecordPrinter {
  typealias Row = StoredRow<Record>

  let format: OutputFormat
  /// The fields to print, in this order; `nil` for all that occur, in the order of their UTF-8 bytes.
  let fields: [String]?

  func print(_ rows: [Row]) throws {
    guard let exchange = format.exchange else { return printTable(rows) }
    try TableExport(format: exchange, fields: fields).write(rows) { Terminal.print(bytes: $0) }
  }

  /// Prints groups one behind the other; as a table under headings, which stand for the column of `field`.
  func print(_ groups: [RowGroup], by field: String) throws {
    let rows = groups.flatMap(\.rows)
    guard format == .table, !rows.isEmpty else { return try print(rows) }
    var lines = tableLines(
      rows, columns(of: rows).filter { fields != nil || !$0.utf8.elementsEqual(field.utf8) })[...]
    Terminal.printStyled(lines.removeFirst())
    for group in groups {
      let heading = TerminalText.truncated(
        "\(group.title) (\(group.rows.count))", to: Terminal.width ?? .max)
      Terminal.printStyled("\n" + Terminal.bold(heading))
      for line in lines.prefix(group.rows.count) { Terminal.printStyled(line) }
      lines = lines.dropFirst(group.rows.count)
    }
    for line in lines { Terminal.printStyled(line) }
  }

  private func columns(of rows: [Row]) -> [String] {
    if let fields { return fields }
    var columns = PlistDictionary()
    for row in rows {
      for field in row.record.fields where columns[field.key] == nil { columns[field.key] = true }
    }
    return columns.keys
  }

  /// Without rows there is nothing to see, not even a title.
  private func printTable(_ rows: [Row]) {
    if rows.isEmpty { return }
    for line in tableLines(rows, columns(of: rows)) { Terminal.printStyled(line) }
  }

  /// The title, a line for each row, and what else there is to say.
  private func tableLines(_ rows: [Row], _ fields: [String]) -> [String] {
    let columns = fields.map { field in
      TextTable.Column(
        title: TerminalText.defused(JSONText.fieldName(field)),
        isNumeric: rows.contains { $0.record[field] != nil }
          && rows.allSatisfy { $0.record[field]?.isNumeric ?? true })
    }
    let cells = rows.map { row in [row.id.description] + fields.map { row.record[$0]?.cell ?? "" } }
    let table = TextTable(columns: [TextTable.Column(title: "id", isNumeric: true)] + columns, rows: cells)
    return table.lines(width: Terminal.width)
  }
}
