import FileDBPlist

struct PredicateToken {
  enum Kind: Equatable {
    case word(String)
    /// `#name` or `#"name"`: a name, even if it looks like a word of the language.
    case name(String)
    case text(String)
    case number(PlistValue)
    /// `7d`
    case span(PredicateSpan)
    case symbol(PredicateSymbol)
    case argument
    case nameArgument
    /// `$name`
    case namedArgument(String)
    case end
  }

  let kind: Kind
  let start: String.Index

  /// Whether an operand may end with this token, so that a minus after it subtracts.
  var mayEndOperand: Bool {
    switch kind {
    case .word(let word): PredicateKeyword(word).map { $0.constant(in: nil) != nil } ?? true
    case .symbol(let symbol): [.close, .closeBrace, .closeBracket].contains(symbol)
    case .name, .text, .number, .span, .argument, .nameArgument, .namedArgument: true
    case .end: false
    }
  }
}

enum PredicateSymbol: String {
  case equal = "=="
  case singleEqual = "="
  case notEqual = "!="
  case lessOrGreater = "<>"
  case less = "<"
  case lessOrEqual = "<="
  case equalOrLess = "=<"
  case greater = ">"
  case greaterOrEqual = ">="
  case equalOrGreater = "=>"
  case and = "&&"
  case or = "||"
  case not = "!"
  case open = "("
  case close = ")"
  case openBrace = "{"
  case closeBrace = "}"
  case openBracket = "["
  case closeBracket = "]"
  case comma = ","
  case dot = "."
  case at = "@"
  case plus = "+"
  case minus = "-"
  case times = "*"
  case slash = "/"
}

/// Splits the text of a predicate into tokens.
struct PredicateLexer {
  let text: String
  private var rest: Substring.UnicodeScalarView
  private var isBehindOperand = false

  init(_ text: String) {
    self.text = text
    rest = text.unicodeScalars[...]
  }

  mutating func next() throws -> PredicateToken {
    rest = rest.drop { $0.properties.isWhitespace }
    let start = rest.startIndex
    let token = PredicateToken(kind: try kind(at: start), start: start)
    isBehindOperand = token.mayEndOperand
    return token
  }

  private mutating func kind(at start: String.Index) throws -> PredicateToken.Kind {
    guard let first = rest.first else { return .end }
    switch first {
    case "\"", "'": return .text(try quoted())
    case "#": return .name(try escapedName(at: start))
    case "%": return try argument(at: start)
    case "$": return .namedArgument(try argumentName(at: start))
    case "0"..."9":
      if let date = unquotedDate { throw fault("a date needs quotes: write '\(date)'", at: start) }
      return try number(at: start)
    case "-" where !isBehindOperand && rest.dropFirst().first.map { ("0"..."9").contains($0) } == true:
      return try number(at: start)
    case "-" where isInWord(at: start):
      throw fault(
        "to subtract, write spaces around '-'; a '-' in the name of a field, write #\"…\"", at: start)
    case let first where Self.beginsWord(first): return .word(word())
    default: return .symbol(try symbol(at: start))
    }
  }

  /// The date that comes next, as in `due < 2026-01-31`; with a subtraction, two numbers would be left of it.
  private var unquotedDate: String? {
    let text = rest.prefix { ("0"..."9").contains($0) || "-:.TZ+".unicodeScalars.contains($0) }
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(\.count)
    guard parts.count >= 2, parts[0] == 4, parts[1] == 2 else { return nil }
    return ISODate.parse(String(text)) == nil ? nil : String(text)
  }

  /// Whether there is a letter on both sides, as in `first-name`. Then it is more likely a name than a subtraction.
  private func isInWord(at start: String.Index) -> Bool {
    guard let before = text.unicodeScalars[..<start].last, before.properties.isXIDContinue else {
      return false
    }
    return rest.dropFirst().first.map(Self.beginsWord) ?? false
  }

