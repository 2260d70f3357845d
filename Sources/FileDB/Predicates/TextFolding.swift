import FileDBEssentials
import FileDBPlist

#if canImport(FoundationEssentials)
  @_spi(_Unicode) import Swift
#endif

/// Which differences between two texts do not count. The same everywhere, whatever the locale.
struct TextFolding: OptionSet, Sendable {
  let rawValue: UInt8

  static let letterCase = TextFolding(rawValue: 1)
  static let accents = TextFolding(rawValue: 2)

  /// What is left of `text` without those differences; canonically equivalent texts leave the same bytes. Without any,
  /// the text itself.
  func fold(_ text: String) -> String {
    if isEmpty { return text }
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return contains(.letterCase) ? text.lowercased() : text }
    var folded = text
    if contains(.letterCase) {
      // There and back, so that ß, ẞ and SS meet, and the three sigmas.
      folded = folded.lowercased().uppercased().lowercased()
    }
    if contains(.accents) {
      let scalars = folded.canonicallyDecomposed.unicodeScalars
      folded = String(String.UnicodeScalarView(scalars.filter { !Self.isAccent($0) }))
    }
    // Composed, so that the e of an é that counts is not found by itself.
    return folded.canonicallyComposed
  }

  /// Accents of Latin, Greek and Cyrillic letters, the points of Hebrew and the vowel marks of Arabic and Syriac. Marks
  /// that make another letter, as those of kana, Indic and Thai, have other classes.
  private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.canonicalCombiningClass.rawValue {
    case 1, 10...36, 200...: true
    default: false
    }
  }
}

extension String {
  #if canImport(FoundationEssentials)
    // As Foundation does it on Linux, whose part with these names for it `filedb` does without; see Decisions/027.
    fileprivate var canonicallyDecomposed: String { String(UnicodeScalarView(_nfd)) }
    fileprivate var canonicallyComposed: String { String(UnicodeScalarView(_nfc)) }
  #else
    fileprivate var canonicallyDecomposed: String { decomposedStringWithCanonicalMapping }
    fileprivate var canonicallyComposed: String { precomposedStringWithCanonicalMapping }
  #endif

  /// Whether the UTF-8 bytes of `part` stand in this text one behind the other; those of an empty one always do.
  func containsBytes(of part: String) -> Bool {
    var (text, part) = (self, part)
    return text.withUTF8 { text in part.withUTF8 { part in findBytes(part, in: text) != nil } }
  }

  func hasBytePrefix(_ part: String) -> Bool { utf8.starts(with: part.utf8) }
  func hasByteSuffix(_ part: String) -> Bool { utf8.reversed().starts(with: part.utf8.reversed()) }
}
