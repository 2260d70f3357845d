/// Numbers in the form that FileDB's files give them: lowercase hexadecimal digits.
extension FixedWidthInteger where Self: UnsignedInteger {
  /// - Returns: `nil` for anything but lowercase digits, for none, and for more than the type has room for.
  @inlinable package init?(hexadecimal digits: some Collection<UInt8>) {
    guard (1...Self.bitWidth / 4).contains(digits.count) else { return nil }
    self = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): self = self << 4 | Self(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): self = self << 4 | Self(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
  }
}

extension [UInt8] {
  /// Appends a number, with zeros before it.
  /// - Precondition: it has at most `width` digits.
  @inlinable package mutating func append<Number: FixedWidthInteger & UnsignedInteger>(
    hexadecimal number: Number, width: Int
  ) {
    precondition(number >> (4 * width) == 0, "the number has more digits than there is room for")
    for shift in stride(from: 4 * (width - 1), through: 0, by: -4) {
      let digit = UInt8(truncatingIfNeeded: number >> shift) & 0xF
      append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }
}

extension String {
  /// A number, with zeros before it.
  /// - Precondition: it has at most `width` digits.
  package init(hexadecimal number: some FixedWidthInteger & UnsignedInteger, width: Int) {
    var digits: [UInt8] = []
    digits.append(hexadecimal: number, width: width)
    self = String(decoding: digits, as: UTF8.self)
  }
}
