import FileDB
import Foundation
import Synchronization
import TestSupport
import Testing

/// What is no predicate, and where it stops being one.
@Suite struct PredicateErrorTests {
  /// The text, the column of its error, and words of the message.
  private static let errors: [(text: String, column: Int, words: String)] = [
    ("", 1, "expected a field or a value"), ("   ", 4, "expected a field or a value"),
    ("kcal", 5, "expected a comparison"), ("kcal >", 7, "expected a field or a value"),
    ("kcal > AND", 8, "AND is a word of the language; write #AND"),
    ("kcal > 1 2", 10, "expected AND, OR or the end"),
    ("kcal ! 1", 6, "expected a comparison"), ("kcal NOT IN {1}", 6, "NOT comes before"),
    ("kcal IS NULL", 6, "expected a comparison"), ("1 == 1 AND", 11, "expected a field"),
    ("(a == 1", 8, "')'"), ("a == 1)", 7, "expected AND"), ("(a == 1 b", 9, "')'"),
    ("()", 2, "expected a field"),
    ("NOT", 4, "expected a field"), ("a == 'x", 6, "never closed"), ("a == \"x'", 6, "never closed"),
    ("a == 'x\\d'", 8, "'\\d' means nothing; write '\\\\d'"), ("a == 'x\\", 8, "missing behind"),
    ("a == '\\u41'", 7, "a character's number"), ("a == '\\u{d800}'", 7, "a character's number"),
    ("a == '\\u{110000}'", 7, "a character's number"), ("a == '\\u{}'", 7, "a character's number"),
    ("a == '\\u{41'", 7, "a character's number"), ("a == $x", 6, "no '$' here"),
    ("first-name == 1", 6, "in the name of a field, write #\"…\""),
    ("a == 12ab", 6, "'12ab' is no number"), ("a == 1.2.3", 6, "no number"),
    ("a == -", 6, "no '-' here"),
    ("a == 18446744073709551616", 6, "64 bits"), ("a == 1e999", 6, "no number"), ("a == 0xg", 6, "no number"),
    ("a LIKE b", 8, "a pattern in quotes"), ("a LIKE 5", 8, "a pattern in quotes"),
    ("a MATCHES '('", 11, "no regular expression"), ("a MATCHES 'a)|(b'", 11, "no regular expression"),
    ("a MATCHES[cd] '['", 15, "no regular expression"), ("a MATCHES {'a'}", 11, "a pattern in quotes"),
    ("a BETWEEN 1", 11, "two bounds: {low, high}"), ("a BETWEEN {1}", 11, "two bounds"),
    ("a BETWEEN 1 AND 2", 11, "two bounds"), ("a BETWEEN {1, 2, 3}", 11, "two bounds"),
    ("a IN 5", 6, "a list {…}"), ("a IN (1, 2)", 6, "expected a field or a value"),
    ("a IN {1, 2", 11, "',' or '}'"),
    ("a IN {1 2}", 9, "',' or '}'"), ("a IN {1,}", 9, "expected a field or a value"),
    ("a IN NULL", 6, "a list"),
    ("a BEGINSWITH 5", 14, "a text or a field"), ("a ENDSWITH {1}", 12, "a text or a field"),
    ("a ==[x] 'a'", 6, "the modifiers are"), ("a ==[c 'a'", 8, "expected ']'"),
    ("a ==[] 'a'", 6, "the modifiers"),
    ("a.b. == 1", 6, "the name of a field"), ("a.@sum == 1", 4, "'count'"),
    ("a[-1] == 1", 3, "from 0, FIRST or LAST"),
    ("a[x] == 1", 3, "from 0"), ("a[1 == 1", 5, "expected ']'"), ("a[1.0] == 1", 3, "from 0"),
    (".a == 1", 1, "expected"),
    ("# == 1", 1, "behind '#'"), ("a == FOO('x')", 6, "no function FOO"),
    ("a == CAST('x', 'NSDate')", 6, "DATE, DATA"),
    ("a == DATE('soon')", 11, "a date in quotes"), ("a == DATE(5)", 11, "a date in quotes"),
    ("a == DATA('?')", 11, "base64"), ("a == REAL('x')", 11, "a number in quotes"),
    ("a == DATE('2026-01-01'", 23, "')'"),
    ("ANY 'x' == 1", 5, "a field or a list"), ("none == 1", 6, "the field of this name is #none"),
    ("in == 1", 1, "write #in"), ("a == %d", 6, "%@ for a value or %K"), ("a == %", 6, "%@ for a value"),
    ("a == %@", 6, "no argument for this %@"), ("%K == 1", 1, "no argument for this %K"),
    ("é == ü ü", 8, "expected AND"),
    ("e\u{301} == \u{1F468}\u{200D}\u{1F469} x", 6, "no '\u{1F468}\u{200D}\u{1F469}' here"),
    ("a == 1 & b == 1", 8, "no '&'"),
  ]

