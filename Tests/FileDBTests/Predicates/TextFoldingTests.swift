import Foundation
import Testing

@testable import FileDB

/// Differences that do not count when text is compared.
@Suite struct TextFoldingTests {
  /// All but the ideographs, the Hangul syllables and what is private: tens of thousands that have neither case nor
  /// accents.
  private static let scalars =
    [0...0x33FF, 0xA000...0xACFF, 0xF900...0x16FFF, 0x1AFF0...0x1FFFF, 0x2F800...0x2FA1F]
    .flatMap { (range: ClosedRange<UInt32>) in range.compactMap(Unicode.Scalar.init) }

  @Test func caseFoldingMakesUpperAndLowerCaseEqual() {
    let folding = TextFolding.letterCase
    let wrong = Self.scalars.filter { scalar in
      let forms = [String(scalar), scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping]
      return Set(forms.map { Array(folding.fold($0).utf8) }).count > 1
    }
    #expect(wrong.isEmpty, "\(wrong)")
  }

  @Test(arguments: [TextFolding.letterCase, .accents, [.letterCase, .accents]])
  func foldingMakesCanonicallyEquivalentTextsEqual(folding: TextFolding) {
    let wrong = Self.scalars.filter { scalar in
      let text = String(scalar)
      let decomposed = text.decomposedStringWithCanonicalMapping
      let folded = folding.fold(text)
      return !folded.utf8.elementsEqual(folding.fold(decomposed).utf8)
        || !folded.utf8.elementsEqual(folding.fold(folded).utf8)
    }
    #expect(wrong.isEmpty, "\(wrong)")
  }

  @Test func accentFoldingRemovesAccentsAndNothingElse() {
    let folding = TextFolding.accents
    for (text, expected) in [
      ("Crème brûlée, Ångström, façade, Žižek", "Creme brulee, Angstrom, facade, Zizek"),
      ("ἄνθρωπος", "ανθρωπος"),
      ("Việt Nam", "Viet Nam"), ("Ёлка", "Елка"), ("שָׁלוֹם", "שלום"), ("مُحَمَّد", "محمد"), ("Łódź", "Łodz"),
      ("が", "が"), ("हिन्दी", "हिन्दी"), ("ที่", "ที่"), ("한글", "한글"), ("é", "e"), ("plain", "plain"),
    ] {
      #expect(folding.fold(text).utf8.elementsEqual(expected.utf8), "\(text): \(folding.fold(text))")
    }
  }

  @Test func emptyFoldingLeavesTextUnchanged() {
    for text in ["e\u{301}", "É", "ﬁ"] { #expect(TextFolding().fold(text).utf8.elementsEqual(text.utf8)) }
  }
}
