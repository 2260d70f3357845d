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
  let fields: [FieldReference]?

  func print(_ records: [StoredRecord<Fields>]) throws {
    guard let exchange = format.exchange else { return printTable(records) }
    try TableExport(format: exchange, chosen: fields).write(records) { Terminal.print(bytes: $0) }
  }

  /// Prints one record by itself: in JSON and as a property list it is no array.
  func print(_ record: StoredRecord<Fields>) throws {
    guard let exchange = format.exchange else { return printTable([record]) }
    try TableExport(format: exchange, chosen: fields).write(alone: record) { Terminal.print(bytes: $0) }
  }

  /// Prints groups one behind the other; as a table under headings, which stand for the column of `field`.
  func print(_ groups: [RecordGroup], by field: FieldReference) throws {
    let records = groups.flatMap(\.records)
    guard format == .table, !records.isEmpty else { return try print(records) }
    var lines = tableLines(
      records, columns(of: records).filter { fields != nil || field == .id || $0 != field })[...]
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

  private func columns(of records: [StoredRecord<Fields>]) -> [FieldReference] {
    if let fields { return fields.withID }
    var columns = PlistDictionary()
    for record in records {
      for field in record.fields.dictionary where columns[field.key] == nil { columns[field.key] = true }
    }
    return columns.keys.map(FieldReference.init(field:)).withID
  }

  /// Without records there is nothing to see, not even a title.
  private func printTable(_ records: [StoredRecord<Fields>]) {
    if records.isEmpty { return }
    for line in tableLines(records, columns(of: records)) { Terminal.printStyled(line) }
  }

  /// The title, a line for each record, and what else there is to say.
  private func tableLines(_ records: [StoredRecord<Fields>], _ fields: [FieldReference]) -> [String] {
    let values = records.map { record in
      let decoded = record.fields  // Once.
      return fields.map { $0.value(in: decoded, of: record.id.plain) }
    }
    let columns = fields.enumerated().map { column, field in
      TextTable.Column(
        title: TerminalText.defused(field.title),
        isNumeric: values.contains { $0[column] != nil }
          && values.allSatisfy { $0[column]?.isNumeric ?? true })
    }
    let cells = values.map { $0.map { $0?.cell ?? "" } }
    return TextTable(columns: columns, rows: cells).lines(width: Terminal.width)
  }
}
