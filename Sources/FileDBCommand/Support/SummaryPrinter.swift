import FileDB
import FileDBExchange

/// Prints rows of values that are not records, for example results about records.
struct SummaryPrinter {
  let output: FormatOption
  /// The titles of the columns.
  let titles: [String]
  /// The number of columns, from the left, that name what a row is about. It may be 0.
  let keyCount: Int

  func print(_ rows: [[PlistValue?]]) throws {
    guard var stream = stream(for: rows) else { return printTable(rows) }
    stream.begin()
    for row in rows { try stream.print(row) }
    stream.end()
  }

  /// Prints a single row. In JSON and as a property list, it is not in an array.
  func print(alone row: [PlistValue?]) throws {
    guard var stream = stream(for: [row]) else { return printTable([row]) }
    try stream.print(alone: row)
  }

  private func stream(for rows: [[PlistValue?]]) -> RowStream? {
    RowStream(output, columns: columns(of: rows))
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

  private func columns(of rows: [[PlistValue?]]) -> [TextTable.Column] {
    titles.indices.map { column in
      TextTable.Column(title: titles[column], isNumeric: rows.allSatisfy { $0[column]?.isNumeric ?? true })
    }
  }
}
