import FileDBTables
import Foundation
import TestSupport
import Testing

@Suite struct TextPatternTests {
  @Test(arguments: [
    ("[A-Z]{2}[0-9]{3}", ["AB123"], ["AB12", "ab123", "AB1234", " AB123"]),
    (#"\d+(\.\d+)?"#, ["1", "10.25"], ["", ".5", "1.", "١"]),
    ("(?:red|green|)", ["red", "green", ""], ["redgreen", "re"]),
    ("^a.c$", ["abc", "a c"], ["a\nc", "ac"]),
    (#"[^\s,]*"#, ["", "a-b"], ["a b", "a,b"]),
    (#"[\]\-^]+"#, ["]-^"], ["a"]),
    (#"\w+"#, ["Müller_7", "日本"], ["a b", ""]),
    ("a*?b??", ["", "aab"], ["abb"]),
    ("x{2,}", ["xx", "xxxx"], ["x"]),
    ("x{0}", [""], ["x"]),
    ("e\u{301}", ["e\u{301}"], ["é"]),
  ])
  func patternMatchesTheWholeText(pattern: String, matching: [String], others: [String]) throws {
    let expression = try TextPattern(pattern)
    for text in matching { #expect(expression.matches(text), "\(pattern) \(text)") }
    for text in others { #expect(!expression.matches(text), "\(pattern) \(text)") }
  }

  @Test(arguments: [
    "(a", "a)", "[a", "*a", "a**", "a{2", "a{3,2}", "a{9999}", "(?=a)", #"\1"#, #"\p{L}"#, "[b-a]", "a\\",
    "[[:alpha:]]",
  ])
  func wrongPatternIsRefused(pattern: String) {
    #expect(throws: PatternFault.self) { try TextPattern(pattern) }
  }

  @Test func hostilePatternsEnd() throws {
    let text = String(repeating: "a", count: 5_000)
    #expect(try !TextPattern("(a*)*b").matches(text))
    #expect(try !TextPattern("(a|aa)+$b").matches(text))
    #expect(throws: PatternFault.self) { try TextPattern("((a{1000}){1000}){1000}") }
    #expect(try TextPattern("((){1000}){1000}").matches(""))
    #expect(throws: PatternFault.self) { try TextPattern(String(repeating: "(", count: 100_000)) }
    // What occurs zero times takes time to read.
    #expect(try TextPattern("(a{1000}){0}b").matches("b"))
    #expect(throws: PatternFault.self) { try TextPattern(String(repeating: "(a{1000}){0}", count: 50)) }
  }

  @Test func randomPatternsAgreeWithFoundation() throws {
    var random = SeededRandom.fromEnvironment("text pattern")
    for _ in 0..<2_000 {
      let pattern = Self.pattern(depth: 3, &random)
      let ours = try TextPattern(pattern)
      let theirs = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
      for _ in 0..<8 {
        let text = String(
          (0..<Int.random(in: 0...5, using: &random)).map { _ in "abc".randomElement(using: &random)! })
        let range = NSRange(location: 0, length: text.utf16.count)
        let isMatch = theirs.firstMatch(in: text, range: range) != nil
        #expect(ours.matches(text) == isMatch, "\(pattern) on '\(text)'")
      }
    }
  }

  private static func pattern(depth: Int, _ random: inout SeededRandom) -> String {
    guard depth > 0 else { return ["a", "b", "c", ".", "[ab]", "[^a]"].randomElement(using: &random)! }
    func part() -> String { pattern(depth: depth - 1, &random) }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return part() + part()
    case 1: return "(?:\(part())|\(part()))"
    case 2: return "(\(part()))*"
    case 3: return "(\(part()))+"
    case 4: return "(\(part())){1,2}"
    default: return "(\(part()))?"
    }
  }
}
