import FileDBEssentials
import FileDBPlist

/// The words that are not names of fields, in upper or lower case.
enum PredicateKeyword: String {
  case and = "AND"
  case or = "OR"
  case not = "NOT"
  case any = "ANY"
  case some = "SOME"
  case all = "ALL"
  case none = "NONE"
  case between = "BETWEEN"
  case isIn = "IN"
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case like = "LIKE"
  case matches = "MATCHES"
  case `true` = "TRUE"
  case yes = "YES"
  case `false` = "FALSE"
  case no = "NO"
  case null = "NULL"
  case `nil` = "NIL"
  case now = "NOW"
  case today = "TODAY"
  case truePredicate = "TRUEPREDICATE"
  case falsePredicate = "FALSEPREDICATE"

  init?(_ word: String) {
    guard word.utf8.count <= 14, word.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    self.init(rawValue: word.uppercased())
  }

  /// - Parameter zone: the time zone of `TODAY`; `nil` for the date that is written like the local day.
  func constant(in zone: TimeZone?) -> PredicateTerm? {
    switch self {
    case .true, .yes: .value(ComparedValue(literal: true))
    case .false, .no: .value(ComparedValue(literal: false))
    case .null, .nil: .null
    case .now: .value(ComparedValue(literal: .date(PredicateClock.now)))
    case .today: .value(ComparedValue(literal: .date(zone?.startOfToday ?? PredicateClock.today)))
    default: nil
    }
  }
}

extension PredicateComparison.Quantifier {
  init?(_ keyword: PredicateKeyword) {
    self.init(rawValue: (keyword == .some ? PredicateKeyword.any : keyword).rawValue)
  }
}

/// What a comparison asks: the operator between two operands, or whether one is true.
enum PredicateComparator: String {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case between = "BETWEEN"
  case isIn = "IN"
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case like = "LIKE"
  case matches = "MATCHES"
  /// A field by itself. Only a true Boolean is true; the number 1 is not. The text has no right side.
  case isTrue

  init?(_ symbol: PredicateSymbol) {
    switch symbol {
    case .singleEqual: self = .equal
    case .lessOrGreater: self = .notEqual
    case .equalOrLess: self = .lessOrEqual
    case .equalOrGreater: self = .greaterOrEqual
    default: self.init(rawValue: symbol.rawValue)
    }
  }

  init?(_ keyword: PredicateKeyword) { self.init(rawValue: keyword.rawValue) }

  /// Whether it compares two values: `==`, `!=`, `<`, `<=`, `>` or `>=`.
  var isRelation: Bool {
    switch self {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
    case .between, .isIn, .contains, .beginsWith, .endsWith, .like, .matches, .isTrue: false
    }
  }
}

/// Values without a literal of their own. They are written as strings in parentheses.
enum PredicateValueForm: String {
  case date = "DATE"
  case data = "DATA"
  case real = "REAL"

  var expectation: String {
    switch self {
    case .date: "a date in quotes, like \"2026-01-31\" or \"2026-01-31T12:00:00Z\""
    case .data: "base64 in quotes"
    case .real: "a number in quotes, nan or infinity among them"
    }
  }

  func value(of text: String, in zone: TimeZone?) -> PlistValue? {
    var text = text
    return switch self {
    case .date: ISODate.parse(text, in: zone).flatMap(PlistDate.wholeSecond).map(PlistValue.date)
    case .data: text.withUTF8(Base64.decode).map(PlistValue.data)
    case .real: text.withUTF8(PlistNumber.real).map(PlistValue.real)
    }
  }
}

extension TextFolding {
  init?(modifiers: String) {
    switch modifiers.lowercased() {
    case "c": self = .letterCase
    case "d": self = .accents
    case "cd", "dc": self = [.letterCase, .accents]
    default: return nil
    }
  }
}

extension PredicateOperand {
  var term: PredicateTerm? { if case .constant(let term) = self { term } else { nil } }

  /// The text, if it is a constant.
  var text: String? { term?.string }

  var bounds: (low: PredicateOperand, high: PredicateOperand)? {
    switch self {
    case .constant(.list(let terms)) where terms.count == 2: (.constant(terms[0]), .constant(terms[1]))
    case .list(let operands) where operands.count == 2: (operands[0], operands[1])
    default: nil
    }
  }

  var mayHaveElements: Bool {
    switch self {
    case .path, .list, .constant(.list), .constant(.null): true
    case .calculation, .call, .constant(.value): false
    }
  }

  /// The operand with its text replaced by the date that the text means.
  var asDate: PredicateOperand {
    guard case .constant(.value(let value)) = self, let date = value.date.flatMap(PlistDate.wholeSecond)
    else {
      return self
    }
    return .constant(.value(ComparedValue(literal: .date(date))))
  }

  var mayBeText: Bool {
    switch self {
    case .path, .calculation, .call: true
    case .constant(let term): term.string != nil
    case .list: false
    }
  }

  var mayContain: Bool {
    if case .constant(.list) = self { return true }
    if case .list = self { return true }
    return mayBeText
  }
}

extension PredicateTerm {
  /// - Parameter levels: how deeply arrays may be nested.
  /// - Returns: `nil` for a value that no literal can express.
  /// - Throws: `EncodingError`.
  init?(argument: (any Encodable)?, levels: Int) throws {
    guard let argument, let value = try FieldsEncoder.encodeValue(argument, codingPath: []) else {
      self = .null
      return
    }
    self.init(value, levels: levels)
  }

  private init?(_ value: PlistValue, levels: Int) {
    switch value {
    case .dict: return nil
    case .array(let elements):
      guard levels > 0 else { return nil }
      let terms = elements.compactMap { PredicateTerm($0, levels: levels - 1) }
      guard terms.count == elements.count else { return nil }
      self = .list(terms)
    case .unsigned(let number): self = .value(ComparedValue(literal: PlistValue(number)))
    // The date as it would be stored.
    case .date(let date):
      guard let second = PlistDate.wholeSecond(date) else { return nil }
      self = .value(ComparedValue(literal: .date(second)))
    default: self = .value(ComparedValue(literal: value))
    }
  }
}
