import FileDB
import FileDBExchange
import FileDBPlist
import Foundation

/// A column of SQLite's rows. It converts their values to those of a field.
struct SQLiteColumn {
  let position: Int32
  let field: String
  /// The requested type.
  let type: FieldType?
  private let declared: Declaration

  /// What a column's declaration says beyond the types that SQLite knows.
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

    /// Converts a value only if it certainly means a boolean or a date: it would be written in exactly this form.
    func value(of value: PlistValue) -> PlistValue {
      switch (self, value) {
      case (.boolean, .integer): value.asBoolean ?? value
      case (.date, .string(var text)): text.withUTF8 { PlistDate.parse($0) }.map(PlistValue.date) ?? value
      default: value
      }
    }
  }

  init(position: Int32, field: String, type: FieldType?, of statement: SQLiteStatement) {
    self.position = position
    self.field = field
    self.type = type
    declared = Declaration(statement.declaredType(ofColumn: position))
  }

  /// The value in the present row of `statement`; `nil` for NULL.
  /// - Throws: ``StoreError/Code/unrepresentableValue``, ``StoreError/Code/invalidText``.
  func value(in statement: SQLiteStatement) throws(StoreError) -> PlistValue? {
    guard let value = try statement.value(at: position) else { return nil }
    guard let type else { return declared.value(of: value) }
    guard let converted = type.value(ofStored: value) else {
      throw StoreError(
        .invalidText, type.misfit(of: DelimitedWriter.text(of: value)))
    }
    return converted
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
  /// A stored value of SQLite as this type; `nil` if it does not fit.
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
