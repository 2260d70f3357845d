import ArgumentParser
import FileDB
import FileDBExchange

/// How records are printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  /// For people; may change. The others are stable.
  case table
  case json, ndjson, csv, tsv, plist
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

  func print(_ rows: [Row]) {
    switch format {
    case .table: printTable(rows)
    case .json: printJSON(rows)
    case .ndjson: for row in rows { Terminal.print(json(row)) }
    case .csv: printDelimited(rows, format: .csv)
    case .tsv: printDelimited(rows, format: .tsv)
    case .plist: printPlist(rows)
    }
  }

  /// Prints groups one behind the other; as a table under headings, which stand for the column of `field`.
  func print(_ groups: [RowGroup], by field: String) {
    guard format == .table else { return print(groups.flatMap(\.rows)) }
    let rows = groups.flatMap(\.rows)
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

  private func printTable(_ rows: [Row]) {
    for line in tableLines(rows, columns(of: rows)) { Terminal.printStyled(line) }
  }

  /// The title, a line for each row, and what else there is to say.
  private func tableLines(_ rows: [Row], _ fields: [String]) -> [String] {
    let columns = fields.map { field in
      TextTable.Column(
        title: TerminalText.defused(field),
        isNumeric: rows.contains { $0.record[field] != nil }
          && rows.allSatisfy { $0.record[field]?.isNumeric ?? true })
    }
    let cells = rows.map { row in [row.id.description] + fields.map { row.record[$0]?.cell ?? "" } }
    let table = TextTable(columns: [TextTable.Column(title: "id", isNumeric: true)] + columns, rows: cells)
    return table.lines(width: Terminal.width)
  }

  private func json(_ row: Row) -> String { JSONText.object(id: row.id, chosen(row)) }

  private func printJSON(_ rows: [Row]) {
    guard let last = rows.last else { return Terminal.print("[]") }
    Terminal.print("[")
    for row in rows.dropLast() { Terminal.print("  \(json(row)),") }
    Terminal.print("  \(json(last))\n]")
  }

  private func printDelimited(_ rows: [Row], format: DelimitedFormat) {
    let writer = DelimitedWriter(format: format)
    let fields = columns(of: rows)
    Terminal.print(writer.line(["id"] + fields.map(JSONText.fieldName)), terminator: "")
    for row in rows {
      let texts = fields.map { row.record[$0].map(DelimitedWriter.text(of:)) }
      Terminal.print(writer.line([row.id.description] + texts), terminator: "")
    }
  }

  private func printPlist(_ rows: [Row]) {
    let records = rows.map { row in
      var fields = chosen(row).fields
      fields["wgFileDbSecretId"] = .string(row.id.description)
      return PlistValue.dict(fields)
    }
    // What a table holds can be written again.
    if let bytes = try? PlistWriter.document(.array(records)) {
      Terminal.print(String(decoding: bytes, as: UTF8.self), terminator: "")
    }
  }

  /// The record with only the fields that were chosen.
  private func chosen(_ row: Row) -> Record {
    guard let fields else { return row.record }
    var record = Record()
    for field in fields { record[field] = row.record[field] }
    return record
  }
}
