import FileDB
import FileDBExchange
import FileDBPlist

/// Prints rows of values one after another, as they come, in each format but table.
struct RowStream {
  private enum Form {
    case json, ndjson, plist
    case delimited(DelimitedWriter)
    case markdown(MarkdownTable)
  }

  private let form: Form
  private let titles: [String]
  private let heading: Heading
  private var isEmpty = true

  /// - Returns: `nil` for the format table, which needs all rows before it can print one.
  init?(_ output: FormatOption, columns: [TextTable.Column]) {
    switch output.format {
    case .table: return nil
    case .json: form = .json
    case .ndjson: form = .ndjson
    case .plist: form = .plist
    case .csv: form = .delimited(DelimitedWriter(format: .csv))
    case .tsv: form = .delimited(DelimitedWriter(format: .tsv))
    case .markdown: form = .markdown(MarkdownTable(columns: columns))
    }
    (titles, heading) = (columns.map(\.title), output.heading)
  }

  func begin() {
    switch form {
    case .json: Terminal.print("[", terminator: "")
    case .ndjson: break
    case .plist: Terminal.print(PlistWriter.header + "<array>")
    case .delimited(let writer): if heading == .shown { Terminal.print(writer.line(titles), terminator: "") }
    case .markdown(let table): for line in heading == .shown ? table.heading : [] { Terminal.print(line) }
    }
  }

  /// Missing values are left out, as in a record.
  /// - Throws: for values that a property list cannot hold.
  mutating func print(_ row: [PlistValue?]) throws {
    defer { isEmpty = false }
    switch form {
    case .json: Terminal.print((isEmpty ? "\n  " : ",\n  ") + object(row), terminator: "")
    case .ndjson: Terminal.print(object(row))
    case .plist: Terminal.print(bytes: try element(row))
    case .delimited(let writer):
      Terminal.print(writer.line(row.map { $0.map(DelimitedWriter.text(of:)) }), terminator: "")
    case .markdown(let table): Terminal.print(table.line(row))
    }
  }

  func end() {
    switch form {
    case .json: Terminal.print(isEmpty ? "]" : "\n]")
    case .plist: Terminal.print("</array>\n" + PlistWriter.footer, terminator: "")
    case .ndjson, .delimited, .markdown: break
    }
  }

  /// Prints a single row. In JSON and as a property list, it is not in an array.
  mutating func print(alone row: [PlistValue?]) throws {
    switch form {
    case .json, .ndjson: Terminal.print(object(row))
    case .plist: Terminal.print(bytes: try PlistWriter.document(.dict(dictionary(row))))
    case .delimited, .markdown:
      begin()
      try print(row)
    }
  }

  private func object(_ row: [PlistValue?]) -> String {
    let members = zip(titles, row).compactMap { title, value in
      value.map { "\(JSONText.quoted(title)): \(JSONText.value($0))" }
    }
    return "{" + members.joined(separator: ", ") + "}"
  }

  private func element(_ row: [PlistValue?]) throws -> [UInt8] {
    var writer = PlistWriter()
    writer.append(try PlistValue.dict(dictionary(row)).normalized(limits: PlistLimits()), indentation: 1)
    return writer.bytes
  }

  private func dictionary(_ row: [PlistValue?]) -> PlistDictionary {
    PlistDictionary(
      lastOf: zip(titles, row).compactMap { title, value in
        value.map { PlistDictionary.Entry(key: title, value: $0) }
      })
  }
}