  @Test func everyErrorHasItsColumn() throws {
    for (text, column, words) in Self.errors {
      let error = storeError { _ = try RecordPredicate(text) }
      #expect(error?.code == StoreError.invalidPredicate, "\(text)")
      #expect(error?.column == column, "\(text): \(error?.description ?? "no error")")
      #expect(error?.line == nil)
      #expect(error?.message.contains(words) == true, "\(text): \(error?.description ?? "no error")")
      let lines = (error?.excerpt ?? "").split(separator: "\n").map(String.init)
      #expect(lines.first == "  " + text)
      #expect(lines.last == String(repeating: " ", count: column + 1) + "^", "\(text)")
    }
  }

  @Test func errorsOfArguments() {
    let place = { (text: String, arguments: [(any Encodable)?]) in
      storeError { _ = try RecordPredicate(text, arguments: arguments) }.map {
        "\($0.column ?? 0) \($0.message)"
      } ?? ""
    }
    #expect(place("a == %@", [1, 2]).hasPrefix("8 there are more arguments"))
    #expect(place("%K == 1", [5]).hasPrefix("1 the argument of %K is a String"))
    #expect(place("%K == 1", [nil]).hasPrefix("1 the argument of %K is a String"))
    #expect(place("a == %@", [["k": 1]]).hasPrefix("6 the argument for this %@ is no value"))
    #expect(place("a == %@", [Date.distantFuture.addingTimeInterval(1e12)]).hasPrefix("6 the argument"))
    #expect(place("a == %@", [[1, nil]]).hasPrefix("6 a record cannot hold"))
    #expect(place("a IN %@", [5]).hasPrefix("6 expected a list"))
    #expect(place("a BETWEEN %@", [[1]]).hasPrefix("11 expected two bounds"))
    #expect(place("a MATCHES %@", ["("]).hasPrefix("11 this is no regular expression"))
  }

