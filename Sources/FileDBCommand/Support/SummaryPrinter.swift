import FileDB
import FileDBExchange
import FileDBPlist

/// Prints rows of values that are not records, for example results about records.
struct SummaryPrinter {
  let output: FormatOption
  /// The titles of the columns.
  let titles: [String]
  /// The number of columns, from the left, that name what a row is about. It may be 0.
  let keyCount: Int

  func print(_ rows: [[PlistValue?]]) throws {
    switch output.format {
    case .table: printTable(rows)
    case .markdown: printMarkdown(rows)
    case .csv: printDelimited(rows, DelimitedWriter(format: .csv))
    case .tsv: printDelimited(rows, DelimitedWriter(format: .tsv))
    case .json:
      let objects = rows.map { "  " + object($0) }
      Terminal.print(objects.isEmpty ? "[]" : "[\n\(objects.joined(separator: ",\n"))\n]")
    case .ndjson: for row in rows { Terminal.print(object(row)) }
    case .plist:
      let bytes = try PlistWriter.document(.array(rows.map { .dict(dictionary($0)) }))
      Terminal.print(bytes: bytes)
    }
  }

  /// Prints a single row. In JSON and as a property list, it is not in an array.
  func print(alone row: [PlistValue?]) throws {
    switch output.format {
    case .json, .ndjson: Terminal.print(object(row))
    case .plist: Terminal.print(bytes: try PlistWriter.document(.dict(dictionary(row))))
    case .table, .csv, .tsv, .markdown: try print([row])
    }
  }

  private func printTable(_ rows: [[PlistValue?]]) {
    if rows.isEmpty { return }
    let columns = columns(of: rows).map {
      TextTable.Column(title: TerminalText.defused($0.title), isNumeric: $0.isNumeric)
    }
    let cells = rows.map { row in
      row.enumerated().map { column, value in
        column < keyCount
          ? TextCell(PrintedGroup.title(of: value), kind: value.flatMap(ValueKind.init)) : TextCell(value)
      }
    }
    let table = TextTable(columns: columns, rows: cells)
    for line in table.lines(width: Terminal.width, heading: output.heading) { Terminal.printStyled(line) }
  }

  private func printMarkdown(_ rows: [[PlistValue?]]) {
    let table = MarkdownTable(columns: columns(of: rows))
    for line in output.heading == .shown ? table.heading : [] { Terminal.print(line) }
    for row in rows { Terminal.print(table.line(row)) }
  }

  private func columns(of rows: [[PlistValue?]]) -> [TextTable.Column] {
    titles.indices.map { column in
      TextTable.Column(title: titles[column], isNumeric: rows.allSatisfy { $0[column]?.isNumeric ?? true })
    }
  }

  private func printDelimited(_ rows: [[PlistValue?]], _ writer: DelimitedWriter) {
    if output.heading == .shown { Terminal.print(writer.line(titles), terminator: "") }
    for row in rows {
      Terminal.print(writer.line(row.map { $0.map(DelimitedWriter.text(of:)) }), terminator: "")
    }
  }

  /// Missing values are left out, as in a record.
  private func object(_ row: [PlistValue?]) -> String {
    let members = zip(titles, row).compactMap { title, value in
      value.map { "\(JSONText.quoted(title)): \(JSONText.value($0))" }
    }
    return "{" + members.joined(separator: ", ") + "}"
  }

  private func dictionary(_ row: [PlistValue?]) -> PlistDictionary {
    PlistDictionary(
      lastOf: zip(titles, row).compactMap { title, value in
        value.map { PlistDictionary.Entry(key: title, value: $0) }
      })
  }
}
