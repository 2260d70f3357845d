/// The number that identifies a record in its table.
///
/// A record keeps its id for life, and FileDB does not give the id to another record after that. Only
/// `RecordTable.truncate()` starts again at 1.
///
/// The id's type includes the type of the table's values, so the compiler stops you from using an id of one table in
/// another. As a property of a value, an id refers to a record. It is stored as an integer:
///
///     struct Note: Codable, Sendable {
///       var title: String
///       var folder: RecordID<Folder>?
///     }
public struct RecordID<Value>: RawRepresentable, Hashable, Sendable {
  package let plain: AnyRecordID

  /// The number; never negative.
  public var rawValue: Int64 { plain.rawValue }

  /// The id with this number.
  /// - Returns: `nil` for a negative number.
  public init?(rawValue: Int64) {
    guard let plain = AnyRecordID(rawValue: rawValue) else { return nil }
    self.plain = plain
  }

  /// Gives an id the type of a table's values. FileDB does not check that the id belongs to such a table.
  public init(_ id: AnyRecordID) { plain = id }

  /// The same id for a table that you have opened with another type of values.
  public init<Other>(_ id: RecordID<Other>) { plain = id.plain }
}

extension RecordID: LosslessStringConvertible {
  /// The decimal digits.
  public var description: String { plain.description }

  /// Reads plain decimal digits. A sign, white space and leading zeros are refused, so each id has only one text.
  /// - Returns: `nil` for any other text.
  public init?(_ description: String) {
    guard let plain = AnyRecordID(description) else { return nil }
    self.plain = plain
  }
}

extension RecordID: Comparable, ExpressibleByIntegerLiteral {
  public static func < (left: RecordID, right: RecordID) -> Bool { left.plain < right.plain }

  /// An id with this number.
  /// - Precondition: the number is not negative.
  public init(integerLiteral value: Int64) { plain = AnyRecordID(integerLiteral: value) }
}

extension RecordID: Codable {
  public init(from decoder: any Decoder) throws { plain = try AnyRecordID(from: decoder) }
  public func encode(to encoder: any Encoder) throws { try plain.encode(to: encoder) }
}
