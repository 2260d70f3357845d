extension CanonicalBytes {
  /// The end of the integer at `start`, in its canonical form: decimal digits, no sign except `-`, no leading zero,
  /// within the range of an `Int64` or a `UInt64`.
  @inline(__always)
  func endOfInteger(at start: Int) -> Int? {
    let isNegative = byte(at: start) == UInt8(ascii: "-")
    let first = isNegative ? start + 1 : start
    let end = endOfDigits(at: first)
    if byte(at: first) == UInt8(ascii: "0") { return end == first + 1 && !isNegative ? end : nil }
    switch end - first {
    case 1...18: return end
    case 19, 20:
      guard let magnitude = magnitude(first..<end) else { return nil }
      return isNegative && magnitude > Int64.min.magnitude ? nil : end
    default: return nil
    }
  }

  /// The number in a text; `nil` if it has a sign, a leading zero or anything but digits, or if it does not fit into an
  /// `Int64`.
  func number(_ text: Range<Int>) -> Int64? {
    guard (1...19).contains(text.count), endOfDigits(at: text.lowerBound) == text.upperBound,
      text.count == 1 || byte(at: text.lowerBound) != UInt8(ascii: "0")
    else { return nil }
    return magnitude(text).flatMap { Int64(exactly: $0) }
  }

  /// The number that the digits spell.
  @inline(__always)
  func magnitude(_ digits: Range<Int>) -> UInt64? {
    var value: UInt64 = 0
    for place in digits {
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(byte(at: place) &- UInt8(ascii: "0")))
      if overflow || carry { return nil }
      value = sum
    }
    return value
  }

  @inline(__always)
  func endOfDigits(at start: Int) -> Int {
    var position = start
    while true {
      // This turns a digit into 0...9. Adding 0x76 to that does not reach the high bit.
      let values = word(at: position) ^ everyByte(0x30)
      let others = ((values &+ everyByte(0x76)) | values) & everyByte(0x80)
      guard others == 0 else { return position &+ others.trailingZeroBitCount &>> 3 }
      position &+= 8
    }
  }

  /// The end of the real at `start`, in its canonical form: the shortest digits that read back as the same number.
  func endOfReal(at start: Int) -> Int? {
    if let end = endOfPlainReal(at: start), byte(at: end) == UInt8(ascii: "<") { return end }
    let end = first(UInt8(ascii: "<"), from: start, to: count)
    // No number is longer than -2.2250738585072014e-308.
    guard end - start <= 24, let number = Double(String(decoding: text(start..<end), as: UTF8.self)) else {
      return nil
    }
    var written = PlistWriter.text(number)
    return written.withUTF8 { $0.elementsEqual(text(start..<end)) } ? end : nil
  }

  /// The end of a decimal of at most fifteen digits. It needs no comparison: doubles are so dense that no two such
  /// decimals read as the same number. So neither a shorter decimal nor another of the same length reads as this one.
  /// From 0.0001 up to far beyond fifteen digits, the writer uses no exponent. Only superfluous zeros are left to
  /// check.
  private func endOfPlainReal(at start: Int) -> Int? {
    let first = byte(at: start) == UInt8(ascii: "-") ? start + 1 : start
    let point = endOfDigits(at: first)
    guard point > first, byte(at: first) != UInt8(ascii: "0") || point == first + 1 else { return nil }
    guard byte(at: point) == UInt8(ascii: ".") else { return point - first <= 15 ? point : nil }
    let end = endOfDigits(at: point + 1)
    guard end > point + 1, end - first <= 16, byte(at: end - 1) != UInt8(ascii: "0"),
      !has("0.0000", at: first)
    else { return nil }
    return end
  }

  /// The number that ``endOfPlainReal(at:)`` has accepted. Doubles hold its digits and its power of ten exactly, so
  /// their quotient is rounded only once, as it must be.
  @inline(__always)
  func plainReal(_ text: Range<Int>) -> Double? {
    guard text.count <= 17, endOfPlainReal(at: text.lowerBound) == text.upperBound else { return nil }
    let isNegative = byte(at: text.lowerBound) == UInt8(ascii: "-")
    var digits: UInt64 = 0
    var divisor = 1.0
    var isFraction = false
    for place in text.dropFirst(isNegative ? 1 : 0) {
      guard byte(at: place) != UInt8(ascii: ".") else {
        isFraction = true
        continue
      }
      digits = digits &* 10 &+ UInt64(byte(at: place) &- UInt8(ascii: "0"))
      if isFraction { divisor *= 10 }
    }
    let number = Double(digits) / divisor
    return isNegative ? -number : number
  }

  /// The end of the base64 at `start`, in the lines that ``Base64/append(_:indentation:to:)`` writes.
  func endOfBase64(at start: Int, _ indentation: Int, _ limits: PlistLimits) -> Int? {
    let tabs = min(indentation, 8)
    // A multiple of four, so that no group of four is split.
    let columns = 76 - 8 * tabs
    var line = start
    var characters = 0
    while hasTabs(tabs, at: line), Base64.value(of: byte(at: line + tabs)) < 64 {
      let first = line + tabs
      guard let length = Base64.length(of: text(first..<first + columns)),
        byte(at: first + length) == UInt8(ascii: "\n")
      else { return nil }
      characters += length
      line = first + length + 1
      // Only the last line may be short or have padding.
      if length < columns || byte(at: line - 2) == UInt8(ascii: "=") { break }
    }
    return characters <= limits.valueBytes ? line : nil
  }
}
