import FileDBEssentials
import FileDBPlist

/// A parsed predicate. The parser limits its depth.
indirect enum PredicateNode: Equatable, Sendable {
  case constant(Bool)
  case comparison(PredicateComparison)
  case not(PredicateNode)
  case and([PredicateNode])
  case or([PredicateNode])
}

/// The content of parentheses, until the next token shows whether it is a condition or a value.
enum PredicatePart: Sendable {
  case node(PredicateNode)
  case operand(PredicateOperand)
}

/// `left comparator right`, as in `kcal > 100`.
struct PredicateComparison: Sendable {
  enum Quantifier: String {
    case any = "ANY"
    case all = "ALL"
    case none = "NONE"
  }

  let quantifier: Quantifier?
  let left: PredicateOperand
  let comparator: PredicateComparator
  /// For `BETWEEN`, a list of the two bounds; for a field by itself, nothing.
  let right: PredicateOperand
  let folding: TextFolding
  /// What `MATCHES` compares with.
  let pattern: MatchPattern?
  /// The test if it needs nothing of a record but the left side: made once for all records.
  let constantTest: CellTest?

  init(
    quantifier: Quantifier?, left: PredicateOperand, _ comparator: PredicateComparator,
    right: PredicateOperand, folding: TextFolding, pattern: MatchPattern? = nil
  ) {
    (self.quantifier, self.left, self.comparator, self.right) = (quantifier, left, comparator, right)
    (self.folding, self.pattern) = (folding, pattern)
    constantTest = pattern == nil ? right.term.map { CellTest(comparator, $0, folding) } : nil
  }
}

extension PredicateComparison: Equatable {
  static func == (left: Self, right: Self) -> Bool {
    left.quantifier == right.quantifier && left.left == right.left && left.comparator == right.comparator
      && left.right == right.right && left.folding == right.folding
  }
}

indirect enum PredicateOperand: Equatable, Sendable {
  case constant(PredicateTerm)
  case path(PredicatePath)
  /// A list that contains a path.
  case list([PredicateOperand])
  case calculation(PredicateCalculation)
  case call(PredicateCall)

  /// The operands that it consists of.
  var parts: [PredicateOperand] {
    switch self {
    case .constant, .path: []
    case .list(let operands): operands
    case .calculation(let calculation): calculation.operands
    case .call(let call): call.arguments
    }
  }

  /// The operand with its strings folded, once for all records.
  func folded(_ folding: TextFolding) -> PredicateOperand {
    switch self {
    case .constant(let term): .constant(term.folded(folding))
    case .path, .calculation, .call: self
    case .list(let operands): .list(operands.map { $0.folded(folding) })
    }
  }
}

/// The value of an operand.
enum PredicateTerm: Equatable, Sendable {
  case null
  case value(ComparedValue)
  case list([PredicateTerm])

  func folded(_ folding: TextFolding) -> PredicateTerm {
    switch self {
    case .null: self
    case .value(let value): .value(value.folded(folding))
    case .list(let terms): .list(terms.map { $0.folded(folding) })
    }
  }
}

/// A value of a record or of the predicate. For a value of the predicate, what comparisons need is prepared once.
struct ComparedValue: Sendable {
  let value: PlistValue
  private var foldedText: [UInt8]?
  /// The point in time that a string of the predicate means.
  let date: Date?

  init(of found: PlistValue) {
    value = found
    date = nil
  }

  /// - Parameter zone: the time zone of a date in a string that names none; `nil` for UTC.
  init(literal: PlistValue, in zone: TimeZone? = nil) {
    value = literal
    date = literal.string.flatMap { ISODate.parse($0, in: zone) }
  }

  func folded(_ folding: TextFolding) -> ComparedValue {
    var folded = self
    folded.foldedText = value.string.map { Array(folding.fold($0).utf8) }
    return folded
  }

  func withCell<Result>(_ folding: TextFolding, _ body: (ComparedCell) -> Result) -> Result {
    if let foldedText { return foldedText.withUnsafeBufferPointer { body(.text($0, date: date)) } }
    switch value {
    case .string(var text): return text.withUTF8 { folding.withFolded($0) { body(.text($0, date: date)) } }
    case .array(let elements): return body(.list(elements.map { .value(ComparedValue(of: $0)) }))
    default: return body(.value(value))
    }
  }
}

extension ComparedValue: Equatable {
  static func == (left: ComparedValue, right: ComparedValue) -> Bool { left.value == right.value }
}

/// The way to a value in a record: `id`, `name`, `address.city`, `tags[0]`, `tags.@count`.
struct PredicatePath: Equatable, Sendable {
  enum Root: Equatable, Sendable {
    /// The record's id, as `id`.
    case id
    /// The record's id, as `recordID`.
    case recordID
    case field(FieldName)

