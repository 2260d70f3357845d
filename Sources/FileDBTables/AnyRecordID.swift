/// A record's id without the type of its values. It is used where records of several tables meet, as in a
/// ``StoreError``.
/// `RecordID(_:)` turns it back into the id of a table's record.
public struct AnyRecordID: RawRepresentable, Hashable, Sendable {
  /// The number; never negative.
  public let rawValue: Int64

  /// The id with this number.
  /// - Returns: `nil` for a negative number.
  public init?(rawValue: Int64) {
    guard rawValue >= 0 else { return nil }
    self.rawValue = rawValue
  }

  package init(counted: Int64) { rawValue = counted }

  /// The same id, without the type of its values.
  public init<Value>(_ id: RecordID<Value>) { self = id.plain }
}

extension AnyRecordID: LosslessStringConvertible {
  /// The decimal digits.
  public var description: String { rawValue.description }

  /// Reads plain decimal digits. A sign, white space and leading zeros are refused, so each id has only one text.
  /// - Returns: `nil` for any other text.
  public init?(_ description: String) {
    guard let number = Int64(description), number >= 0, number.description == description else { return nil }
    self.init(counted: number)
  }
}

extension AnyRecordID: Comparable, ExpressibleByIntegerLiteral {
  public static func < (left: AnyRecordID, right: AnyRecordID) -> Bool { left.rawValue < right.rawValue }

  /// An id with this number.
  /// - Precondition: the number is not negative.
  public init(integerLiteral value: Int64) {
    precondition(value >= 0, "a record's id is not negative")
    self.init(counted: value)
  }
}

extension AnyRecordID: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let number = try container.decode(Int64.self)
    guard let id = AnyRecordID(rawValue: number) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\(number) is not a record's id")
    }
    self = id
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}
