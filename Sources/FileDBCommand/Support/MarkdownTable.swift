import FileDB
import FileDBExchange

/// Rows of values as a table in GitHub's Markdown.
struct MarkdownTable {
  let columns: [TextTable.Column]

  /// The names of the columns, and the line below them.
  var heading: [String] {
    [
      line(of: columns.map { Self.escaped($0.title) }),
      line(of: columns.map { $0.isNumeric ? "---:" : "---" }),
    ]
  }

  func line(_ values: [PlistValue?]) -> String {
    line(of: values.map { $0.map { Self.escaped(DelimitedWriter.text(of: $0)) } ?? "" })
  }

  private func line(of cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }

  /// A row has a single line, and bars separate its cells.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "|": result += "\\|"
      case "<": result += "&lt;"
      case "&": result += "&amp;"
      case "\n", "\r": result += result.hasSuffix("<br>") ? "" : "<br>"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
