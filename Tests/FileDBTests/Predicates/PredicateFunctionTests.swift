import FileDB
import Foundation
import TestSupport
import Testing

/// The functions of expressions, by examples.
@Suite struct PredicateFunctionTests {
  private static let record: Fields = [
    "name": " Crème  ", "plain": "STRASSE", "kcal": 717, "fat": 2.567, "half": -2.5, "tags": ["a", "b"],
    "due": .date(Date(timeIntervalSince1970: 1_767_225_600)),  // 2026-01-01
    "seen": .date(Date(timeIntervalSince1970: 1_767_225_600 + 36 * 3_600)), "length": 9, "blank": "   ",
    "address": ["city": "Ulm"], "infinite": .real(.infinity), "nan": .real(.nan), "big": .unsigned(.max),
  ]

  private static let truths = [
    "length(name) = 8", "LENGTH(trimmed(name)) = 5", "length(tags) = 2", "length(address) = 1",
    "length(tags) + 1 = 3",
    "length(kcal) = NULL", "length(nothing) = NULL", "length('e\u{301}') = 1", "length = 9",
    "lowercase(plain) = 'strasse'", "uppercase('straße') = 'STRASSE'", "uppercase(name) CONTAINS 'È'",
    "trimmed(name) = 'Crème'", "trimmed(blank) = ''", "trimmed('\\t\\u{A0}x y\\n') = 'x y'",
    "replace(plain, 'S', 'Z') = 'ZTRAZZE'", "replace(plain, '', 'x') = plain",
    "replace('aaa', 'aa', 'b') = 'ba'",
    "replace(kcal, '7', '8') = NULL", "replace(trimmed(name), 'è', 'e') = 'Creme'",
    "round(fat) = 3", "round(fat, 1) = 2.6", "round(fat, 0) = 3.0", "round(half) = -3", "round(kcal) = 717",
    "round(kcal, 2) = 717", "round(plain) = NULL", "round(fat, 99) = NULL", "round(infinite) = NULL",
    "round(nan) = NULL", "round(big) = big", "round(1e300) = 1e300", "round(2.5) = 3", "round(fat * 2) = 5",
    "days(due, seen) = 1", "days(seen, due) = -2", "days(due, due) = 0", "days(due, '2026-02-01') = 31",
    "days('2025-12-31', due) = 1", "days(due, kcal) = NULL", "days(due, 'soon') = NULL",
    "days(due, seen + 1w) = 8",
    "days(seen - 1d, today) > 0", "lowercase(plain) IN {'strasse', 'x'}", "lowercase(plain) BEGINSWITH 'str'",
    "plain ==[c] lowercase(plain)", "'tras' IN lowercase(plain)", "NOT length(name) < 8", "true", "NOT false",
    "true AND length(name) = 8", "FALSE OR TRUE", "(true)", "YES", "NOT no",
  ]

  @Test(arguments: truths) func isTrue(text: String) throws {
    try withStore { store in
      let table = try store.table("t")
      let id = try table.add(Self.record)
      let predicate = try RecordPredicate(text)
      #expect(try predicate.matches(table.lastSnapshot.record(with: id)))
      #expect(try table.lastSnapshot.records(where: predicate).count == 1)
      #expect(try RecordPredicate(predicate.description) == predicate, "\(predicate)")
      #expect(try !RecordPredicate("NOT (\(text))").matches(table.lastSnapshot.record(with: id)))
    }
  }

  @Test func wrongCallsAreErrorsWithPlace() throws {
    let cases: [(String, words: String, column: Int)] = [
      ("length() = 1", "expected a field or a value", 8), ("length(a, b) = 1", "write length(text)", 1),
      ("replace(a, 'x') = 1", "write replace(text, 'old', 'new')", 1),
      ("round(a, 1, 2) = 1", "write round(number)", 1),
      ("days(a) = 1", "write days(from, to)", 1), ("length(a = 1", "expected ',' or ')'", 10),
      ("lower(a) = 'x'", "did you mean lowercase?", 1), ("trim(a) = 'x'", "did you mean trimmed?", 1),
      ("lenght(a) = 1", "did you mean length?", 1),
      (
        "foo(a) = 1", "the functions are length, lowercase, uppercase, trimmed, replace, round, days, DATE", 1
      ),
      ("a.length(b) = 1", "no function", 1), ("length(1) = 1", "this cannot be calculated", 1),
      ("round('x') = 1", "this cannot be calculated", 1), ("length(a)", "expected a comparison", 10),
      ("1", "expected a comparison", 2), ("NULL", "expected a comparison", 5),
    ]
    for (text, words, column) in cases {
      let error = try #require(storeError { _ = try RecordPredicate(text) }, "\(text)")
      #expect(error.code == .invalidPredicate && error.message.contains(words), "\(text): \(error)")
      #expect(error.column == column, "\(text): \(error)")
    }
  }

