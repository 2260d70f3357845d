/// The version of an app's shipped data: numbers with dots between them, as in `CFBundleVersion`.
///
/// The numbers are compared one by one, so `1.10` is later than `1.9`. `2` and `2.0` are the same version.
public struct ShippedVersion: Hashable, Sendable {
  /// Without trailing zeros.
  private let numbers: [Int]
}

extension ShippedVersion: LosslessStringConvertible {
  /// The numbers, without zeros at the end.
  public var description: String {
    numbers.isEmpty ? "0" : numbers.map(\.description).joined(separator: ".")
  }

  /// Reads a version from text.
  /// - Returns: `nil` if the text is not decimal numbers with dots between them.
  public init?(_ description: String) {
    var numbers: [Int] = []
    for part in description.split(separator: ".", omittingEmptySubsequences: false) {
      guard part.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        let number = Int(part)
      else { return nil }
      numbers.append(number)
    }
    while numbers.last == 0 { numbers.removeLast() }
    self.numbers = numbers
  }
}

extension ShippedVersion: Comparable {
  public static func < (left: ShippedVersion, right: ShippedVersion) -> Bool {
    left.numbers.lexicographicallyPrecedes(right.numbers)
  }
}

extension ShippedVersion: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
  /// A version with one number.
  /// - Precondition: the number is not negative.
  public init(integerLiteral value: Int) {
    precondition(value >= 0, "a version is not negative")
    numbers = value == 0 ? [] : [value]
  }

  /// A version from a string such as `"1.10"`.
  /// - Precondition: the text is decimal numbers with dots between them.
  public init(stringLiteral value: String) {
    guard let version = ShippedVersion(value) else {
      preconditionFailure("'\(value)' is not a version: it must be numbers with dots between them")
    }
    self = version
  }
}
