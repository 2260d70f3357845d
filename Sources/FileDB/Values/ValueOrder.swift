import FileDBPlist
import FileDBTables

/// How strings are compared.
public enum TextOrder: Hashable, Sendable {
  /// By their UTF-8 bytes: capitals before small letters, `item 10` before `item 2`. This order is the same in every
  /// locale.
  case bytes
  /// As a person in the current locale expects, and as the Finder sorts: `item 2` before `item 10`. Case matters only
  /// if nothing else differs.
  case localized
}

extension ValueOrder {
  static func compare(_ left: PlistValue, _ right: PlistValue, text: TextOrder) -> Int {
    if text == .localized, case (.string(let left), .string(let right)) = (left, right) {
      // The code that sorts has already required the rules.
      return Language.rules?.compare(left, right) ?? compareUTF8(left, right).signum()
    }
    return compare(left, right)
  }
}
