import FileDB
import FileDBExchange
import FileDBPlist
import Foundation
import GRDBSQLite

/// A column of the rows that SQLite gives, and how its values become those of a field.
struct SQLiteColumn {
  let position: Int32
  let field: String
  /// The type that was asked for.
  let type: FieldType?
  private let declared: Declaration

  /// What the words of its declaration say beyond what SQLite makes of them.
  private enum Declaration {
    case boolean, date, other

    init(_ words: String) {
      let words = words.uppercased()
      if words.hasPrefix("BOOL") {
        self = .boolean
      } else if words.hasPrefix("DATE") || words.hasPrefix("TIMESTAMP") {
        self = .date
      } else {
        self = .other
      }
    }

    /// What stands for a boolean or a date beyond doubt: it would be written just so.
    func value(of value: PlistValue) -> PlistValue {
      switch (self, value) {
      case (.boolean, .integer): value.asBoolean ?? value
      case (.date, .string(var text)): text.withUTF8 { PlistDate.parse($0) }.map(PlistValue.date) ?? value
      default: value
      }
    }
  }

  init(position: Int32, field: String, type: FieldType?, of statement: OpaquePointer) {
    self.position = position
    self.field = field
    self.type = type
    declared = Declaration(sqlite3_column_decltype(statement, position).map { String(cString: $0) } ?? "")
  }

  /// The value in the row on which `statement` stands; `nil` for NULL.
  /// - Throws: ``StoreError/Code/unrepresentableValue``, ``StoreError/invalidText``.
  func value(in statement: OpaquePointer) throws(StoreError) -> PlistValue? {
    guard let value = try storedValue(in: statement, position) else { return nil }
    guard let type else { return declared.value(of: value) }
    guard let converted = type.value(ofStored: value) else {
      throw StoreError(
        StoreError.invalidText, "'\(DelimitedWriter.text(of: value))' is not \(type.expectation)")
    }
    return converted
  }
}

/// A value of SQLite as it is stored. Read here and not by GRDB, which ends a text at its first NUL.
private func storedValue(in statement: OpaquePointer, _ column: Int32) throws(StoreError) -> PlistValue? {
  switch sqlite3_column_type(statement, column) {
  case SQLITE_NULL: return nil
  case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
  case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
  case SQLITE_TEXT:
    // First the text, for that may bring UTF-16 to UTF-8; then how many bytes that has.
    let start = sqlite3_column_text(statement, column)
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw StoreError(.unrepresentableValue, "the text is not UTF-8")
    }
    return .string(text)
  default:
    let start = sqlite3_column_blob(statement, column)
    let count = Int(sqlite3_column_bytes(statement, column))
    return .data(start.map { Data(bytes: $0, count: count) } ?? Data())
  }
}

extension PlistValue {
  fileprivate var asBoolean: PlistValue? {
    switch self {
    case .integer(0): false
    case .integer(1): true
    default: nil
    }
  }
}

extension FieldType {
  /// The value of this type that one of SQLite stands for; `nil` if it does not fit.
  fileprivate func value(ofStored value: PlistValue) -> PlistValue? {
    switch (self, value) {
    case (.bool, .integer): value.asBoolean
    case (.string, .integer(let number)): .string(number.description)
    case (.date, .integer(let seconds)): SQLiteDate.fromSeconds(seconds).map(PlistValue.date)
    case (.date, .real(let day)): SQLiteDate.fromJulianDay(day).map(PlistValue.date)
    case (.json, .string(let text)): self.value(of: text)
    default: self.value(of: value)
    }
  }
}
