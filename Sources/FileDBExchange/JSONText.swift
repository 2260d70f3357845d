import FileDB
import FileDBEssentials
import FileDBPlist

/// Values as JSON text. Dates are strings in ISO 8601, data is a string in base64. `nan` and the infinities, which JSON
/// does not have, are strings too.
public enum JSONText {
  /// Returns the record as an object on one line: its id as the number `id`, then its fields in the order of their
  /// names. For the names, see ``fieldName(_:)``.
  public static func object(id: RecordID<Fields>, _ record: Fields) -> String {
    object(["\"id\": \(id)"], record)
  }

  /// The same without the id.
  package static func object(_ record: Fields) -> String { object([], record) }

  private static func object(_ members: [String], _ record: Fields) -> String {
    let fields = record.dictionary.map { "\(quoted(fieldName($0.key))): \(value($0.value))" }
    return "{" + (members + fields).joined(separator: ", ") + "}"
  }

  /// Returns the name of a field in an object that also has the record's `id`. A field called `id` is written as
  /// `fields.id`, a field called `fields.id` as `fields.fields.id`, and so on, so that all names differ.
  public static func fieldName(_ field: String) -> String { FieldName(field).besideID }

  /// Returns a value as JSON text on one line.
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

  /// Returns a string as a JSON string, as in RFC 8259 §7. Quotes, backslashes and control characters are escaped. So
  /// are DEL and the C1 controls, because terminals obey them.
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
        result += "\\u" + String(hexadecimal: scalar.value, width: 4)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
