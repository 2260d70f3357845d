import FileDB
import TestSupport
import Testing

/// `LIKE` with every short pattern and every short string.
@Suite struct LikeTests {
  private static func words(of letters: [String], upTo length: Int) -> [[String]] {
    guard length > 0 else { return [[]] }
    let shorter = words(of: letters, upTo: length - 1)
    return shorter + shorter.filter { $0.count == length - 1 }.flatMap { word in letters.map { word + [$0] } }
  }

  private static func isLike(_ text: ArraySlice<String>, _ pattern: ArraySlice<String>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "*" {
      return isLike(text, pattern.dropFirst()) || !text.isEmpty && isLike(text.dropFirst(), pattern)
    }
    guard let letter = text.first, first == "?" || first == letter else { return false }
    return isLike(text.dropFirst(), pattern.dropFirst())
  }

  @Test func likeAgreesWithModelForAllShortPatterns() throws {
    let texts = Self.words(of: ["a", "é", "が"], upTo: 4)
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: texts.map { ["a": .string($0.joined())] })
      for pattern in Self.words(of: ["a", "é", "*", "?"], upTo: 5) {
        let predicate = try RecordPredicate("a LIKE %@", pattern.joined())
        let expected = zip(table.lastSnapshot.ids, texts).filter { Self.isLike($1[...], pattern[...]) }.map(
          \.0)
        #expect(try table.lastSnapshot.records(where: predicate).map(\.id) == expected, "\(pattern)")
      }
    }
  }
}
