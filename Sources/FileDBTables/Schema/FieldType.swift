import FileDBPlist

/// The type of a field. The names are those that macOS's `plutil` uses.
public enum FieldType: String, Sendable, CaseIterable {
  /// A string.
  case string
  /// A whole number, from -2^63 to 2^64 - 1.
  case integer
  /// A number with a fraction.
  case float
  /// True or false.
  case bool
  /// A date, in whole seconds.
  case date
  /// Bytes.
  case data
  /// An array or a dictionary.
  case json

  /// The type of a value. An array or a dictionary is `json`.
  public init(of value: PlistValue) {
    switch value {
    case .string: self = .string
    case .integer, .unsigned: self = .integer
    case .real: self = .float
    case .bool: self = .bool
    case .date: self = .date
    case .data: self = .data
    case .array, .dict: self = .json
    }
  }

  /// What a value of this type is called in a message.
  package var noun: String {
    switch self {
    case .string: "a string"
    case .integer: "a whole number"
    case .float: "a number with a decimal point (float)"
    case .bool: "true or false (bool)"
    case .date: "a date"
    case .data: "data"
    case .json: "an array or a dictionary (json)"
    }
  }
}
