import FileDB
import FileDBExchange

/// Rows of cells in columns, for people.
struct TextTable {
  struct Column {
    var title: String
    var isNumeric = false
  }

  private static let gap = "  "
  /// Narrower than this a column says nothing.
  private static let narrowest = 4

  var columns: [Column]
  /// As many cells in each row as there are columns, defused already.
  var rows: [[String]]

  /// The table's lines, none wider than `width` where that is given: the widest columns give way, then the last ones
  /// go.
  func lines(width: Int?) -> [String] {
    var widths = columns.indices.map { column in
      rows.reduce(TerminalText.width(columns[column].title)) { max($0, TerminalText.width($1[column])) }
    }
    var hidden = 0
    if let width {
      hidden = Self.fit(&widths, into: width)
    }
    let shown = widths.indices
    func line(_ cells: [String]) -> String {
      let padded = shown.map { column in
        let text = TerminalText.truncated(cells[column], to: widths[column])
        let space = String(repeating: " ", count: widths[column] - TerminalText.width(text))
        return columns[column].isNumeric ? space + text : text + space
      }
      var line = padded.joined(separator: Self.gap)
      while line.hasSuffix(" ") { line.removeLast() }
      return line
    }
    let title = line(columns.map(\.title))
    var lines = [Terminal.bold(title)]
    lines += rows.map(line)
    if hidden > 0 { lines.append("(\(hidden) more columns; choose with --fields)") }
    return lines
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