  @Test func randomCallsAgreeWithPlainSwift() throws {
    var random = SeededRandom.fromEnvironment("randomCallsAgreeWithPlainSwift")
    let letters = ["a", "b", "ab", "é", "e\u{301}", " ", "\t", "\u{A0}", "😀", "A"]
    func text() -> String {
      (0..<Int.random(in: 0...6, using: &random)).map { _ in letters.randomElement(using: &random)! }.joined()
    }
    func date() -> Date {
      Date(timeIntervalSince1970: Double(Int.random(in: -9_000_000...9_000_000, using: &random)))
    }
    for _ in 0..<500 {
      let (whole, old, new, number) = (
        text(), text(), text(), Int.random(in: -100_000...100_000, using: &random)
      )
      let (from, to) = (date(), date())
      let record: Fields = [
        "t": .string(whole), "o": .string(old), "w": .string(new), "n": .real(Double(number) / 64),
        "from": .date(from), "to": .date(to),
      ]
      // A search for scalars, one after another. Foundation's also skips over characters that belong together.
      var (rest, replaced) = (Array(whole.unicodeScalars)[...], String.UnicodeScalarView())
      while let scalar = rest.first {
        if !old.isEmpty, rest.starts(with: old.unicodeScalars) {
          replaced.append(contentsOf: new.unicodeScalars)
          rest = rest.dropFirst(old.unicodeScalars.count)
        } else {
          replaced.append(scalar)
          rest = rest.dropFirst()
        }
      }
      let space = CharacterSet.whitespacesAndNewlines
      let distance = Int(to.timeIntervalSince(from))
      let days = distance >= 0 ? distance / 86_400 : -((-distance + 86_399) / 86_400)
      let predicate = try RecordPredicate(
        """
        replace(t, o, w) == $replaced AND trimmed(t) == $trimmed AND length(t) == $length AND round(n) == $rounded \
        AND days(from, to) == $days AND lowercase(t) == $lower
        """,
        arguments: [
          "replaced": String(replaced), "trimmed": whole.trimmingCharacters(in: space), "length": whole.count,
          "rounded": (Double(number) / 64).rounded(), "days": days, "lower": whole.lowercased(),
        ])
      try withStore { store in
        let table = try store.table("t")
        try table.add(record)
        #expect(try table.lastSnapshot.records(where: predicate).count == 1, "\(record) \(predicate)")
      }
    }
  }

  @Test func deepCallsAreRefused() {
    let deep = String(repeating: "trimmed(", count: 200) + "a" + String(repeating: ")", count: 200) + " = 'x'"
    #expect(storeError { _ = try RecordPredicate(deep) }?.message.contains("levels") == true)
  }

  @Test func fieldsOfCallsAreKnown() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(Self.record)
      let predicate = try RecordPredicate("length(nmae) > 1 OR days(due, dew) > 1")
      #expect(try predicate.unknownFields(in: table.snapshot()).map(\.name) == ["nmae", "dew"])
    }
  }

  @Test(arguments: [
    "due < 2026-02-05", "due >= 2026-02", "due < 2026-02-05T12:00:00Z", "due = 2026-02-05 AND a = 1",
    "days(2026-02-05, due) = 1", "due IN {2026-02-05}",
  ])
  func dateWithoutQuotesSaysHowToWriteIt(text: String) throws {
    let error = try #require(storeError { _ = try RecordPredicate(text) })
    #expect(error.message.hasPrefix("a date needs quotes: write '2026-02"), "\(error)")
    #expect(error.excerpt?.contains("^") == true)
  }

  @Test(arguments: [
    "kcal = 2026 - 02 - 05", "kcal = 2026-2", "kcal = 20260-205", "kcal = 2026 -02", "kcal = 2026-13-01",
  ])
  func subtractionStaysOne(text: String) throws { _ = try RecordPredicate(text) }
}
