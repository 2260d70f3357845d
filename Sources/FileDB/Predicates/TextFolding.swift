import FileDBEssentials
import FileDBPlist

#if canImport(FoundationEssentials)
  @_spi(_Unicode) import Swift
#endif

/// The differences between strings to ignore. The result is the same everywhere, whatever the locale.
struct TextFolding: OptionSet, Sendable {
  let rawValue: UInt8

  static let letterCase = TextFolding(rawValue: 1)
  static let accents = TextFolding(rawValue: 2)

  /// `text` without these differences. Canonically equivalent strings give the same bytes. With no differences to
  /// ignore, the text itself.
  func fold(_ text: String) -> String {
    if isEmpty { return text }
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return contains(.letterCase) ? text.lowercased() : text }
    var folded = text
    if contains(.letterCase) {
      // To lower case, to upper case and back, so that ß, ẞ and SS become the same, and so do the three sigmas.
      folded = folded.lowercased().uppercased().lowercased()
    }
    if contains(.accents) {
      let scalars = folded.canonicallyDecomposed.unicodeScalars
      folded = String(String.UnicodeScalarView(scalars.filter { !Self.isAccent($0) }))
    }
    // Composed, so that an e does not match the e of an é if accents count.
    return folded.canonicallyComposed
  }

  /// Calls `body` with the bytes of the folded text. ASCII needs no `String`.
  func withFolded<Result>(
    _ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    if isEmpty { return body(text) }
    guard text.allSatisfy({ $0 < 0x80 }) else {
      var folded = fold(String(decoding: text, as: UTF8.self))
      return folded.withUTF8(body)
    }
    guard contains(.letterCase) else { return body(text) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count) { lowercased in
      for (place, byte) in text.enumerated() {
        lowercased[place] = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
      }
      return body(UnsafeBufferPointer(lowercased))
    }
  }

  /// Whether this is an accent of a Latin, Greek or Cyrillic letter, a point of Hebrew, or a vowel mark of Arabic or
  /// Syriac. Marks that make a different letter, as in kana, Indic scripts and Thai, have other classes.
  private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.canonicalCombiningClass.rawValue {
    case 1, 10...36, 200...: true
    default: false
    }
  }
}

extension String {
  #if canImport(FoundationEssentials)
    // The same functions as in Foundation on Linux. `filedb` does without the part of Foundation that offers them; see
    // Decisions/027.
    fileprivate var canonicallyDecomposed: String { String(UnicodeScalarView(_nfd)) }
    fileprivate var canonicallyComposed: String { String(UnicodeScalarView(_nfc)) }
  #else
    fileprivate var canonicallyDecomposed: String { decomposedStringWithCanonicalMapping }
    fileprivate var canonicallyComposed: String { precomposedStringWithCanonicalMapping }
  #endif

  /// Whether this text contains the UTF-8 bytes of `part` in succession. Every text contains an empty `part`.
  func containsBytes(of part: String) -> Bool {
    var (text, part) = (self, part)
    return text.withUTF8 { text in part.withUTF8 { part in findBytes(part, in: text) != nil } }
  }
}
