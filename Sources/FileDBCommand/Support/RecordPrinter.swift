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
  let format: OutputFormat
  /// The fields to print, in this order; `nil` for all that occur, in the order of their UTF-8 bytes.
  let fields: [String]?

  func print(_ records: [StoredRecord<Fields>]) throws {
    guard let exchange = format.exchange else { return printTable(records) }
    try TableExport(format: exchange, fields: fields).write(records) { Terminal.print(bytes: $0) }
  }

  /// Prints groups one behind the other; as a table under headings, which stand for the column of `field`.
  func print(_ groups: [RecordGroup], by field: String) throws {
    let records = groups.flatMap(\.records)
    guard format == .table, !records.isEmpty else { return try print(records) }
    var lines = tableLines(
      records, columns(of: records).filter { fields != nil || !$0.utf8.elementsEqual(field.utf8) })[...]
    Terminal.printStyled(lines.removeFirst())
    for group in groups {
      let heading = TerminalText.truncated(
        "\(group.title) (\(group.records.count))", to: Terminal.width ?? .max)
      Terminal.printStyled("\n" + Terminal.bold(heading))
      for line in lines.prefix(group.records.count) { Terminal.printStyled(line) }
      lines = lines.dropFirst(group.records.count)
    }
    for line in lines { Terminal.printStyled(line) }
  }

  private func columns(of records: [StoredRecord<Fields>]) -> [String] {
    if let fields { return fields }
    var columns = PlistDictionary()
    for record in records {
      for field in record.fields.dictionary where columns[field.key] == nil { columns[field.key] = true }
    }
    return columns.keys
  }

  /// Without records there is nothing to see, not even a title.
  private func printTable(_ records: [StoredRecord<Fields>]) {
    if records.isEmpty { return }
    for line in tableLines(records, columns(of: records)) { Terminal.printStyled(line) }
  }

  /// The title, a line for each record, and what else there is to say.
  private func tableLines(_ records: [StoredRecord<Fields>], _ fields: [String]) -> [String] {
    let values = records.map(\.fields)  // Decoded once.
    let columns = fields.map { field in
      TextTable.Column(
        title: TerminalText.defused(JSONText.fieldName(field)),
        isNumeric: values.contains { $0[field] != nil }
          && values.allSatisfy { $0[field]?.isNumeric ?? true })
    }
    let cells = zip(records, values).map { record, values in
      [record.id.description] + fields.map { values[$0]?.cell ?? "" }
    }
    let table = TextTable(columns: [TextTable.Column(title: "id", isNumeric: true)] + columns, rows: cells)
    return table.lines(width: Terminal.width)
  }
}
