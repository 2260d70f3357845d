import FileDB
import Foundation

/// Foundation's rules for text. FileDB finds them by the name of this type. The type is visible outside the module
/// although no code names it: otherwise, the optimizer would remove it.
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

  /// The number of steps that ICU makes between two reports of its progress.
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
      // If its stack is full, ICU ends by itself without a match.
      isLimited = reports > limit || flags.contains(.internalError)
      if isMatch || isLimited { stop.pointee = true }
    }
    return isMatch ? .found : (isLimited ? .tooManySteps : .missing)
  }
}
