/// Integers and reals as the text of a property list.
package enum PlistNumber {
  /// Reads a decimal or `0x` number with an optional sign. It skips white space around the number, because some
  /// programs write it.
  package static func integer(_ text: UnsafeBufferPointer<UInt8>) -> PlistValue? {
    var digits = trimmed(text)[...]
    let negative = digits.first == UInt8(ascii: "-")
    if negative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
    var radix: UInt64 = 10
    if digits.count > 2, digits.first == UInt8(ascii: "0"),
      digits.dropFirst().first! | 0x20 == UInt8(ascii: "x")
    {
      radix = 16
      digits = digits.dropFirst(2)
    }
    guard !digits.isEmpty else { return nil }
    var magnitude: UInt64 = 0
    for character in digits {
      guard let digit = digit(character), digit < radix else { return nil }
      let (product, overflow) = magnitude.multipliedReportingOverflow(by: radix)
      let (sum, carry) = product.addingReportingOverflow(digit)
      if overflow || carry { return nil }
      magnitude = sum
    }
    guard negative else { return PlistValue(magnitude) }
    guard magnitude <= Int64.min.magnitude else { return nil }
    return .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
  }

  /// Reads a decimal number with an optional point and exponent, or `nan`, or `inf` and `infinity` with an optional
  /// sign, in upper or lower case. It refuses a finite number that is too large for a double, because that would read
  /// as infinity.
  package static func real(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    let characters = trimmed(text)
    let string = String(decoding: characters, as: UTF8.self)
    // Of these characters, `Double` reads only decimal numbers. Of others, it also reads hexadecimal ones.
    if characters.allSatisfy(isPartOfDecimal) { return Double(string).flatMap { $0.isFinite ? $0 : nil } }
    switch string.lowercased() {
    case "nan": return .nan
    case "inf", "+inf", "infinity", "+infinity": return .infinity
    case "-inf", "-infinity": return -.infinity
    default: return nil
    }
  }

  private static func isPartOfDecimal(_ character: UInt8) -> Bool {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  private static func trimmed(_ text: UnsafeBufferPointer<UInt8>) -> Slice<UnsafeBufferPointer<UInt8>> {
    var slice = text[...]
    while let first = slice.first, isXMLSpace(first) { slice = slice.dropFirst() }
    while let last = slice.last, isXMLSpace(last) { slice = slice.dropLast() }
    return slice
  }

  private static func digit(_ character: UInt8) -> UInt64? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(character - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(character - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(character - UInt8(ascii: "A") + 10)
    default: nil
    }
  }
}

/// The four characters that XML 1.0 calls white space.
@inline(__always)
package func isXMLSpace(_ byte: UInt8) -> Bool {
  byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D
}
