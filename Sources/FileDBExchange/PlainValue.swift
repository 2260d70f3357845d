import FileDB
import FileDBPlist

/// A value of delimited text whose text is the same in a property list, as for most values. It need not be decoded.
enum PlainValue {
  /// Tags around the unchanged text.
  case element(StaticString, end: StaticString)
  /// A single tag.
  case tag(StaticString)

  /// - Returns: `nil` if the value needs a closer look.
  init?(_ text: UnsafeBufferPointer<UInt8>, _ type: FieldType) {
    switch type {
    case .integer where Self.isInteger(text): self = .element("<integer>", end: "</integer>\n")
    case .float where Self.isReal(text): self = .element("<real>", end: "</real>\n")
    case .bool where text.elementsEqual("true".utf8) || text.elementsEqual("1".utf8): self = .tag("<true/>\n")
    case .bool where text.elementsEqual("false".utf8) || text.elementsEqual("0".utf8):
      self = .tag("<false/>\n")
    // It accepts only strings that it would write itself.
    case .date where PlistDate.parse(text) != nil: self = .element("<date>", end: "</date>\n")
    default: return nil
    }
  }

  /// Whether `text` is an integer as it would be written, with so few digits that it cannot be too large.
  private static func isInteger(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    let digits = text.dropFirst(text.first == UInt8(ascii: "-") ? 1 : 0)
    guard let first = digits.first, digits.count <= 18, digits.allSatisfy(isDigit) else { return false }
    return first != UInt8(ascii: "0") || text.count == 1
  }

  /// Whether `text` is a real as it would be written. No two decimals of at most 15 digits are the same real, so this
  /// is the shortest text for it. Below 0.0001, it would be written with an exponent.
  private static func isReal(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    let number = text.dropFirst(text.first == UInt8(ascii: "-") ? 1 : 0)
    let whole = number.prefix(while: isDigit)
    let rest = number.dropFirst(whole.count)
    guard let first = whole.first, first != UInt8(ascii: "0") || whole.count == 1, text.count <= 15 else {
      return false
    }
    guard rest.first == UInt8(ascii: ".") else { return rest.isEmpty }
    let fraction = rest.dropFirst()
    guard let last = fraction.last, last != UInt8(ascii: "0"), fraction.allSatisfy(isDigit) else {
      return false
    }
    return first != UInt8(ascii: "0") || fraction.prefix(while: { $0 == UInt8(ascii: "0") }).count < 4
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
