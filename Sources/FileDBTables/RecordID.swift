/// The number that identifies a record in its table. A record keeps its id for life. The id is not given again after
/// the record is deleted; only `RecordTable.truncate()` starts again at 1.
///
/// The type of the table's values is part of the id's type, so that an id of one table cannot be taken for that of
/// another. As a field of a value it refers to a record, and is stored as an integer:
///
///     struct Note: Codable, Sendable {
///       var title: String
///       var folder: RecordID<Folder>?
///     }
public struct RecordID<Value>: RawRepresentable, Hashable, Sendable {
  package let plain: AnyRecordID

  /// The number; not negative.
  public var rawValue: Int64 { plain.rawValue }

  /// The id with this number.
  /// - Returns: `nil` for a negative number.
  public init?(rawValue: Int64) {
    guard let plain = AnyRecordID(rawValue: rawValue) else { return nil }
    self.plain = plain
  }

  /// An id that is known to be one of a record with such a value.
  public init(_ id: AnyRecordID) { plain = id }

  /// The same id for a table that you have opened with another type of values.
  public init<Other>(_ id: RecordID<Other>) { plain = id.plain }
}

extension RecordID: LosslessStringConvertible {
  /// The decimal digits.
  public var description: String { plain.description }

  /// Reads plain decimal digits, without sign, white space or leading zeros, so that each id has only one text.
  public init?(_ description: String) {
    guard let plain = AnyRecordID(description) else { return nil }
    self.plain = plain
  }
}

extension RecordID: Comparable, ExpressibleByIntegerLiteral {
  public static func < (left: RecordID, right: RecordID) -> Bool { left.plain < right.plain }

  /// - Precondition: not negative.
  public init(integerLiteral value: Int64) { plain = AnyRecordID(integerLiteral: value) }
}

extension RecordID: Codable {
  public init(from decoder: any Decoder) throws { plain = try AnyRecordID(from: decoder) }
  public func encode(to encoder: any Encoder) throws { try plain.encode(to: encoder) }
}
