import FileDB
import FileDBExchange

/// A cell of a table for people. Control characters are already escaped.
struct TextCell {
  var text: String
  /// The kind of value, which decides the colour.
  var kind: ValueKind?

  init(_ text: String, kind: ValueKind? = nil) { (self.text, self.kind) = (text, kind) }

  /// - Parameter value: `nil` for a missing field.
  init(_ value: PlistValue?) { self.init(value?.cell ?? "", kind: value.flatMap(ValueKind.init)) }
}

/// Rows of cells in columns, for people.
struct TextTable {
  struct Column {
    var title: String
    var isNumeric = false
  }

  var columns: [Column]
  /// Each row has as many cells as there are columns.
  var rows: [[TextCell]]

  init(columns: [Column], rows: [[TextCell]]) { (self.columns, self.rows) = (columns, rows) }

  /// - Parameter rows: strings with control characters already escaped.
  init(columns: [Column], rows: [[String]]) {
    self.init(columns: columns, rows: rows.map { $0.map { TextCell($0) } })
  }

  /// The lines of the table. If `width` is given, none is wider: first the widest columns get narrower, and then the
  /// last columns are left out.
  func lines(width: Int?, heading: Heading = .shown) -> [String] {
    let layout = TextLayout(self, width: width)
    return heading.lines(layout.title) + rows.map { layout.line($0) } + [layout.note].compactMap(\.self)
  }
}

/// The widths of a table's columns.
struct TextLayout {
  private static let gap = "  "
  /// A narrower column would show nothing useful.
  private static let narrowest = 4

  private let columns: [TextTable.Column]
  /// The widths of the columns that are shown.
  private let widths: [Int]
  private let hidden: Int
  private let width: Int?

  /// Makes each column as wide as its widest cell, as far as there is space.
  /// - Parameters:
  ///   - leastWidths: by the index of a column.
  ///   - width: the width of a line; `nil` for any length.
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

  /// A note about columns that are not shown.
  var note: String? { hidden > 0 ? "(\(hidden) more columns; choose with --fields)" : nil }

  /// A row whose cells may be wider than their columns. If lines have no maximal width, all cells are complete.
  /// Otherwise, numbers are complete, other cells are cut, and the whole row is cut.
  func laterLine(_ cells: [TextCell]) -> String {
    let isWhole = { (column: Int) in width == nil || columns[column].isNumeric }
    let plain = line(cells, isWhole: isWhole) { text, _ in text }
    if let width, TerminalText.width(plain) > width { return TerminalText.truncated(plain, to: width) }
    return Terminal.usesStyle ? line(cells, isWhole: isWhole, styled: Terminal.styled) : plain
  }

  /// A row in which each cell that is too wide for its column is cut.
  func line(_ cells: [TextCell]) -> String {
    line(cells, isWhole: { _ in false }, styled: Terminal.styled)
  }

  /// - Parameter isWhole: whether a column's cell must not be cut. If it is wider than its column, it uses the space
  ///   after it.
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

  /// - Returns: the number of columns that had to be left out.
  private static func fit(_ widths: inout [Int], into width: Int) -> Int {
    func total() -> Int { widths.reduce(0, +) + gap.count * (widths.count - 1) }
    // More columns do not fit, however narrow they are.
    let most = width / (1 + gap.count) + 1
    var hidden = max(0, widths.count - most)
    widths.removeLast(hidden)
    while total() > width {
      let widest = widths.max() ?? 0
      if widest > narrowest, let column = widths.lastIndex(of: widest) {
        // Go down to the next widest column at once, but no further than necessary.
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

/// Values that have a colour of their own. Strings have none.
enum ValueKind {
  case number, bool, date, data, collection

  /// - Returns: `nil` for a string.
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
    return TerminalText.defused(LocalTime.text(of: self) ?? DelimitedWriter.text(of: self))
  }

  var isNumeric: Bool {
    switch self {
    case .integer, .unsigned, .real: true
    default: false
    }
  }
}
