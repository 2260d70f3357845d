import FileDB
import Foundation

/// Foundation's rules for text, which FileDB finds by this type's name. It is visible outside, although nobody names it:
/// the optimizer would leave it out otherwise.
package enum FoundationRules: LanguageRules {
  package static func compare(_ left: String, _ right: String) -> Int {
    left.localizedStandardCompare(right).rawValue
  }

  package static func expression(_ pattern: String, ignoringCase: Bool) throws -> any TextExpression {
    FoundationExpression(
      expression: try NSRegularExpression(pattern: pattern, options: ignoringCase ? .caseInsensitive : []))
  }
}

private struct FoundationExpression: TextExpression {
  let expression: NSRegularExpression

  /// How many steps ICU makes from one report of its progress to the next.
  private static let stepsInReport = 10_000

  func search(_ text: String, steps: Int) -> TextSearchOutcome {
    let limit = steps / Self.stepsInReport
    var (isMatch, isLimited, reports) = (false, false, 0)
    expression.enumerateMatches(
      in: text, options: [.reportProgress, .reportCompletion],
      range: NSRange(location: 0, length: text.utf16.count)
    ) { match, flags, stop in
      if flags.contains(.progress) { reports += 1 }
      isMatch = match != nil
      // ICU ends by itself, without a match, where its stack is full.
      isLimited = reports > limit || flags.contains(.internalError)
      if isMatch || isLimited { stop.pointee = true }
    }
    return isMatch ? .found : (isLimited ? .tooManySteps : .missing)
  }
}
