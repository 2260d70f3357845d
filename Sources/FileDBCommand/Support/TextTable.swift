import FileDB
import FileDBExchange

/// A cell of a table for people, defused already.
struct TextCell {
  var text: String
  /// What it is coloured for.
  var kind: ValueKind?

  init(_ text: String, kind: ValueKind? = nil) { (self.text, self.kind) = (text, kind) }

  /// - Parameter value: `nil` for a field that is missing.
  init(_ value: PlistValue?) { self.init(value?.cell ?? "", kind: value.flatMap(ValueKind.init)) }
}

/// Rows of cells in columns, for people.
struct TextTable {
  struct Column {
    var title: String
    var isNumeric = false
  }

  var columns: [Column]
  /// As many cells in each row as there are columns.
  var rows: [[TextCell]]

  init(columns: [Column], rows: [[TextCell]]) { (self.columns, self.rows) = (columns, rows) }

  /// - Parameter rows: defused already.
  init(columns: [Column], rows: [[String]]) {
    self.init(columns: columns, rows: rows.map { $0.map { TextCell($0) } })
  }

  /// The table's lines, none wider than `width` if that is given: the widest columns give way, then the last ones
  /// go.
  func lines(width: Int?, heading: Heading = .shown) -> [String] {
    let layout = TextLayout(self, width: width)
    return heading.lines(layout.title) + rows.map { layout.line($0) } + [layout.note].compactMap(\.self)
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
  ///   - width: of a line; `nil` if it may be of any length.
  init(_ table: TextTable, leastWidths: [Int: Int] = [:], width: Int?) {
    columns = table.columns
    self.width = width
    var widths = table.columns.indices.map { column in
      let least = max(leastWidths[column] ?? 0, TerminalText.width(table.columns[column].title))
      return table.rows.reduce(least) { max($0, TerminalText.width($1[column].text)) }
    }
    hidden = width.map { Self.fit(&widths, into: $0) } ?? 0
    self.widths = widths
  }

  var title: String { Terminal.bold(line(columns.map { TextCell($0.title) })) }

  /// What is to be said about columns that are not shown.
  var note: String? { hidden > 0 ? "(\(hidden) more columns; choose with --fields)" : nil }

  /// A row with cells that may be wider than their columns. Without a width it has them whole; with one, it has numbers
  /// whole and the others cut, and is cut itself.
  func laterLine(_ cells: [TextCell]) -> String {
    let isWhole = { (column: Int) in width == nil || columns[column].isNumeric }
    let plain = line(cells, isWhole: isWhole) { text, _ in text }
    if let width, TerminalText.width(plain) > width { return TerminalText.truncated(plain, to: width) }
    return Terminal.usesStyle ? line(cells, isWhole: isWhole, styled: Terminal.styled) : plain
  }

  /// A row, with each cell that is too wide for its column cut.
  func line(_ cells: [TextCell]) -> String {
    line(cells, isWhole: { _ in false }, styled: Terminal.styled)
  }

  /// - Parameter isWhole: whether a column's cell is not cut. What it takes beyond its column is taken from the space
  ///   behind it.
  private func line(
    _ cells: [TextCell], isWhole: (_ column: Int) -> Bool, styled: (String, ValueKind?) -> String
  ) -> String {
    var line = ""
    var excess = 0
    for (column, width) in widths.enumerated() {
      if column > 0 { line += Self.gap }
      let cell = cells[column]
      let text = isWhole(column) ? cell.text : TerminalText.truncated(cell.text, to: width)
      let space = width - TerminalText.width(text) - excess
      excess = max(0, -space)
      let padding = String(repeating: " ", count: max(0, space))
      let shown = styled(text, cell.kind)
      line += columns[column].isNumeric ? padding + shown : shown + padding
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

/// Whether a table has a line with the names of its columns.
enum Heading {
  case shown, hidden

  func lines(_ title: String) -> [String] { self == .shown ? [title] : [] }
}

/// Values that have a colour of their own; texts have none.
enum ValueKind {
  case number, bool, date, data, collection

  /// - Returns: `nil` for a text.
  init?(_ value: PlistValue) {
    switch value {
    case .string: return nil
    case .integer, .unsigned, .real: self = .number
    case .bool: self = .bool
    case .date: self = .date
    case .data: self = .data
    case .array, .dict: self = .collection
    }
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
