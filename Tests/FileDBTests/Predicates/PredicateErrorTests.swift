import FileDB
import Foundation
import TestSupport
import Testing

/// Errors for text that is not a predicate, and the places that they name.
@Suite struct PredicateErrorTests {
  /// The text, the column of its error, and words of the message.
  private static let errors: [(text: String, column: Int, words: String)] = [
    ("", 1, "expected a field or a value"), ("   ", 4, "expected a field or a value"),
    ("5", 2, "expected a comparison"), ("kcal >", 7, "expected a field or a value"),
    ("kcal > AND", 8, "AND is a word of the language; write #AND"),
    ("kcal > 1 2", 10, "expected AND, OR or the end"),
    ("kcal ! 1", 6, "expected a comparison"), ("kcal NOT IN {1}", 6, "NOT comes before"),
    ("kcal IS", 8, "expected a field or a value"), ("1 == 1 AND", 11, "expected a field"),
    ("(a == 1", 8, "')'"), ("a == 1)", 7, "expected AND"), ("(a == 1 b", 9, "')'"),
    ("()", 2, "expected a field"),
    ("NOT", 4, "expected a field"), ("a == 'x", 6, "never closed"), ("a == \"x'", 6, "never closed"),
    ("a == 'x\\d'", 8, "'\\d' means nothing; write '\\\\d'"), ("a == 'x\\", 8, "missing after"),
    ("a == '\\u41'", 7, "a character's number"), ("a == '\\u{d800}'", 7, "a character's number"),
    ("a == '\\u{110000}'", 7, "a character's number"), ("a == '\\u{}'", 7, "a character's number"),
    ("a == '\\u{41'", 7, "a character's number"), ("a == $x", 6, "no argument 'x'"),
    ("a == $", 6, "after '$'"), ("$a.b == 1", 1, "no argument 'a'"),
    ("first-name == 1", 6, "in the name of a field, write #\"…\""),
    ("a == 12ab", 6, "'12ab' is not a number"), ("a == 1.2.3", 6, "not a number"),
    ("a == -", 7, "expected a field or a value"), ("7d < a", 1, "after + or -"),
    ("a == 'x' - 1", 6, "cannot be calculated"), ("a > 1 / 0", 5, "cannot be calculated"),
    ("a == (b == 1)", 6, "expected a field or a value"), ("(a > 1) + 1 == 2", 9, "expected AND"),
    ("a + (b > 1) == 1", 5, "expected a field or a value"), ("a == now(1)", 10, "')'"),
    ("a == 18446744073709551616", 6, "64 bits"), ("a == 1e999", 6, "not a number"),
    ("a == 0xg", 6, "not a number"),
    ("a LIKE b", 8, "a pattern in quotes"), ("a LIKE 5", 8, "a pattern in quotes"),
    ("a MATCHES '('", 11, "not a regular expression"), ("a MATCHES 'a)|(b'", 11, "not a regular expression"),
    ("a MATCHES[cd] '['", 15, "not a regular expression"), ("a MATCHES {'a'}", 11, "a pattern in quotes"),
    ("a BETWEEN 1", 11, "two bounds: {low, high}"), ("a BETWEEN {1}", 11, "two bounds"),
    ("a BETWEEN 1 AND 2", 11, "two bounds"), ("a BETWEEN {1, 2, 3}", 11, "two bounds"),
    ("a IN 5", 6, "a list {…}"), ("a IN (1, 2)", 6, "a list {…}, not (…)"),
    ("a IN {1, 2", 11, "',' or '}'"),
    ("a IN {1 2}", 9, "',' or '}'"), ("a IN {1,}", 9, "expected a field or a value"),
    ("a IN NULL", 6, "a list"),
    ("a BEGINSWITH 5", 14, "text or a field"), ("a ENDSWITH {1}", 12, "text or a field"),
    ("a ==[x] 'a'", 6, "the modifiers are"), ("a ==[c 'a'", 8, "expected ']'"),
    ("a ==[] 'a'", 6, "the modifiers"),
    ("a.b. == 1", 6, "the name of a field"), ("a.@sum == 1", 4, "'count'"),
    ("a[-1] == 1", 3, "from 0, FIRST or LAST"),
    ("a[x] == 1", 3, "from 0"), ("a[1 == 1", 5, "expected ']'"), ("a[1.0] == 1", 3, "from 0"),
    (".a == 1", 1, "expected"),
    ("# == 1", 1, "after '#'"), ("a == FOO('x')", 6, "no function FOO"),
    ("a == CAST('x', 'NSDate')", 6, "DATE, DATA"),
    ("a == DATE('soon')", 11, "a date in quotes"), ("a == DATE(5)", 11, "a date in quotes"),
    ("a == DATA('?')", 11, "base64"), ("a == REAL('x')", 11, "a number in quotes"),
    ("a == DATE('2026-01-01'", 23, "')'"),
    ("ANY 'x' == 1", 5, "a field or a list"), ("none == 1", 6, "for a field of this name, write #none"),
    ("in == 1", 1, "write #in"), ("a == %d", 6, "%@ for a value or %K"), ("a == %", 6, "%@ for a value"),
    ("a == %@", 6, "no argument for this %@"), ("%K == 1", 1, "no argument for this %K"),
    ("é == ü ü", 8, "expected AND"),
    ("e\u{301} == \u{1F468}\u{200D}\u{1F469} x", 6, "no '\u{1F468}\u{200D}\u{1F469}' here"),
    ("a == 1 & b == 1", 8, "no '&'"),
  ]

