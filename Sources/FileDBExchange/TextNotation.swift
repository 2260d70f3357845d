import FileDB
import FileDBEssentials
import FileDBPlist

/// How delimited text writes numbers and dates, if not as FileDB does.
public struct TextNotation: Sendable, Equatable {
  /// The character before the fraction of a number.
  public enum DecimalMark: String, Sendable, CaseIterable {
    case point = "."
    case comma = ","

    /// What may stand between groups of three digits.
    fileprivate var groupSeparators: [Unicode.Scalar] {
      [self == .comma ? "." : ",", " ", "'", "\u{2019}", "\u{A0}", "\u{202F}"]
    }
  }

  /// With a mark, a number may have groups of three digits: `1.234,5` with a comma, `1,234.5` with a point. `nil` for
  /// numbers as FileDB writes them.
  public var decimalMark: DecimalMark?
  /// The form of dates. Dates in ISO 8601 are still read.
  public var datePattern: DatePattern?

  /// A notation with this decimal mark and this form of dates.
  public init(decimalMark: DecimalMark? = nil, datePattern: DatePattern? = nil) {
    (self.decimalMark, self.datePattern) = (decimalMark, datePattern)
  }

  /// What is wrong with a text that is no value of this type. It may be one in a notation that people use.
  static func fault(in text: String, of type: FieldType) -> StoreError.Code {
    let isNumber = DecimalMark.allCases.contains { mark in
      mark.plainNumber(text).map { FieldType.float.value(of: $0) != nil && !$0.utf8.elementsEqual(text.utf8) }
        ?? false
    }
    if type == .integer || type == .float, isNumber { return StoreError.Code.otherNumber }
    let isDate = type == .date && DatePattern.usual.contains { $0.date(of: text) != nil }
    return isDate ? StoreError.Code.otherDate : StoreError.Code.invalidText
  }

  /// Whether texts of this type are read in another way than FileDB writes them.
  func concerns(_ type: FieldType) -> Bool {
    switch type {
    case .integer, .float: decimalMark != nil
    case .date: datePattern != nil
    case .string, .bool, .data, .json: false
    }
  }

  /// `text` as FileDB would write it.
  /// - Returns: `nil` if it is not a value of this type in this notation.
  func plain(_ text: String, as type: FieldType) -> String? {
    switch type {
    case .integer, .float:
      guard let decimalMark else { return text }
      return decimalMark.plainNumber(text)
    case .date:
      return datePattern?.date(of: text).map(PlistDate.text) ?? text
    case .string, .bool, .data, .json: return text
    }
  }
}

extension TextNotation.DecimalMark {
  /// `1234.5` for `1.234,5`; `nil` if the text is not a number with this mark.
  fileprivate func plainNumber(_ text: String) -> String? {
    var rest = text.unicodeScalars[...]
    let sign = rest.first.flatMap { "+-".unicodeScalars.contains($0) ? String($0) : nil } ?? ""
    rest = rest.dropFirst(sign.count)
    let parts = rest.split(separator: Unicode.Scalar(rawValue)!, omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let whole = digits(inGroups: parts[0]) else { return nil }
    if parts.count == 1 { return sign + whole }
    let fraction = String(parts[1].prefix { ("0"..."9").contains($0) })
    let exponent = String(parts[1].dropFirst(fraction.unicodeScalars.count))
    guard !fraction.isEmpty, exponent.isEmpty || exponent.first == "e" || exponent.first == "E" else {
      return nil
    }
    return "\(sign)\(whole).\(fraction)\(exponent)"
  }

  private func digits(inGroups text: Substring.UnicodeScalarView) -> String? {
    func isNumber(_ part: Substring.UnicodeScalarView) -> Bool {
      !part.isEmpty && part.allSatisfy { ("0"..."9").contains($0) }
    }
    guard let separator = text.first(where: { groupSeparators.contains($0) }) else {
      return isNumber(text) ? String(text) : nil
    }
    let groups = text.split(separator: separator, omittingEmptySubsequences: false)
    guard groups.allSatisfy(isNumber), groups[0].count <= 3, groups.dropFirst().allSatisfy({ $0.count == 3 })
    else { return nil }
    return groups.map { String($0) }.joined()
  }
}

/// The form of dates in a text, as in `strptime`: `%d.%m.%Y`, `%m/%d/%y %H:%M`.
public struct DatePattern: Sendable, Equatable {
  private enum Part: Equatable {
    case literal(Unicode.Scalar)
    /// A number of at most so many digits.
    case number(Component, digits: Int)
    case zone
  }

  private enum Component {
    case year, shortYear, month, day, hour, minute, second
  }

  /// The forms of dates that people write most.
  static let usual = ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y"].compactMap(DatePattern.init)

  /// The text of the pattern.
  public let text: String
  private let parts: [Part]

  /// Reads a pattern: `%Y` is the year, `%y` its last two digits, of 1970 to 2069, `%m` the month, `%d` the day, `%H`
  /// the hour, `%M` the minute, `%S` the second, `%z` an offset like `+01:00` or `Z`, and `%%` a percent sign. Any
  /// other character stands for itself. Without `%z`, dates are in UTC.
  /// - Returns: `nil` for any other letter after `%`, and for a pattern without year, month or day.
  public init?(_ text: String) {
    var parts: [Part] = []
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard scalar == "%" else {
        parts.append(.literal(scalar))
        continue
      }
      switch rest.popFirst() {
      case "Y": parts.append(.number(.year, digits: 4))
      case "y": parts.append(.number(.shortYear, digits: 2))
      case "m": parts.append(.number(.month, digits: 2))
      case "d": parts.append(.number(.day, digits: 2))
      case "H": parts.append(.number(.hour, digits: 2))
      case "M": parts.append(.number(.minute, digits: 2))
      case "S": parts.append(.number(.second, digits: 2))
      case "z": parts.append(.zone)
      case "%": parts.append(.literal("%"))
      default: return nil
      }
    }
    func has(_ component: Component) -> Bool {
      parts.contains { if case .number(component, _) = $0 { true } else { false } }
    }
    guard has(.year) || has(.shortYear), has(.month), has(.day) else { return nil }
    (self.text, self.parts) = (text, parts)
  }

  /// - Returns: `nil` if the text does not have this form, or there is no such day.
  func date(of text: String) -> Date? {
    var rest = text.unicodeScalars[...]
    var numbers: [Component: Int] = [:]
    var zone = ""
    for part in parts {
      switch part {
      case .literal(let scalar): guard rest.popFirst() == scalar else { return nil }
      case .zone:
        zone = String(rest.prefix { "Z+-:0123456789".unicodeScalars.contains($0) })
        rest = rest.dropFirst(zone.unicodeScalars.count)
        if zone.isEmpty { return nil }
      case .number(let component, let most):
        let digits = rest.prefix(most).prefix { ("0"..."9").contains($0) }
        guard let number = Int(String(digits)), component != .year || digits.count == 4 else { return nil }
        numbers[component] = number
        rest = rest.dropFirst(digits.count)
      }
    }
    guard rest.isEmpty, let month = numbers[.month], let day = numbers[.day] else { return nil }
    let year = numbers[.year] ?? numbers[.shortYear].map { $0 < 70 ? 2_000 + $0 : 1_900 + $0 } ?? 0
    func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let time = [Component.hour, .minute, .second].map { twoDigits(numbers[$0] ?? 0) }.joined(separator: ":")
    let yearDigits = String(repeating: "0", count: max(0, 4 - String(year).count)) + String(year)
    return DateText.parse("\(yearDigits)-\(twoDigits(month))-\(twoDigits(day))T\(time)\(zone)")
  }
}
