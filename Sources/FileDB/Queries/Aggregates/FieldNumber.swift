import FileDBPlist

/// A type of numbers that FileDB can add up: Swift's integers up to 64 bits, `Double`, `Float`, and optionals of them.
public protocol FieldNumber: Decodable, Equatable, Sendable {
  /// What the sum of such fields is: `Int` for integers, but `UInt64` and `UInt` for these two; `Double` for reals.
  associatedtype Sum: Sendable

  /// The number as a record's field holds it; `nil` for a missing one.
  var _fieldValue: PlistValue? { get }

  /// A sum of fields.
  /// - Returns: `nil` if it is too large for its type.
  static func _sum(_ total: PlistValue) -> Sum?
}

extension FieldNumber where Self: FixedWidthInteger {
  /// The number as a record stores it.
  public var _fieldValue: PlistValue? {
    UInt64(exactly: self).map(PlistValue.init) ?? Int64(exactly: self).map(PlistValue.integer)
  }
}

extension FieldNumber where Self: FixedWidthInteger, Sum: FixedWidthInteger {
  /// The sum as an integer; `nil` if it is too large for its type.
  public static func _sum(_ total: PlistValue) -> Sum? { total.wholeNumber.flatMap { Sum(exactly: $0) } }
}

extension Int: FieldNumber, ColumnType, StoredInOrder { public typealias Sum = Int }
extension Int8: FieldNumber, ColumnType, StoredInOrder { public typealias Sum = Int }
extension Int16: FieldNumber, ColumnType, StoredInOrder { public typealias Sum = Int }
extension Int32: FieldNumber, ColumnType, StoredInOrder { public typealias Sum = Int }
extension Int64: FieldNumber, ColumnType, StoredInOrder { public typealias Sum = Int }
extension UInt8: FieldNumber, ColumnType, StoredInOrder { public typealias Sum = Int }
extension UInt16: FieldNumber, ColumnType, StoredInOrder { public typealias Sum = Int }
extension UInt32: FieldNumber, ColumnType, StoredInOrder { public typealias Sum = Int }
extension UInt64: FieldNumber, ColumnType, StoredInOrder { public typealias Sum = UInt64 }
extension UInt: FieldNumber, ColumnType, StoredInOrder { public typealias Sum = UInt }

extension FieldNumber where Self: BinaryFloatingPoint, Sum == Double {
  /// The number as a record stores it.
  public var _fieldValue: PlistValue? { .real(Double(self)) }

  /// The sum as a `Double`.
  public static func _sum(_ total: PlistValue) -> Double? { total.anyReal }
}

extension Double: FieldNumber, StoredInOrder { public typealias Sum = Double }
extension Float: FieldNumber, StoredInOrder { public typealias Sum = Double }

extension Optional: FieldNumber where Wrapped: FieldNumber {
  public typealias Sum = Wrapped.Sum

  /// The number as a record stores it; `nil` for `nil`.
  public var _fieldValue: PlistValue? { flatMap(\._fieldValue) }

  /// The sum as a number; `nil` if it is too large for its type.
  public static func _sum(_ total: PlistValue) -> Sum? { Wrapped._sum(total) }
}