  @Test func syntaxErrorsShowTheirColumn() throws {
    for (text, column, words) in Self.errors {
      let error = storeError { _ = try RecordPredicate(text) }
      #expect(error?.code == .invalidPredicate, "\(text)")
      #expect(error?.column == column, "\(text): \(error?.description ?? "no error")")
      #expect(error?.line == nil)
      #expect(error?.message.contains(words) == true, "\(text): \(error?.description ?? "no error")")
      let lines = (error?.excerpt ?? "").split(separator: "\n").map(String.init)
      #expect(lines.first == "  " + text)
      #expect(lines.last == String(repeating: " ", count: column + 1) + "^", "\(text)")
    }
  }

  @Test func argumentErrorsShowTheirColumn() {
    let place = { (text: String, arguments: [(any Encodable)?]) in
      storeError { _ = try RecordPredicate(text, arguments: arguments) }.map {
        "\($0.column ?? 0) \($0.message)"
      } ?? ""
    }
    #expect(place("a == %@", [1, 2]).hasPrefix("8 there are more arguments"))
    #expect(place("%K == 1", [5]).hasPrefix("1 the argument of %K is a String"))
    #expect(place("%K == 1", [nil]).hasPrefix("1 the argument of %K is a String"))
    #expect(place("a == %@", [["k": 1]]).hasPrefix("6 the argument for this %@ cannot be compared"))
    #expect(place("a == %@", [Date.distantFuture.addingTimeInterval(1e12)]).hasPrefix("6 the argument"))
    #expect(place("a == %@", [[1, nil]]).hasPrefix("6 a record cannot hold"))
    let named = { (text: String, arguments: [String: (any Encodable)?]) in
      storeError { _ = try RecordPredicate(text, arguments: arguments) }.map {
        "\($0.column ?? 0) \($0.message)"
      } ?? ""
    }
    #expect(named("a == $x AND $x != $y", ["x": 1]).hasPrefix("19 there is no argument 'y'"))
    #expect(
      named("a == $x", ["x": 1, "y": 2])
        == "0 the argument 'y' is not used: the predicate does not contain $y")
    #expect(named("a == $x", ["x": ["k": 1]]).hasPrefix("6 the argument for this $x cannot be compared"))
    #expect(named("a == %@", ["x": 1]).hasPrefix("6 there is no argument for this %@"))
    #expect(place("a IN %@", [5]).hasPrefix("6 expected a list"))
    #expect(place("a BETWEEN %@", [[1]]).hasPrefix("11 expected two bounds"))
    #expect(place("a MATCHES %@", ["("]).hasPrefix("11 this is not a regular expression"))
  }

  @Test func errorShowsItsLineAndAnExcerpt() throws {
    let long = String(repeating: "kcal == 1 OR ", count: 20)
    let error = try #require(storeError { _ = try RecordPredicate("a == 1\n\tAND b = = 2\nAND c == 3") })
    #expect(error.line == 2 && error.column == 10)
    #expect(
      error.description
        == "line 2, column 10: expected a field or a value\n   AND b = = 2\n           ^")
    let page = packageRoot.appendingPathComponent("Sources/FileDB/FileDB.docc/Queries.md")
    let shown = try #require(storeError { _ = try RecordPredicate("kcal > 5 AND name NOT IN {'Salt'}") })
    #expect(try String(contentsOf: page, encoding: .utf8).contains("```\n\(shown)\n```"))
    let cut = try #require(storeError { _ = try RecordPredicate(long + "? " + long) })
    #expect(cut.column == 261)
    let lines = cut.excerpt?.split(separator: "\n") ?? []
    #expect(lines[0].hasPrefix("  …") && lines[0].hasSuffix("…") && lines[0].count < 80)
    #expect(lines[0].dropFirst(lines[1].count - 1).first == "?")
  }
}
