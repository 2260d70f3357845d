import FileDB
import Foundation

/// Writes rows as delimited text, each line ending in LF.
public struct DelimitedWriter: Sendable {
  public let format: DelimitedFormat

  public init(format: DelimitedFormat) { self.format = format }

  /// One line; a field is quoted where it holds the separator, the quote or a line end, where it begins with U+FEFF,
  /// which is skipped at the start of a file, or where it is an empty string, so that it is told from a missing one.
  public func line(_ fields: [String?]) -> String {
    fields.map(text).joined(separator: String(Unicode.Scalar(format.separator))) + "\n"
  }

  private func text(_ field: String?) -> String {
    guard let field else { return "" }
    guard let quote = format.quote.map(Unicode.Scalar.init) else { return field }
    let isPlain =
      !field.isEmpty && field.unicodeScalars.first != "\u{FEFF}"
      && !field.utf8.contains { [format.separator, format.quote, 0x0A, 0x0D].contains($0) }
    if isPlain { return field }
    // Scalar by scalar: to `String` a quote and an accent behind it are one character, which is no quote.
    var text = String.UnicodeScalarView([quote])
    for scalar in field.unicodeScalars {
      if scalar == quote { text.append(quote) }
      text.append(scalar)
    }
    text.append(quote)
    return String(text)
  }

  /// A value as the text of one field: text as it is, numbers and dates as in the table's file, data in base64, arrays
  /// and dictionaries as JSON.
  public static func text(of value: PlistValue) -> String {
    switch value {
    case .string(let text): text
    case .real(let number): PlistWriter.text(number)
    case .date(let date): PlistDate.text(date)
    case .data(let data): data.base64EncodedString()
    case .integer, .unsigned, .bool, .array, .dict: JSONText.value(value)
    }
  }
}
