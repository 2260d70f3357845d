import Foundation
import TestSupport
import Testing

@testable import FileDB

@Suite struct TextSearchTests {
  @Test func everyWordIsFoundInSomeField() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [
        ["name": "Crème Brûlée", "note": "with sugar", "tags": ["French", "Süß"]],
        ["name": "cream", "note": "brulee"], ["name": "BRULEE of creme", "n": 5], ["note": "creme brulee"],
        ["other": "creme brulee"],
      ])
      func ids(_ text: String, _ fields: [String]? = nil) -> [RecordID] {
        table.snapshot.search(text, in: fields).map(\.id)
      }
      #expect(ids("creme brulee", ["name", "note"]) == [1, 3, 4])
      #expect(ids("BRÛLÉE  crème\n", ["name"]) == [1, 3])
      #expect(ids("brul crem sug") == [1], "parts of words, each in any field")
      #expect(ids("brul crem sug", ["name"]).isEmpty)
      #expect(ids("suss french") == [1], "arrays of texts")
      #expect(ids("creme brulee") == [1, 3, 4, 5])
      #expect(ids("5").isEmpty, "a number is no text")
      #expect(ids("") == [1, 2, 3, 4, 5])
      #expect(ids(" \t", []) == [1, 2, 3, 4, 5])
      #expect(ids("creme", []).isEmpty)
      #expect(ids("creme", ["nosuch"]).isEmpty)
      #expect(ids("crème' OR TRUEPREDICATE").isEmpty)
    }
  }

  @Test func aLargeTableIsSearchedInOrder() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: (1...9_000).map { ["a": .string("Nº \($0)"), "b": .string("é\($0 % 7)")] })
      try table.move(8_888, to: .top)
      let expected = table.snapshot.filter {
        $0.fields["a"]!.string!.contains("88") && $0.fields["b"]!.string!.contains("5")
          || $0.fields["a"]!.string!.contains("5") && $0.fields["a"]!.string!.contains("88")
      }.map(\.id)
      #expect(!expected.isEmpty)
      #expect(table.snapshot.search("88 5").map(\.id) == expected)
    }
  }
}

/// What does not count when text is compared.
@Suite struct TextFoldingTests {
  /// All but the ideographs, the Hangul syllables and what is private: tens of thousands that have neither case nor accents.
  private static let scalars =
    [0...0x33FF, 0xA000...0xACFF, 0xF900...0x16FFF, 0x1AFF0...0x1FFFF, 0x2F800...0x2FA1F]
    .flatMap { (range: ClosedRange<UInt32>) in range.compactMap(Unicode.Scalar.init) }

  @Test func caseDoesNotCount() {
    let folding = TextFolding.letterCase
    let wrong = Self.scalars.filter { scalar in
      let forms = [String(scalar), scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping]
      return Set(forms.map { Array(folding.fold($0).utf8) }).count > 1
    }
    #expect(wrong.isEmpty, "\(wrong)")
  }

  @Test(arguments: [TextFolding.letterCase, .accents, [.letterCase, .accents]])
  func canonicallyEquivalentTextsAreOne(folding: TextFolding) {
    let wrong = Self.scalars.filter { scalar in
      let text = String(scalar)
      let decomposed = text.decomposedStringWithCanonicalMapping
      let folded = folding.fold(text)
      return !folded.utf8.elementsEqual(folding.fold(decomposed).utf8)
        || !folded.utf8.elementsEqual(folding.fold(folded).utf8)
    }
    #expect(wrong.isEmpty, "\(wrong)")
  }

  @Test func accentsAreThoseOfWriting() {
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

  @Test func withoutAnyTheTextStaysAsItIs() {
    for text in ["e\u{301}", "É", "ﬁ"] { #expect(TextFolding().fold(text).utf8.elementsEqual(text.utf8)) }
  }
}
