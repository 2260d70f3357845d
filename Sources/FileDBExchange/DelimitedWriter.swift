import FileDB
import FileDBEssentials
import FileDBPlist

/// Writes records as the rows of delimited text.
public struct DelimitedWriter: Sendable {
  /// The layout of the text.
  public let format: DelimitedFormat

  /// A writer of text with this layout.
  public init(format: DelimitedFormat) { self.format = format }

  /// Returns one line. A field is quoted if it contains the separator, the quote or a line end. An empty string is
  /// quoted too, because otherwise it would look like a missing field. So is a field that begins with U+FEFF, which
  /// readers skip at the start of a file.
  public func line(_ fields: [String?]) -> String {
    fields.map(text).joined(separator: String(Unicode.Scalar(format.separator))) + format.lineEnd.text
  }

  /// The beginning of the file, which says its encoding.
  var byteOrderMark: [UInt8] {
    switch format.encoding {
    case .utf16: [0xFF, 0xFE]
    case .utf8WithMark: [0xEF, 0xBB, 0xBF]
    default: []
    }
  }

  /// A field cannot be written in a way that can be read again.
  struct Fault: Error {
    var message: String
    /// Counted from 0.
    var column: Int
  }

  /// One line in the format's encoding.
  func bytes(_ fields: [String?]) throws(Fault) -> [UInt8] {
    for (column, field) in fields.enumerated() {
      if let message = fault(in: field) { throw Fault(message: message, column: column) }
    }
    let line = line(fields)
    switch format.encoding {
    case .utf8, .utf8WithMark: return Array(line.utf8)
    // The two differ only in characters that Latin-1 lacks.
    case .latin1, .windows1252: return line.unicodeScalars.compactMap(Windows1252.byte)
    case .utf16, .utf16LittleEndian:
      return line.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    case .utf16BigEndian: return line.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }
  }

  private func fault(in field: String?) -> String? {
    guard let field else { return nil }
    if format.encoding == .latin1,
      let scalar = field.unicodeScalars.first(where: { $0.value > 0xFF || Windows1252.byte($0) == nil })
    {
      let advice = Windows1252.byte(scalar) == nil ? "" : "; windows-1252 has it"
      return "Latin-1 has no character '\(scalar)'\(advice)"
    }
    if format.encoding == .windows1252,
      let scalar = field.unicodeScalars.first(where: { Windows1252.byte($0) == nil })
    {
      return "Windows-1252 has no character '\(scalar)'"
    }
    if format.quote == nil, field.utf8.contains(where: { $0 == format.separator || $0 == 0x0A || $0 == 0x0D })
    {
      return "a separator or a line end in a field needs quotes"
    }
    return nil
  }

  private func text(_ field: String?) -> String {
    guard let field else { return "" }
    guard let quote = format.quote.map(Unicode.Scalar.init) else { return field }
    let isPlain =
      !field.isEmpty && field.unicodeScalars.first != "\u{FEFF}"
      && !field.utf8.contains { $0 == format.separator || $0 == format.quote || $0 == 0x0A || $0 == 0x0D }
    if isPlain { return field }
    // Scalar by scalar: in a `String`, a quote and an accent after it are one character, which is not a quote.
    var text = String.UnicodeScalarView([quote])
    for scalar in field.unicodeScalars {
      if scalar == quote { text.append(quote) }
      text.append(scalar)
    }
    text.append(quote)
    return String(text)
  }

  /// Returns a value as the text of one field. Text stays as it is. Numbers and dates are written as in the table's
  /// file, but the first second of a day as the day alone, data in base64, arrays and dictionaries as JSON.
  public static func text(of value: PlistValue) -> String {
    switch value {
    case .string(let text): text
    case .real(let number): PlistWriter.text(number)
    case .date(let date): DateText.written(date)
    case .data(let data): data.base64EncodedString()
    case .integer, .unsigned, .bool, .array, .dict: JSONText.value(value)
    }
  }
}
