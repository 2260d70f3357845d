import FileDB
import Foundation

/// Values as JSON text: dates in ISO 8601, data in base64, `nan` and the infinities, which JSON does not have, as strings.
public enum JSONText {
  /// The record as one object on one line: its id as the number `id`, then its fields in the order of their names, as
  /// ``fieldName(_:)`` has them.
  public static func object(id: RecordID, _ record: Fields) -> String {
    var text = "{\"id\": \(id)"
    for field in record.dictionary {
      text += ", \(quoted(fieldName(field.key))): \(value(field.value))"
    }
    return text + "}"
  }

  /// The name of a field beside the record's `id`: a field called `id` is written `fields.id`, one called `fields.id` then
  /// `fields.fields.id`, and so on, so that no two fall together.
  public static func fieldName(_ field: String) -> String { FieldName(field).besideID }

  public static func value(_ value: PlistValue) -> String {
    switch value {
    case .string(let text): quoted(text)
    case .integer(let number): number.description
    case .unsigned(let number): number.description
    case .real(let number) where !number.isFinite: quoted(PlistWriter.text(number))
    case .real(let number): number.description
    case .bool(let value): value.description
    case .date(let date): quoted(PlistDate.text(date))
    case .data(let data): quoted(data.base64EncodedString())
    case .array(let elements): "[" + elements.map { JSONText.value($0) }.joined(separator: ", ") + "]"
    case .dict(let entries):
      "{" + entries.map { "\(quoted($0.key)): \(JSONText.value($0.value))" }.joined(separator: ", ") + "}"
    }
  }

  /// RFC 8259 §7: quotes, backslashes and control characters are escaped; so are DEL and the C1 controls, which a
  /// terminal obeys.
  public static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
