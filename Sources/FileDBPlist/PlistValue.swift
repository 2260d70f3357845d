import FileDBEssentials

/// A value that an XML property list can hold.
///
/// Two values are equal if FileDB writes them as the same bytes. So strings are compared by their UTF-8 bytes and not
/// by Unicode equivalence, `nan` equals `nan`, `0.0` and `-0.0` differ, and the integer `1` and the real `1` differ.
public enum PlistValue: Sendable {
  /// A string.
  case string(String)
  /// An integer up to `Int64.max`.
  case integer(Int64)
  /// An integer above `Int64.max`. A smaller one is ``integer(_:)``; `PlistValue(_:)` chooses.
  case unsigned(UInt64)
  /// A floating-point number. It may be infinite or `nan`.
  case real(Double)
  /// `<true/>` or `<false/>`.
  case bool(Bool)
  /// A point in time, in whole seconds from year 1 to year 9999.
  case date(Date)
  /// Bytes, which the file has in base64.
  case data(Data)
  /// Values in order.
  case array([PlistValue])
  /// Values by key.
  case dict(PlistDictionary)
}

extension PlistValue {
  /// The integer `value`: ``integer(_:)`` if it fits, otherwise ``unsigned(_:)``.
  public init(_ value: UInt64) {
    if let small = Int64(exactly: value) { self = .integer(small) } else { self = .unsigned(value) }
  }

  /// The kind of this value, by the name of its XML element; `bool` for `<true/>` and `<false/>`.
  public var typeName: String {
    switch self {
    case .string: "string"
    case .integer, .unsigned: "integer"
    case .real: "real"
    case .bool: "bool"
    case .date: "date"
    case .data: "data"
    case .array: "array"
    case .dict: "dict"
    }
  }

  /// The text; `nil` if the value is not a string.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The integer; `nil` if the value is not an integer up to `Int64.max`.
  public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  /// The floating-point number; `nil` if the value is not a floating-point number.
  public var real: Double? { if case .real(let value) = self { value } else { nil } }
  /// The bool; `nil` if the value is not a bool.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The date; `nil` if the value is not a date.
  public var date: Date? { if case .date(let value) = self { value } else { nil } }
  /// The bytes; `nil` if the value is not data.
  public var data: Data? { if case .data(let value) = self { value } else { nil } }
  /// The elements; `nil` if the value is not an array.
  public var array: [PlistValue]? { if case .array(let value) = self { value } else { nil } }
  /// The dictionary; `nil` if the value is not a dictionary.
  public var dict: PlistDictionary? { if case .dict(let value) = self { value } else { nil } }
}

extension PlistValue: Equatable {
  public static func == (left: PlistValue, right: PlistValue) -> Bool {
    switch (left, right) {
    case (.string(let a), .string(let b)): compareUTF8(a, b) == 0
    case (.integer(let a), .integer(let b)): a == b
    case (.unsigned(let a), .unsigned(let b)): a == b
    case (.real(let a), .real(let b)): a.bitPattern == b.bitPattern || (a.isNaN && b.isNaN)
    case (.bool(let a), .bool(let b)): a == b
    case (.date(let a), .date(let b)): a == b
    case (.data(let a), .data(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.dict(let a), .dict(let b)): a == b
    default: false
    }
  }
}

extension PlistValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .real(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: PlistValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, PlistValue)...) {
    self = .dict(PlistDictionary(lastOf: elements.map { PlistDictionary.Entry(key: $0, value: $1) }))
  }
}

/// The order of two strings by their UTF-8 bytes: negative, zero or positive.
///
/// Swift's own `==` and `<` treat canonically equivalent strings as equal, so two different keys of a property list
/// could become one.
package func compareUTF8(_ left: String, _ right: String) -> Int {
  let fast = left.utf8.withContiguousStorageIfAvailable { a in
    right.utf8.withContiguousStorageIfAvailable { b in
      let common = min(a.count, b.count)
      for i in 0..<common where a[i] != b[i] { return Int(a[i]) - Int(b[i]) }
      return a.count - b.count
    }
  }
  if case .some(.some(let order)) = fast { return order }
  if left.utf8.elementsEqual(right.utf8) { return 0 }
  return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
}
