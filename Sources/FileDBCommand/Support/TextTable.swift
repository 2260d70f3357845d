import FileDB
import FileDBExchange

/// Rows of cells in columns, for people.
struct TextTable {
  struct Column {
    var title: String
    var isNumeric = false
  }

  var columns: [Column]
  /// As many cells in each row as there are columns, defused already.
  var rows: [[String]]

  /// The table's lines, none wider than `width` where that is given: the widest columns give way, then the last ones
  /// go.
  func lines(width: Int?) -> [String] {
    let layout = TextLayout(self, width: width)
    return [layout.title] + rows.map { layout.line($0) } + [layout.note].compactMap(\.self)
  }
}

/// How wide the columns of a table are.
struct TextLayout {
  private static let gap = "  "
  /// Narrower than this a column says nothing.
  private static let narrowest = 4

  private let columns: [TextTable.Column]
  /// Of the columns that are shown.
  private let widths: [Int]
  private let hidden: Int
  private let width: Int?

  /// Makes each column as wide as the widest of its cells, as far as there is room.
  /// - Parameters:
  ///   - leastWidths: by the index of a column.
  ///   - width: of a line; `nil` where it may be of any length.
  init(_ table: TextTable, leastWidths: [Int: Int] = [:], width: Int?) {
    columns = table.columns
    self.width = width
    var widths = table.columns.indices.map { column in
      let least = max(leastWidths[column] ?? 0, TerminalText.width(table.columns[column].title))
      return table.rows.reduce(least) { max($0, TerminalText.width($1[column])) }
    }
    hidden = width.map { Self.fit(&widths, into: $0) } ?? 0
    self.widths = widths
  }

  var title: String { Terminal.bold(line(columns.map(\.title))) }

  /// What is to be said about columns that are not shown.
  var note: String? { hidden > 0 ? "(\(hidden) more columns; choose with --fields)" : nil }

  /// A row with cells that may be wider than their columns. Without a width it has them whole; with one, it has numbers
  /// whole and the others cut, and is cut itself.
  func laterLine(_ cells: [String]) -> String {
    let line = line(cells) { width == nil || columns[$0].isNumeric }
    return width.map { TerminalText.truncated(line, to: $0) } ?? line
  }

  /// A row, with each cell that is too wide for its column cut.
  func line(_ cells: [String]) -> String { line(cells) { _ in false } }

  /// - Parameter isWhole: whether a column's cell is not cut. What it takes beyond its column is taken from the space
  ///   behind it.
  private func line(_ cells: [String], isWhole: (_ column: Int) -> Bool) -> String {
    var line = ""
    var excess = 0
    for (column, width) in widths.enumerated() {
      if column > 0 { line += Self.gap }
      let text = isWhole(column) ? cells[column] : TerminalText.truncated(cells[column], to: width)
      let space = width - TerminalText.width(text) - excess
      excess = max(0, -space)
      let padding = String(repeating: " ", count: max(0, space))
      line += columns[column].isNumeric ? padding + text : text + padding
    }
    while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
    return line
  }

  /// - Returns: how many columns had to go.
  private static func fit(_ widths: inout [Int], into width: Int) -> Int {
    func total() -> Int { widths.reduce(0, +) + gap.count * (widths.count - 1) }
    // More than this cannot be shown, however narrow they are.
    let most = width / (1 + gap.count) + 1
    var hidden = max(0, widths.count - most)
    widths.removeLast(hidden)
    while total() > width {
      let widest = widths.max() ?? 0
      if widest > narrowest, let column = widths.lastIndex(of: widest) {
        // Down to the next widest at once, but no further than needed.
        let next = widths.filter { $0 < widest }.max() ?? narrowest
        widths[column] = max(widths[column] - (total() - width), next, narrowest)
        if widths[column] == widest { widths[column] -= 1 }
      } else if widths.count > 1 {
        widths.removeLast()
        hidden += 1
      } else {
        widths[0] = max(width, 1)
      }
    }
    return hidden
  }
}

extension PlistValue {
  /// The value as a cell of a table for people.
  var cell: String {
    if case .data(let data) = self { return "<\(data.count) bytes>" }
    return TerminalText.defused(DelimitedWriter.text(of: self))
  }

  var isNumeric: Bool {
    switch self {
    case .integer, .unsigned, .real: true
    default: false
    }
  }
}