  @Test func anErrorShowsItsLine() throws {
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

/// Texts that are made to hurt.
@Suite struct HostilePredicateTests {
  private func refusal(_ text: String) -> String? { storeError { _ = try RecordPredicate(text) }?.message }

  /// Runs `body` on a thread with the stack that Apple's systems give to all but the first.
  private func onASmallStack(_ body: @escaping @Sendable () throws -> Void) throws {
    let result = Mutex<Result<Void, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      let outcome = Result { try body() }
      result.withLock { $0 = outcome }
      done.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    done.wait()
    try result.withLock { $0 }?.get()
  }

  @Test func depthIsLimited() throws {
    for (open, close) in [("(", ")"), ("NOT ", ""), ("!", ""), ("NOT(", ")"), ("TRUEPREDICATE AND (", ")")] {
      for depth in [101, 10_000] {
        let text =
          String(repeating: open, count: depth) + "a == 1" + String(repeating: close, count: depth)
        #expect(refusal(text)?.contains("more than 100 levels") == true, "\(open)")
      }
      let text = String(repeating: open, count: 49) + "a == 1" + String(repeating: close, count: 49)
      let predicate = try RecordPredicate(text)
      #expect(try RecordPredicate(predicate.description) == predicate)
    }
    try onASmallStack {
      let text = String(repeating: "NOT (", count: 48) + "a IN {{1}}" + String(repeating: ")", count: 48)
      let predicate = try RecordPredicate(text)
      #expect(try RecordPredicate(predicate.description) == predicate)
      let rows = try RecordStore.inMemory().table("t")
      try rows.add(["a": 1])
      #expect(rows.snapshot.count(where: predicate) == 0)
    }
    #expect(refusal("a IN " + String(repeating: "{", count: 100_000))?.contains("levels") == true)
    var value = PlistValue.array([])
    for _ in 0..<200 { value = .array([value]) }
    #expect(storeError { _ = try RecordPredicate("a == %@", value) }?.code == StoreError.invalidPredicate)
  }

  @Test func lengthIsLimitedAndUpToThereHarmless() throws {
    let limit = 1 << 20
    #expect(refusal(String(repeating: " ", count: limit + 1))?.contains("at most 1048576 bytes") == true)
    let units = [
      " ", "(", ")", "'", "\"", "\\", "a", "a ", "a.", "a[", "{", "{a,", "1", "-", "%", "%@", "#", "NOT ",
      "== ", "\\u{",
      "a == 1 AND ", "a == '\\u{", "\u{301}", "é", "\u{0}", "\n", "ANY ", "1e", "!", "@", "a LIKE '*",
      "a MATCHES '(",
    ]
    for unit in units {
      let text = String(repeating: unit, count: limit / 8 / unit.utf8.count)
      #expect(refusal(text).map { $0.count < 200 } == true, "\(unit)")
      #expect(refusal("a == 1 OR a == '" + text).map { $0.count < 200 } == true, "\(unit)")
    }
    #expect(refusal(String(repeating: "a == 1 AND ", count: limit / 11)) == "expected a field or a value")
  }

  @Test func manyTermsAreFine() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(["a": 19_999])
      let chain = (0..<20_000).map { "a == \($0)" }.joined(separator: " OR ")
      #expect(table.snapshot.count(where: try RecordPredicate(chain)) == 1)
      let list = "a IN {" + (0..<20_000).map(String.init).joined(separator: ",") + "}"
      let predicate = try RecordPredicate(list)
      #expect(table.snapshot.count(where: predicate) == 1)
      #expect(try RecordPredicate(predicate.description) == predicate)
    }
  }

  /// Any text at all is read or refused.
  @Test func randomTextsAreReadOrRefused() throws {
    var random = SeededRandom.fromEnvironment("randomTextsAreReadOrRefused")
    let parts = [
      "a", "id", "#", "'", "\"", "\\", "u{", "}", "{", "(", ")", "[", "]", "c", "cd", ",", ".", "@count", "@",
      "%@", "%K",
      "==", "=", "<", ">", "!", "&&", "||", "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "MATCHES",
      "CONTAINS", "ANY",
      "1", "-", "2.5", "0x", "e", "TRUE", "NULL", "DATE", "\n", "\u{0}", "é", "\u{301}", "\u{1F600}",
    ]
    var read = 0
    for _ in 0..<20_000 {
      let count = Int.random(in: 1...9, using: &random)
      let text = (0..<count).map { _ in parts.randomElement(using: &random)! }
        .joined(separator: Bool.random(using: &random) ? " " : "")
      do {
        let predicate = try RecordPredicate(text, arguments: [])
        read += 1
        #expect(try RecordPredicate(predicate.description) == predicate, "\(text)")
      } catch let error as StoreError {
        #expect(error.code == StoreError.invalidPredicate && error.column != nil, "\(text)")
      }
    }
    #expect(read > 0)
  }

  @Test func aPatternThatGrowsWithoutBoundGivesUp() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(["a": .string(String(repeating: "ab", count: 100_000))])
      let predicate = try RecordPredicate("a MATCHES '(?:a|b)*c'")
      #expect(table.snapshot.count(where: predicate) == 0)
      let like = try RecordPredicate("a LIKE '*a*a*a*a*a*a*a*a*a*a*a*a*c'")
      #expect(table.snapshot.count(where: like) == 0)
    }
  }
}
