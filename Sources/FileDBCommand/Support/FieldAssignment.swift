import ArgumentParser
import FileDB
import FileDBExchange
import Foundation

/// `FIELD=VALUE`, `FIELD:TYPE=VALUE` or `FIELD:TYPE=@FILE`.
struct FieldAssignment: ExpressibleByArgument {
  let field: String
  let type: FieldType?
  let text: String

  static let help: ArgumentHelp = """
    FIELD=VALUE for a string, FIELD:TYPE=VALUE for a \(FieldType.allCases.map(\.rawValue).joined(separator: ", ")); \
    FIELD:TYPE=@FILE reads the value from a file (@- from standard input), data as raw bytes.
    """

  init?(argument: String) {
    guard let equals = argument.firstIndex(of: "=") else { return nil }
    let left = argument[..<equals]
    text = String(argument[argument.index(after: equals)...])
    if let colon = left.lastIndex(of: ":") {
      // A colon always comes before a type: a mistyped type should not become part of the name.
      guard let type = FieldType(rawValue: String(left[left.index(after: colon)...])) else { return nil }
      self.type = type
      field = String(left[..<colon])
    } else {
      type = nil
      field = String(left)
    }
    if field.isEmpty { return nil }
  }

  /// - Throws: ``StoreError`` for a value that does not fit its type, and for a file that cannot be read.
  func value() throws -> PlistValue {
    guard let type else { return .string(text) }
    guard text.hasPrefix("@") else { return try value(of: text, type: type) }
    let path = String(text.dropFirst())
    let file = path == "-" ? InputFile.standardInput : try InputFile(URL(fileURLWithPath: path))
    let bytes = try file.readAll()
    if type == .data { return .data(Data(bytes)) }
    guard let content = String(validating: bytes, as: UTF8.self) else {
      throw StoreError(StoreError.invalidText, "the file is not UTF-8 text", file: path, field: field)
    }
    // The line end that editors put behind a number is no part of it.
    return try value(of: type == .string ? content : content.trimmingCharacters(in: .newlines), type: type)
  }

  private func value(of text: String, type: FieldType) throws -> PlistValue {
    guard let value = type.value(of: text) else {
      throw StoreError(StoreError.invalidText, "'\(text)' is not \(type.expectation)", field: field)
    }
    return value
  }
}

extension [FieldAssignment] {
  func record() throws -> Fields {
    var record = Fields()
    for assignment in self {
      guard record[assignment.field] == nil else {
        throw ValidationError("The field '\(assignment.field)' is given twice.")
      }
      record[assignment.field] = try assignment.value()
    }
    return record
  }
}

extension SortKey {
  /// Reads `KEY` and `-KEY`, separated by commas or spaces.
  static func parse(_ texts: [String], text order: TextOrder) throws -> [SortKey] {
    let keys = texts.flatMap { $0.split(separator: ",").map(String.init) }
    guard !keys.isEmpty else { throw ValidationError("Name a field to sort by.") }
    return try keys.map { key in
      if key.hasPrefix("--") || key == "-" { throw ValidationError("Unknown option '\(key)'.") }
      return key.hasPrefix("-")
        ? .descending(String(key.dropFirst()), text: order) : .ascending(key, text: order)
    }
  }
}
