import FileDB
import FileDBExchange

/// Prints a schema for people.
struct SchemaPrinter {
  private let schema: TableSchema

  init(_ schema: TableSchema) { self.schema = schema }

  func print() {
    let hasTitles = schema.fields.contains { $0.title != nil }
    let titles = ["field", "type"] + (hasTitles ? ["title"] : []) + ["rules"]
    let rows = schema.fields.map { field in
      [FieldReference(field: field.name).title, field.type?.rawValue ?? ""]
        + (hasTitles ? [field.title ?? ""] : [])
        + [field.ruleTexts.joined(separator: ", ")]
    }
    if !rows.isEmpty {
      let table = TextTable(
        columns: titles.map { TextTable.Column(title: $0) },
        rows: rows.map { $0.map { TerminalText.defused($0) } })
      for line in table.lines(width: Terminal.width) { Terminal.printStyled(line) }
    }
    for group in schema.unique { say("unique together: \(group.joined(separator: ", "))") }
    if schema.version > 0 { say("version: \(schema.version)") }
    if !schema.referencingTables.isEmpty {
      say("referred to by: \(schema.referencingTables.map(\.text).joined(separator: ", "))")
    }
  }

  private func say(_ text: String) { Terminal.print(TerminalText.defused(text)) }
}

extension FieldSchema {
  /// The rules in words.
  fileprivate var ruleTexts: [String] {
    var texts: [String] = []
    if isRequired { texts.append("required") }
    if isUnique { texts.append("unique") }
    if let allowedValues { texts.append("one of " + allowedValues.map(\.quoted).joined(separator: " ")) }
    switch (minimum, maximum) {
    case (let low?, let high?): texts.append("\(low.quoted) to \(high.quoted)")
    case (let low?, nil): texts.append("from \(low.quoted)")
    case (nil, let high?): texts.append("up to \(high.quoted)")
    case (nil, nil): break
    }
    if let pattern { texts.append("matches \(pattern)") }
    if let defaultValue { texts.append("default \(defaultValue.quoted)") }
    if let references { texts.append("refers to \(references.text) (on delete \(references.onDelete))") }
    return texts
  }
}
