import FileDBEssentials
import FileDBPlist

/// A date that keeps its fraction of a second. It is stored as text, for example `2026-01-31T12:00:00.250000000Z`.
///
/// ```swift
/// struct Sighting: Codable, Sendable {
///   @ExactDate var seen: Date
///   var confirmed: ExactDate?
/// }
/// ```
///
/// A plain `Date` is stored as a date of the property list, which has whole seconds; FileDB cuts off the rest.
///
/// The text is ISO 8601 in UTC with nine digits, so the strings sort as the dates do. A date comes back with an error
/// of at most half a nanosecond. That is exactly the same `Date`, unless it is within 100 days of 1 January 2001.
/// FileDB also reads UTC strings with fewer digits or none, and fields that held a `Date`; these may sort and compare
/// wrongly.
///
/// In a predicate, pass an `ExactDate` as an argument: `RecordPredicate("seen > %@", ExactDate(date))`.
@propertyWrapper
public struct ExactDate: Hashable, Sendable {
  /// The date, with its fraction of a second.
  public var wrappedValue: Date

  /// Wraps the value of a property that is marked with `@ExactDate`.
  public init(wrappedValue: Date) { self.wrappedValue = wrappedValue }

  /// Wraps a date.
  public init(_ date: Date) { wrappedValue = date }
}

extension ExactDate: Comparable {
  public static func < (left: ExactDate, right: ExactDate) -> Bool { left.wrappedValue < right.wrappedValue }
}

extension ExactDate: Codable {
  /// - Throws: `DecodingError` for what is neither such a string nor a date.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let text = try? container.decode(String.self) else {
      self.init(try container.decode(Date.self))
      return
    }
    guard let date = Self.parse(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "'\(text)' is not a date like 2026-01-31T12:00:00.25Z")
    }
    self.init(date)
  }

  /// - Throws: `EncodingError` for a date outside the years 1 to 9999.
  public func encode(to encoder: any Encoder) throws {
    guard let text = Self.text(wrappedValue) else {
      throw EncodingError.invalidValue(
        wrappedValue,
        EncodingError.Context(
          codingPath: encoder.codingPath, debugDescription: "a date lies in the years 1 to 9999"))
    }
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  private static let digitCount = 9

  private static func text(_ date: Date) -> String? {
    let time = date.timeIntervalSinceReferenceDate
    guard time.isFinite else { return nil }
    var second = time.rounded(.down)
    var fraction = ((time - second) * 1e9).rounded()
    if fraction == 1e9 { (second, fraction) = (second + 1, 0) }
    guard let whole = PlistDate.wholeSecond(Date(timeIntervalSinceReferenceDate: second)) else { return nil }
    let digits = String(Int(fraction))
    let zeros = String(repeating: "0", count: digitCount - digits.count)
    return "\(PlistDate.text(whole).dropLast()).\(zeros)\(digits)Z"
  }

  private static func parse(_ text: String) -> Date? {
    guard text.hasSuffix("Z") else { return nil }
    let parts = text.dropLast().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    var second = "\(parts[0])Z"
    guard let date = second.withUTF8(PlistDate.parse) else { return nil }
    guard parts.count == 2 else { return date }
    guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Double("0.\(parts[1])").map { date.addingTimeInterval($0) }
  }
}
