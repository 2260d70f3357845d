import FileDB
import TestSupport
import Testing

/// A predicate as text is read as the same predicate.
@Suite struct PredicateDescriptionTests {
  private static let operands = [
    "n", "id", "#id", "#\"a b\"", "o.k", "l[0]", "l[LAST].k", "l.@count", "1", "-1", "1.5", "-0.0", "'text'",
    "'a\\u{0}\\\\\"'", "TRUE", "NULL", "REAL('nan')", "DATE('2026-01-31')", "DATA('AAE=')", "today", "{}",
    "{1, 'x', {NULL}}", "{n, 2}", "n + 1", "n - -1", "-n", "- -n", "-(n + 1)", "(n + 1) * 2", "3 / n - -o.k",
    "n * (2 + l[0])", "d + 7d", "d - 2m - 1y", "'a' + n", "n + 'a' + 'b'", "(n)", "((n + 1))",
  ]
  private static let comparators = [
    "==", "!=", "<", ">=", "IN", "CONTAINS", "BEGINSWITH[c]", "ENDSWITH[cd]", "LIKE[d]", "MATCHES", "BETWEEN",
    "IS", "IS NOT",
  ]

  /// Each operand stands on each side after each start, but not with each other operand, unless everything is tried.
  @Test(arguments: comparators) func textOfEveryComparisonIsReadAsTheSame(comparator: String) throws {
    var count = 0
    for (number, left) in Self.operands.enumerated() {
      for (other, right) in (Self.operands + ["{\(left), n}"]).enumerated() {
        let starts = ["", "ANY ", "NOT "]
        for start in TestLength.isFull ? starts : [starts[(number + other) % 3]] {
          let text = "\(start)\(left) \(comparator) \(right)"
          guard let predicate = try? RecordPredicate(text) else { continue }
          count += 1
          let again = try? RecordPredicate(predicate.description)
          #expect(again == predicate && again?.description == predicate.description, "\(text): \(predicate)")
        }
      }
    }
    #expect(count > (TestLength.isFull ? 60 : 20))
  }

  /// In SQL, a list is in parentheses.
  @Test(arguments: ["(1, 2)", "('a')", "(n)", "('a' + 'b')", "(1 + 2)", "()", "("])
  func listInParenthesesIsRefused(list: String) {
    let error = storeError { _ = try RecordPredicate("n IN \(list)") }
    #expect(error?.message == "expected a list {…}, not (…)" && error?.column == 6)
  }
}