  private static func beginsWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar.properties.isXIDStart
  }

  /// In a word, `\.` means a dot.
  private mutating func word() -> String {
    var word = take { $0.properties.isXIDContinue }
    while rest.starts(with: "\\.".unicodeScalars) {
      rest = rest.dropFirst(2)
      word += "." + take { $0.properties.isXIDContinue }
    }
    return word
  }

  private mutating func take(while isPart: (Unicode.Scalar) -> Bool) -> String {
    let part = rest.prefix(while: isPart)
    rest = rest[part.endIndex...]
    return String(part)
  }

  private mutating func symbol(at start: String.Index) throws -> PredicateSymbol {
    for length in [2, 1] {
      let part = rest.prefix(length)
      guard let symbol = PredicateSymbol(rawValue: String(part)) else { continue }
      rest = rest[part.endIndex...]
      return symbol
    }
    let character = text[start...].prefix(1)
    throw fault("a predicate has no '\(character)' here; in the name of a field, write #\"…\"", at: start)
  }

  private mutating func escapedName(at start: String.Index) throws -> String {
    rest.removeFirst()
    if let quote = rest.first, quote == "\"" || quote == "'" { return try quoted() }
    let name = word()
    if name.isEmpty { throw fault("expected the name of a field after '#'", at: start) }
    return name
  }

  private mutating func argument(at start: String.Index) throws -> PredicateToken.Kind {
    let letter = rest.dropFirst().first
    guard letter == "@" || letter == "K" else {
      throw fault("an argument is %@ for a value or %K for a field's name", at: start)
    }
    rest = rest.dropFirst(2)
    return letter == "@" ? .argument : .nameArgument
  }

  private mutating func argumentName(at start: String.Index) throws -> String {
    rest.removeFirst()
    let name = word()
    if name.isEmpty { throw fault("expected the name of an argument after '$'", at: start) }
    return name
  }

  private mutating func number(at start: String.Index) throws -> PredicateToken.Kind {
    var previous: Unicode.Scalar = "e"  // A sign may come first, and after the e of an exponent.
    var digits = take { scalar in
      defer { previous = scalar }
      let isSign = scalar == "-" || scalar == "+"
      return isSign ? previous == "e" || previous == "E" : scalar == "." || scalar.properties.isXIDContinue
    }
    if let span = PredicateSpan(digits) { return .span(span) }
    let isWhole =
      digits.contains("x") || digits.contains("X") || !digits.contains { ".eE".contains($0) }
    let value = digits.withUTF8 {
      isWhole ? PlistNumber.integer($0) : PlistNumber.real($0).map(PlistValue.real)
    }
    guard let value else {
      throw fault("'\(digits.prefix(40))' is not a number, or has more than 64 bits", at: start)
    }
    return .number(value)
  }
}

/// Reads text in quotes.
extension PredicateLexer {
  private mutating func quoted() throws -> String {
    let start = rest.startIndex
    let quote = rest.removeFirst()
    var text = String.UnicodeScalarView()
    while let scalar = rest.first, scalar != quote {
      text.append(scalar == "\\" ? try escaped() : rest.removeFirst())
    }
    guard !rest.isEmpty else { throw fault("this quote is never closed", at: start) }
    rest.removeFirst()
    return String(text)
  }

  private mutating func escaped() throws -> Unicode.Scalar {
    let start = rest.startIndex
    rest.removeFirst()
    guard let scalar = rest.popFirst() else { throw fault("a character is missing after '\\'", at: start) }
    switch scalar {
    case "\"", "'", "\\": return scalar
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "u": return try hexadecimal(from: start)
    default:
      throw fault("'\\\(scalar)' means nothing; write '\\\\\(scalar)' to keep the backslash", at: start)
    }
  }

  /// Reads the rest of `\u{1F600}`.
  private mutating func hexadecimal(from start: String.Index) throws -> Unicode.Scalar {
    let isOpen = rest.popFirst() == "{"
    let digits = take { $0.properties.isASCIIHexDigit }
    guard isOpen, rest.popFirst() == "}", let number = UInt32(digits, radix: 16),
      let scalar = Unicode.Scalar(number)
    else { throw fault("expected a character's number, as in '\\u{e9}'", at: start) }
    return scalar
  }
}

extension PredicateLexer {
  func fault(_ message: String, at place: String.Index) -> StoreError {
    StoreError(predicate: text, message, at: place)
  }
}

extension StoreError {
  /// An error in a predicate's text, with its line and a caret under the place.
  init(predicate text: String, _ message: String, at place: String.Index) {
    self.init(.invalidPredicate, message)
    let before = text[..<place]
    let start = before.lastIndex(where: \.isNewline).map(text.index(after:)) ?? text.startIndex
    if text.contains(where: \.isNewline) { line = before.count(where: \.isNewline) + 1 }
    column = text[start..<place].count + 1
    let shown = text[start...].prefix { !$0.isNewline }
    excerpt = Self.excerpt(of: shown, at: place)
  }

  /// At most as much of the line as fits into a terminal.
  private static func excerpt(of line: Substring, at place: String.Index) -> String {
    let before = line[..<place].suffix(50)
    let after = line[place...].prefix(25)
    let start = before.startIndex > line.startIndex ? "…" : ""
    let end = after.endIndex < line.endIndex ? "…" : ""
    func visible(_ text: Substring) -> String {
      String(text.map { $0.unicodeScalars.contains { $0.properties.generalCategory == .control } ? " " : $0 })
    }
    let indentation = String(repeating: " ", count: start.count + before.count)
    return "  \(start)\(visible(before))\(visible(after))\(end)\n  \(indentation)^"
  }
}
