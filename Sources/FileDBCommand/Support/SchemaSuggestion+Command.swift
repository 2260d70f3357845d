import FileDB
import FileDBExchange

extension SchemaSuggestion.Field {
  /// The line of a script that declares the field.
  func command(for table: String) -> String {
    var words = ["schema", ShellText.word(table), ShellText.word(FieldReference(field: rules.name).title)]
    if let type = rules.type { words += ["--type", type.rawValue] }
    if rules.isRequired { words.append("--required") }
    for value in rules.allowedValues ?? [] { words += ["--enum", ShellText.word(value.string ?? "")] }
    if needsConversion { words.append("--convert") }
    return words.joined(separator: " ")
  }
}
