/// Text that has a syntax: a shell's words, a path, a list on the command line.
///
/// A `Character` includes the combining marks that follow. So Swift does not find the character `'` in `"'\u{301}"`,
/// but a shell does. These methods look at Unicode scalars, as all readers of such texts do.
extension StringProtocol {
  package func has(_ scalar: Unicode.Scalar) -> Bool { unicodeScalars.contains(scalar) }

  /// The texts between the separators. Some may be empty.
  package func parts(between separator: Unicode.Scalar) -> [String] {
    Substring(self).unicodeScalars.split(separator: separator, omittingEmptySubsequences: false).map {
      String(Substring($0))
    }
  }

  /// The texts before and after the first separator; `nil` if there is none.
  package func cut(at separator: Unicode.Scalar) -> (before: String, after: String)? {
    let text = Substring(self)
    guard let place = text.unicodeScalars.firstIndex(of: separator) else { return nil }
    return (String(text[..<place]), String(text[text.unicodeScalars.index(after: place)...]))
  }

  /// The text with other text in place of each of these scalars.
  package func replacing(_ texts: [Unicode.Scalar: String]) -> String {
    var result = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if let text = texts[scalar] { result += text.unicodeScalars } else { result.append(scalar) }
    }
    return String(result)
  }
}

/// The percent-encoding of URLs: `%` and two hexadecimal digits stand for a byte. See RFC 3986, 2.1.
public enum PercentEncoding {
  /// - Parameter kept: what stays as it is, beside ASCII letters and digits.
  public static func encode(_ text: String, keeping kept: String = "-._~") -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        bytes.append(byte)
      case _ where byte < 0x80 && kept.utf8.contains(byte): bytes.append(byte)
      default: bytes += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// - Returns: `nil` if a `%` does not begin a code, or the result is not UTF-8.
  public static func decode(_ encoded: some Sequence<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = encoded.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(value), let low = rest.next().flatMap(value) else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ value: UInt8) -> UInt8 { Array("0123456789ABCDEF".utf8)[Int(value)] }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
