/// Writes property lists in their canonical form: the bytes that Foundation's `PropertyListEncoder` (swift-foundation)
/// writes for the same value. It differs where Foundation would lose data or write something that is not XML. So a
/// carriage return is written `&#13;`, keys are compared and ordered by their UTF-8 bytes, and dates before 15 October
/// 1582 are those of ISO 8601.
public struct PlistWriter {
  /// What has been written so far.
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// Returns the bytes of the document with this root.
  /// - Throws: `unrepresentableCharacter`, `dateOutOfRange`, `tooDeep`, `valueTooLarge` or `fileTooLarge`.
  /// - Complexity: O(*n*) in the size of the value.
  public static func document(_ root: PlistValue, limits: PlistLimits = PlistLimits()) throws(PlistError)
    -> [UInt8]
  {
    let root = try root.normalized(limits: limits)
    var writer = PlistWriter()
    writer.append(header)
    writer.append(root, indentation: 0)
    writer.append(footer)
    guard writer.bytes.count <= limits.fileBytes else {
      throw PlistError(.fileTooLarge(limit: limits.fileBytes))
    }
    return writer.bytes
  }

  package static let header = #"""
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">

    """#

  package static let footer = "</plist>\n"

  package mutating func reserve(_ count: Int) { bytes.reserveCapacity(bytes.count + count) }

  /// Removes what was written, and keeps the memory for what comes next.
  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Appends `text` unchanged.
  package mutating func append(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  package mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// Appends canonical bytes unchanged.
  package mutating func append(_ canonical: ArraySlice<UInt8>) { bytes.append(contentsOf: canonical) }

  /// Appends the digits of a number.
  package mutating func append(_ number: UInt64) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var rest = number
      var start = digits.count
      repeat {
        let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
        start -= 1
        digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)
        rest = quotient
      } while rest > 0
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
    }
  }

  package mutating func indent(_ count: Int) {
    for _ in 0..<count { bytes.append(UInt8(ascii: "\t")) }
  }

  package mutating func append(key: String, indentation: Int) {
    indent(indentation)
    append("<key>" as StaticString)
    appendEscaped(key)
    append("</key>\n" as StaticString)
  }

  /// Appends the lines of `value`, which must be normalized.
  package mutating func append(_ value: PlistValue, indentation: Int) {
    indent(indentation)
    switch value {
    case .string(let text):
      append("<string>" as StaticString)
      appendEscaped(text)
      append("</string>\n" as StaticString)
    case .integer(let number): appendInteger(number.description)
    case .unsigned(let number): appendInteger(number.description)
    case .real(let number):
      append("<real>" as StaticString)
      append(PlistWriter.text(number))
      append("</real>\n" as StaticString)
    case .bool(true): append("<true/>\n" as StaticString)
    case .bool(false): append("<false/>\n" as StaticString)
    case .date(let date):
      append("<date>" as StaticString)
      PlistDate.append(date, to: &bytes)
      append("</date>\n" as StaticString)
    case .data(let data):
      append("<data>\n" as StaticString)
      Base64.append(data, indentation: indentation, to: &bytes)
      indent(indentation)
      append("</data>\n" as StaticString)
    case .array(let elements) where elements.isEmpty: append("<array/>\n" as StaticString)
    case .array(let elements):
      append("<array>\n" as StaticString)
      for element in elements { append(element, indentation: indentation + 1) }
      indent(indentation)
      append("</array>\n" as StaticString)
    case .dict(let entries) where entries.isEmpty: append("<dict/>\n" as StaticString)
    case .dict(let entries):
      append("<dict>\n" as StaticString)
      for entry in entries {
        append(key: entry.key, indentation: indentation + 1)
        append(entry.value, indentation: indentation + 1)
      }
      indent(indentation)
      append("</dict>\n" as StaticString)
    }
  }

  /// The shortest text that reads back as `number`; a whole number has no point.
  package static func text(_ number: Double) -> String {
    if number.isInfinite { return number > 0 ? "+infinity" : "-infinity" }
    if number.isNaN { return "nan" }
    let text = number.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private mutating func appendInteger(_ digits: String) {
    append("<integer>" as StaticString)
    append(digits)
    append("</integer>\n" as StaticString)
  }

  private mutating func appendEscaped(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      var start = 0
      for position in utf8.indices {
        let escape: StaticString
        switch utf8[position] {
        case UInt8(ascii: "<"): escape = "&lt;"
        case UInt8(ascii: ">"): escape = "&gt;"
        case UInt8(ascii: "&"): escape = "&amp;"
        case UInt8(ascii: "\r"): escape = "&#13;"
        default: continue
        }
        bytes.append(contentsOf: utf8[start..<position])
        append(escape)
        start = position + 1
      }
      bytes.append(contentsOf: utf8[start...])
    }
  }
}
