import FileDB
import FileDBPlist

/// A record's fields as text for a person to edit.
package enum RecordText: String, Sendable, CaseIterable {
  /// A property list. It includes the type of each value.
  case plist
  /// An object with each field on a line of its own. Dates and data are strings.
  case json

  package func bytes(of fields: Fields) throws -> [UInt8] {
    switch self {
    case .plist: return try PlistWriter.document(.dict(fields.dictionary))
    case .json:
      let lines = fields.dictionary.map { "  \(JSONText.quoted($0.key)): \(JSONText.value($0.value))" }
      return Array((lines.isEmpty ? "{}\n" : "{\n\(lines.joined(separator: ",\n"))\n}\n").utf8)
    }
  }

  /// The fields in an edited text. In JSON, a string becomes a date or data if the record had such a value.
  /// - Parameter name: the name of the text, for errors.
  /// - Throws: ``StoreError/Code/invalidText`` with the line and column.
  package func fields(from bytes: [UInt8], was old: Fields, name: String) throws -> Fields {
    let value = try value(of: bytes, name: name)
    guard case .dict(let dictionary)? = value else {
      throw StoreError(
        invalidText: "the record should be a dictionary of its fields", file: name, line: 1, column: nil)
    }
    guard self == .json else { return Fields(dictionary) }
    var fields = Fields(dictionary)
    for field in dictionary {
      guard let before = old[field.key] else { continue }
      fields[field.key] = try Self.typed(field, before, name: name)
    }
    return fields
  }

  private func value(of bytes: [UInt8], name: String) throws -> PlistValue? {
    switch self {
    case .json:
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw StoreError(.invalidText, "this is not UTF-8 text", file: name)
      }
      return try JSONParser.parse(text, name: name)
    case .plist:
      do { return try PlistParser.parse(bytes) } catch {
        throw StoreError(invalidText: error.message, file: name, line: error.line, column: error.column)
      }
    }
  }

  private static func typed(
    _ field: PlistDictionary.Entry, _ before: PlistValue, name: String
  ) throws -> PlistValue {
    let value = field.value.restored(from: before, .json)
    let type = FieldType(of: before)
    guard case .string = value, type == .date || type == .data else { return value }
    guard let value = type.value(of: value) else {
      throw StoreError(
        .invalidText, type.misfit(of: DelimitedWriter.text(of: field.value)),
        file: name,
        field: field.key)
    }
    return value
  }
}
