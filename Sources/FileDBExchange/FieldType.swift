import FileDB
import FileDBEssentials
import FileDBPlist

extension FieldType {
  /// Reads a string as a value of this type.
  ///
  /// - `integer`: decimal digits, from -2^63 to 2^64-1; `3.0` is 3.
  /// - `float`: a decimal number, or `nan`, `+infinity`, `-infinity`.
  /// - `bool`: `true`, `yes`, `1`, or `false`, `no`, `0`, in upper or lower case.
  /// - `date`: a day, such as `2024-02-29`, which means its first second. After `T` or a space, a time may follow:
  ///   `12:00`, `12:00:00` or `12:00:00.5`, whose fraction is cut off. Then `Z` or an offset like `+02:00` may follow.
  ///   Without it, the time is in UTC.
  /// - `data`: base64; white space is ignored.
  /// - `json`: any JSON. `1.0` is a real. If a key of an object has `null`, the key is left out; any other `null` is
  ///   refused.
  /// - Returns: `nil` if the text does not fit.
  public func value(of text: String) -> PlistValue? {
    var text = text
    switch self {
    case .string: return .string(text)
    case .integer:
      // A property list may contain hexadecimal numbers. But a string that looks like one is more often an address or a
      // code.
      if text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }) { return nil }
      text = text.withoutZeroFraction
      return text.withUTF8 { PlistNumber.integer($0) }
    case .float: return text.withUTF8 { PlistNumber.real($0) }.map(PlistValue.real)
    case .bool:
      switch text.lowercased() {
      case "true", "yes", "1": return true
      case "false", "no", "0": return false
      default: return nil
      }
    case .date: return DateText.parse(text).map(PlistValue.date)
    case .data:
      let characters = text.utf8.filter { !isXMLSpace($0) }
      return characters.withUnsafeBufferPointer { Base64.decode($0) }.map(PlistValue.data)
    case .json: return (try? JSONParser.parse(text)) ?? nil
    }
  }

  /// Whether `text` is a value of this type that is written again as it is, or as the same moment.
  func keeps(_ text: String) -> Bool {
    guard let value = value(of: text) else { return false }
    if compareUTF8(DelimitedWriter.text(of: value), text) == 0 { return true }
    if case .date(let date) = value { return compareUTF8(PlistDate.text(date), text) == 0 }
    return false
  }

  /// Why `text` is not a value of this type, for an error message.
  package func misfit(of text: String) -> String {
    let isTooLarge = self == .integer && text.isWholeNumber
    return "'\(text)' is "
      + (isTooLarge ? "too large for an integer, which ends at 2^64-1" : "not \(expectation)")
  }

  /// A description of strings of this type, for an error message.
  public var expectation: String {
    switch self {
    case .string: "text"
    case .integer: "a whole number"
    case .float: "a number"
    case .bool: "true or false"
    case .date: "a date like 2024-02-29T12:00:00Z"
    case .data: "base64"
    case .json: "JSON without null"
    }
  }

  /// `value`, which may be text, converted to this type.
  /// - Returns: `nil` if it does not fit.
  package func value(of value: PlistValue) -> PlistValue? {
    switch (self, value) {
    case (.string, .string), (.json, _), (.integer, .integer), (.integer, .unsigned), (.float, .real),
      (.bool, .bool), (.date, .date), (.data, .data):
      value
    case (.integer, .real(let number)): Int64(exactly: number).map { .integer($0) }
    case (.float, .integer(let number)): Double(exactly: number).map(PlistValue.real)
    case (.float, .unsigned(let number)): Double(exactly: number).map(PlistValue.real)
    case (_, .string(let text)): self.value(of: text)
    default: nil
    }
  }
}

extension String {
  /// The text without a point and the zeros after it.
  fileprivate var withoutZeroFraction: String {
    let parts = utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty,
      parts[1].allSatisfy({ $0 == UInt8(ascii: "0") })
    else { return self }
    return String(Substring(parts[0]))
  }

  fileprivate var isWholeNumber: Bool {
    let digits = utf8.first.map { "+-".utf8.contains($0) } == true ? utf8.dropFirst() : utf8[...]
    return !digits.isEmpty && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}