    var reference: FieldReference { if case .field(let name) = self { .path([name]) } else { .id } }
  }

  enum Step: Equatable, Sendable {
    case key(FieldName)
    case element(Int)
    case last
    case count
  }

  let root: Root
  let steps: [Step]
}

extension PredicatePath {
  /// A path that begins with a word, which may be `id` or `recordID`, or the `fields` of `fields.id`.
  init(word: FieldName, _ steps: [Step]) {
    if word == FieldName("recordID") {
      self.init(root: .recordID, steps: steps)
      return
    }
    let keys = steps.prefix { $0.key != nil }.compactMap(\.key)
    guard let path = FieldReference.field([word] + keys) else {
      self.init(root: .id, steps: steps)
      return
    }
    let others = steps.dropFirst(keys.count)
    self.init(root: .field(path[0]), steps: path.dropFirst().map(Step.key) + others)
  }
}

extension PredicatePath.Step {
  var key: FieldName? { if case .key(let name) = self { name } else { nil } }
}

extension PredicatePart {
  var paths: [PredicatePath] {
    switch self {
    case .node(let node): node.paths
    case .operand(let operand): operand.paths
    }
  }
}

extension PredicateNode {
  /// The paths to values in the predicate, in order.
  var paths: [PredicatePath] { comparisons.flatMap { $0.left.paths + $0.right.paths } }

  var comparisons: [PredicateComparison] {
    switch self {
    case .constant: []
    case .not(let node): node.comparisons
    case .and(let nodes), .or(let nodes): nodes.flatMap(\.comparisons)
    case .comparison(let comparison): [comparison]
    }
  }
}

extension PredicateOperand {
  fileprivate var paths: [PredicatePath] {
    if case .path(let path) = self { [path] } else { parts.flatMap(\.paths) }
  }
}

/// Dates in the forms of ISO 8601 that people write.
enum ISODate {
  /// `2026`, `2026-01` or `2026-01-31`, which are their first second; a day with `T` or a space and `12:00`, `12:00:00`
  /// or `12:00:00.5`; then with `Z` or an offset like `+02:00`. Without one it is in `home`, or else in UTC.
  static func parse(_ text: String, in home: TimeZone? = nil) -> Date? {
    guard (4...40).contains(text.utf8.count),
      text.utf8.dropFirst(4).first.map({ $0 == UInt8(ascii: "-") }) ?? true,
      let match = text.wholeMatch(
        of:
          /([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?)?/
          .asciiOnlyDigits())
    else { return nil }
    let (_, year, month, day, minute, second, fraction, zone) = match.output
    var seconds = "\(year)-\(month ?? "01")-\(day ?? "01")T\(minute ?? "00:00"):\(second ?? "00")Z"
    guard let date = seconds.withUTF8(PlistDate.parse) else { return nil }
    guard let offset = zone.map(offset) ?? home.map({ $0.offset(ofLocal: date) }) ?? 0 else { return nil }
    return date.addingTimeInterval((fraction.flatMap { Double("0\($0)") } ?? 0) - Double(offset))
  }

  /// Seconds east of UTC.
  private static func offset(_ zone: Substring) -> Int? {
    let digits = zone.filter(\.isNumber)
    guard let number = Int(digits) else { return 0 }
    let (hours, minutes) = number.quotientAndRemainder(dividingBy: 100)
    guard hours < 24, minutes < 60 else { return nil }
    return (zone.hasPrefix("-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
  }
}

extension TimeZone {
  /// Seconds east of UTC at a local time.
  /// - Parameter date: the moment that has this time in UTC.
  fileprivate func offset(ofLocal date: Date) -> Int {
    // Around a change of the clocks, a time may come twice or not at all. As in other programs, it is then the first one,
    // or as long after the change as it says.
    let (before, after) = (offset(86_400, before: date), offset(-86_400, before: date))
    let isAfter =
      secondsFromGMT(for: date.addingTimeInterval(-Double(before))) != before
      && secondsFromGMT(for: date.addingTimeInterval(-Double(after))) == after
    return isAfter ? after : before
  }

  private func offset(_ seconds: Double, before date: Date) -> Int {
    secondsFromGMT(for: date.addingTimeInterval(-seconds))
  }

  /// The first second of the present day.
  var startOfToday: Date {
    let now = Date()
    let local = Int(now.timeIntervalSince1970.rounded(.down)) + secondsFromGMT(for: now)
    let midnight = Date(timeIntervalSince1970: Double(local - (local % 86_400 + 86_400) % 86_400))
    return midnight.addingTimeInterval(-Double(offset(ofLocal: midnight)))
  }
}
