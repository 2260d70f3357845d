import FileDBEssentials
import FileDBPlist

/// A calculation in a predicate, carried out from left to right: `kcal * 2`, `due + 7d`.
struct PredicateCalculation: Equatable, Sendable {
  enum Operator: String {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
  }

  enum Step: Equatable, Sendable {
    case with(Operator, PredicateOperand)
    /// Adds a span of time to a date.
    case shift(PredicateSpan)
  }

  let first: PredicateOperand
  let steps: [Step]

  var operands: [PredicateOperand] {
    [first] + steps.compactMap { if case .with(_, let operand) = $0 { operand } else { nil } }
  }

  /// - Returns: `nil` if a field is missing, or the result is not a value.
  func value(of record: PredicateRecord?) -> PlistValue? {
    var result = first.term(of: record).plainValue
    for step in steps {
      guard let left = result else { return nil }
      switch step {
      case .with(let sign, let operand):
        result = operand.term(of: record).plainValue.flatMap { Self.value(left, sign, $0) }
      case .shift(let span): result = left.date.flatMap(span.added(to:)).map(PlistValue.date)
      }
    }
    return result
  }

  private static func value(_ left: PlistValue, _ sign: Operator, _ right: PlistValue) -> PlistValue? {
    if sign == .add, left.string != nil || right.string != nil {
      guard let left = left.joinedText, let right = right.joinedText else { return nil }
      return .string(left + right)
    }
    if let left = left.wholeNumber, let right = right.wholeNumber {
      if sign != .divide { return PlistValue(whole: value(left, sign, right)) }
      if right != 0, left % right == 0 { return PlistValue(whole: left / right) }
    }
    guard let left = left.anyReal, let right = right.anyReal else { return nil }
    let result: Double
    switch sign {
    case .add: result = left + right
    case .subtract: result = left - right
    case .multiply: result = left * right
    case .divide:
      guard right != 0 else { return nil }
      result = left / right
    }
    return result.isNaN ? nil : .real(result)
  }

  /// `nil` if the result does not fit into an integer of a record.
  private static func value(_ left: Int128, _ sign: Operator, _ right: Int128) -> Int128? {
    let (result, isWrong) =
      switch sign {
      case .add: left.addingReportingOverflow(right)
      case .subtract: left.subtractingReportingOverflow(right)
      case .multiply, .divide: left.multipliedReportingOverflow(by: right)
      }
    return isWrong ? nil : result
  }
}

extension PredicateTerm {
  var plainValue: PlistValue? {
    if case .value(let value) = self { value.value } else { nil }
  }
}

extension PlistValue {
  init?(whole number: Int128?) {
    guard let number else { return nil }
    if let number = Int64(exactly: number) {
      self = .integer(number)
    } else if let number = UInt64(exactly: number) {
      self = PlistValue(number)
    } else {
      return nil
    }
  }

  var wholeNumber: Int128? {
    switch self {
    case .integer(let number): Int128(number)
    case .unsigned(let number): Int128(number)
    default: nil
    }
  }

  var anyReal: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .unsigned(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }

  /// The value as part of a joined text.
  fileprivate var joinedText: String? {
    switch self {
    case .string(let text): text
    case .integer, .unsigned: description
    case .real(let number): PlistWriter.text(number)
    default: nil
    }
  }
}

extension PredicateCalculation: CustomStringConvertible {
  var description: String {
    ([Self.part(first)] + steps.map(Self.text)).joined(separator: " ")
  }

  private static func text(_ step: Step) -> String {
    switch step {
    case .with(let sign, let operand): "\(sign.rawValue) \(part(operand))"
    case .shift(let span): span.isBackwards ? "- \(span.negated)" : "+ \(span)"
    }
  }

  private static func part(_ operand: PredicateOperand) -> String {
    if case .calculation = operand { "(\(operand))" } else { "\(operand)" }
  }
}

/// A span of time: `30min`, `12h`, `7d`, `2w`, `3m` (months), `1y`.
struct PredicateSpan: Equatable, Sendable {
  private let months: Int
  private let seconds: Int

  private init(months: Int, seconds: Int) { (self.months, self.seconds) = (months, seconds) }

  /// - Returns: `nil` unless the text consists of digits and a unit.
  init?(_ text: String) {
    let digits = text.prefix { ("0"..."9").contains($0) }
    guard let count = Int(digits), count < 1_000_000_000 else { return nil }
    switch text.dropFirst(digits.count) {
    case "min": self.init(months: 0, seconds: count * 60)
    case "h": self.init(months: 0, seconds: count * 3_600)
    case "d": self.init(months: 0, seconds: count * 86_400)
    case "w": self.init(months: 0, seconds: count * 7 * 86_400)
    case "m": self.init(months: count, seconds: 0)
    case "y": self.init(months: count * 12, seconds: 0)
    default: return nil
    }
  }

  var negated: PredicateSpan { PredicateSpan(months: -months, seconds: -seconds) }
  var isBackwards: Bool { months < 0 || seconds < 0 }

  /// - Returns: `nil` if four digits cannot name the year.
  func added(to date: Date) -> Date? {
    PlistDate.adding(months: months, to: date)
      .flatMap { PlistDate.wholeSecond($0.addingTimeInterval(Double(seconds))) }
  }
}

extension PredicateSpan: CustomStringConvertible {
  var description: String {
    if months != 0 { return "\(months)m" }
    if seconds % 86_400 == 0 { return "\(seconds / 86_400)d" }
    return seconds % 3_600 == 0 ? "\(seconds / 3_600)h" : "\(seconds / 60)min"
  }
}

/// The values of `now` and `today`, from the moment at which a predicate is parsed.
enum PredicateClock {
  static var now: Date {
    PlistDate.wholeSecond(Date()) ?? Date(timeIntervalSince1970: 0)
  }

  /// The present day of the user's calendar, as the date that is written `2026-01-31`. So `due == today` finds records
  /// with that day in any time zone.
  static var today: Date {
    var seconds = time(nil)
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return now }
    return PlistDate.date(
      year: Int(parts.tm_year) + 1_900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday))
  }
}
