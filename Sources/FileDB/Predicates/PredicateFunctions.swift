import FileDBEssentials
import FileDBPlist

/// The functions of the language, in upper or lower case. The set is closed: what a predicate means depends neither on
/// the platform nor on the program.
enum PredicateFunction: String, CaseIterable {
  case length, lowercase, uppercase, trimmed, replace, round, days

  /// How a function is written, and what it does with its arguments.
  struct Form {
    let usage: String
    let argumentCounts: ClosedRange<Int>
    /// `nil` if an argument has the wrong type, or there is no result.
    let value: @Sendable (_ arguments: [PlistValue]) -> PlistValue?
  }

  var form: Form {
    switch self {
    case .length: Form(usage: "length(text)", argumentCounts: 1...1) { Self.length(of: $0[0]) }
    case .lowercase: .ofText("lowercase(text)") { $0.lowercased() }
    case .uppercase: .ofText("uppercase(text)") { $0.uppercased() }
    case .trimmed: .ofText("trimmed(text)", Self.trimmed)
    case .replace:
      Form(usage: "replace(text, 'old', 'new')", argumentCounts: 3...3) { arguments in
        let texts = arguments.compactMap(\.string)
        return texts.count == 3 ? .string(Self.replacing(texts[1], in: texts[0], by: texts[2])) : nil
      }
    case .round:
      Form(usage: "round(number) or round(number, digits)", argumentCounts: 1...2, value: Self.rounded)
    case .days:
      Form(usage: "days(from, to), with two dates", argumentCounts: 2...2) { arguments in
        guard let from = arguments[0].date, let to = arguments[1].date else { return nil }
        return .integer(Int64((to.timeIntervalSince(from) / 86_400).rounded(.down)))
      }
    }
  }

  init?(word: String) {
    guard word.utf8.count <= 12, word.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    self.init(rawValue: word.lowercased())
  }

  /// What to say about a function that does not exist.
  static func unknown(_ name: String) -> String {
    let values = ["DATE", "DATA", "REAL"]
    let all = allCases.map(\.rawValue) + values
    let word = name.lowercased()
    let nearest = all.first { $0.hasPrefix(word) } ?? NearestName(to: word, among: all).name
    return "there is no function \(name.prefix(40)); "
      + (nearest.map { "did you mean \($0)?" }
        ?? "the functions are \(all.dropLast().joined(separator: ", ")) and \(values[2])")
  }

  /// The number of characters, of elements of an array, or of entries of a dictionary.
  private static func length(of value: PlistValue) -> PlistValue? {
    switch value {
    case .string(let text): .integer(Int64(text.count))
    case .array(let elements): .integer(Int64(elements.count))
    case .dict(let entries): .integer(Int64(entries.count))
    default: nil
    }
  }

  /// Without white space at both ends.
  private static func trimmed(_ text: String) -> String {
    let scalars = text.unicodeScalars.drop { $0.properties.isWhitespace }
    let end = scalars.lastIndex { !$0.properties.isWhitespace }.map(scalars.index(after:))
    return String(scalars[..<(end ?? scalars.startIndex)])
  }

  /// Compares bytes, as all of the language does.
  private static func replacing(_ old: String, in text: String, by new: String) -> String {
    let (bytes, old, new) = (Array(text.utf8), Array(old.utf8), Array(new.utf8))
    if old.isEmpty { return text }
    var (result, position) = ([UInt8](), 0)
    while position < bytes.count {
      if bytes[position...].starts(with: old) {
        result += new
        position += old.count
      } else {
        result.append(bytes[position])
        position += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Halves go away from zero. Without a number of digits, the result is an integer, if it is small enough for one.
  private static func rounded(_ arguments: [PlistValue]) -> PlistValue? {
    guard let number = arguments[0].anyReal else { return nil }
    guard arguments.count == 2 else {
      if arguments[0].wholeNumber != nil { return arguments[0] }
      let whole = number.rounded()
      return whole.isFinite ? PlistValue(whole: Int128(exactly: whole)) ?? .real(whole) : nil
    }
    guard let digits = arguments[1].wholeNumber, (0...15).contains(digits) else { return nil }
    if arguments[0].wholeNumber != nil { return arguments[0] }
    let factor = (0..<Int(digits)).reduce(1.0) { product, _ in product * 10 }
    let scaled = (number * factor).rounded()
    // So large a number has no such digits.
    return .real(scaled.isFinite ? scaled / factor : number)
  }
}

extension PredicateFunction.Form {
  fileprivate static func ofText(
    _ usage: String, _ value: @escaping @Sendable (String) -> String
  ) -> Self {
    Self(usage: usage, argumentCounts: 1...1) { arguments in arguments[0].string.map { .string(value($0)) } }
  }
}

/// `round(kcal, 1)`
struct PredicateCall: Equatable, Sendable {
  let function: PredicateFunction
  let arguments: [PredicateOperand]

  /// - Returns: `nil` if a field is missing, or there is no result.
  func value(of record: PredicateRecord?) -> PlistValue? {
    var values: [PlistValue] = []
    for argument in arguments {
      guard let value = argument.term(of: record).plainValue else { return nil }
      values.append(value)
    }
    return function.form.value(values)
  }
}

extension PredicateCall: CustomStringConvertible {
  var description: String {
    "\(function.rawValue)(" + arguments.map(\.description).joined(separator: ", ") + ")"
  }
}
