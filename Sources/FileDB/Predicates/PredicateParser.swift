import FileDBEssentials
import FileDBPlist

/// Reads a predicate by recursive descent, one method for each level of the grammar.
///
/// Its errors are untyped: an error that is a large value would have room in the frame of every call, and the stack
/// would end sooner.
struct PredicateParser {
  /// Deep enough for people, and far from the end of the smallest stack.
  static let maximumDepth = 100
  static let maximumBytes = 1 << 20

  private var lexer: PredicateLexer
  private var token: PredicateToken
  private var depth = 0
  private var arguments: PredicateArguments

  /// Takes from `arguments` those that the text uses.
  static func parse(_ text: String, _ arguments: inout PredicateArguments) throws -> PredicateNode {
    guard text.utf8.count <= maximumBytes else {
      throw StoreError(.invalidPredicate, "a predicate has at most \(maximumBytes) bytes")
    }
    var parser = try PredicateParser(text, arguments)
    defer { arguments = parser.arguments }
    return try parser.predicate()
  }

  private init(_ text: String, _ arguments: PredicateArguments) throws {
    lexer = PredicateLexer(text)
    token = try lexer.next()
    self.arguments = arguments
  }

  private mutating func predicate() throws -> PredicateNode {
    let node = try disjunction()
    guard token.kind == .end else { throw fault("expected AND, OR or the end") }
    guard arguments.hasNoneLeftInOrder else { throw fault("there are more arguments than %@ and %K") }
    return node
  }

  private mutating func disjunction() throws -> PredicateNode {
    var nodes = [try conjunction()]
    while try take(.or, .or) { nodes.append(try conjunction()) }
    return nodes.count == 1 ? nodes[0] : .or(nodes)
  }

  private mutating func conjunction() throws -> PredicateNode {
    var nodes = [try negation()]
    while try take(.and, .and) { nodes.append(try negation()) }
    return nodes.count == 1 ? nodes[0] : .and(nodes)
  }

  private mutating func negation() throws -> PredicateNode {
    try descend()
    defer { depth -= 1 }
    if try take(.not, .not) { return .not(try negation()) }
    if try take(.truePredicate) { return .constant(true) }
    if try take(.falsePredicate) { return .constant(false) }
    guard try takeSymbol(.open) else { return .comparison(try comparison()) }
    let node = try disjunction()
    guard try takeSymbol(.close) else { throw fault("expected AND, OR or ')'") }
    return node
  }

  private mutating func descend() throws {
    depth += 1
    if depth > Self.maximumDepth { throw fault("there are more than \(Self.maximumDepth) levels here") }
  }
}

/// Tokens.
extension PredicateParser {
  func fault(_ message: String, at place: String.Index? = nil) -> StoreError {
    lexer.fault(message, at: place ?? token.start)
  }

  private mutating func advance() throws { token = try lexer.next() }

  private mutating func take(_ keyword: PredicateKeyword) throws -> Bool {
    guard case .word(let word) = token.kind, PredicateKeyword(word) == keyword else { return false }
    try advance()
    return true
  }

  private mutating func takeSymbol(_ symbol: PredicateSymbol) throws -> Bool {
    guard token.kind == .symbol(symbol) else { return false }
    try advance()
    return true
  }

  private mutating func take(
    _ keyword: PredicateKeyword, _ symbol: PredicateSymbol
  ) throws -> Bool {
    if try take(keyword) { return true }
    return try takeSymbol(symbol)
  }

  private mutating func takeArgument(_ mark: String) throws -> (any Encodable)? {
    guard let argument = arguments.takeNext() else { throw fault("there is no argument for this \(mark)") }
    return argument
  }
}

/// Comparisons.
extension PredicateParser {
  private mutating func comparison() throws -> PredicateComparison {
    let quantifier = try quantifier()
    let start = token.start
    let left = try operand()
    if quantifier != nil, case .constant(.value) = left {
      throw fault("expected a field or a list", at: start)
    }
    let comparator = try comparator()
    let folding = try modifiers()
    let test = try test(comparator, folding)
    return PredicateComparison(
      quantifier: quantifier, left: left.folded(folding), test: test, folding: folding)
  }

  private mutating func quantifier() throws -> PredicateComparison.Quantifier? {
    guard case .word(let word) = token.kind,
      let quantifier = PredicateKeyword(word).flatMap(PredicateComparison.Quantifier.init)
    else { return nil }
    try advance()
    guard nextComparator == nil else {
      throw fault("expected a field after \(word); for a field of this name, write #\(word)")
    }
    return quantifier
  }

  private var nextComparator: PredicateComparator? {
    switch token.kind {
    case .symbol(let symbol): PredicateComparator(symbol)
    case .word(let word): PredicateKeyword(word).flatMap(PredicateComparator.init)
    default: nil
    }
  }

  private mutating func comparator() throws -> PredicateComparator {
    guard let comparator = nextComparator else {
      throw fault("expected a comparison, such as ==, CONTAINS or IN; NOT comes before what it negates")
    }
    try advance()
    return comparator
  }

  private mutating func modifiers() throws -> TextFolding {
    guard try takeSymbol(.openBracket) else { return [] }
    guard case .word(let letters) = token.kind, let folding = TextFolding(modifiers: letters) else {
      throw fault("the modifiers are [c] for case, [d] for accents and [cd] for both")
    }
    try advance()
    guard try takeSymbol(.closeBracket) else { throw fault("expected ']'") }
    return folding
  }

  private mutating func test(
    _ comparator: PredicateComparator, _ folding: TextFolding
  ) throws -> PredicateComparison.Test {
    let start = token.start
    let right = try operand().folded(folding)
    switch comparator {
    case .relation(let relation): return .relation(relation, right)
    case .between:
      guard let bounds = right.bounds else { throw fault("expected two bounds: {low, high}", at: start) }
      return .between(bounds.low, bounds.high)
    case .isIn:
      guard right.mayContain else { throw fault("expected a list {…}, a field or a text", at: start) }
      return .isIn(right)
    case .contains: return .contains(right)
    case .beginsWith, .endsWith:
      guard right.mayBeText else { throw fault("expected a text or a field", at: start) }
      return comparator == .beginsWith ? .beginsWith(right) : .endsWith(right)
    case .like, .matches:
      guard let pattern = right.text else { throw fault("expected a pattern in quotes", at: start) }
      if comparator == .like { return .like(LikePattern(pattern, folding: folding)) }
      return .matches(try matchPattern(pattern, folding, at: start))
    }
  }

  private func matchPattern(
    _ pattern: String, _ folding: TextFolding, at start: String.Index
  ) throws -> MatchPattern {
    do { return try MatchPattern(pattern, folding: folding) } catch StoreError.languageMissing {
      throw StoreError(
        StoreError.languageMissing, "MATCHES needs the module FileDBLanguage, which is not linked here")
    } catch {
      throw fault("this is not a regular expression", at: start)
    }
  }
}

/// Operands.
extension PredicateParser {
  private mutating func operand() throws -> PredicateOperand {
    let token = token
    switch token.kind {
    case .text(let text):
      try advance()
      return .constant(.value(ComparedValue(literal: .string(text))))
    case .number(let number):
      try advance()
      return .constant(.value(ComparedValue(literal: number)))
    case .argument: return try operand(of: try takeArgument("%@"), for: "%@")
    case .namedArgument(let name):
      guard let argument = arguments.take(name) else { throw fault("there is no argument '\(name)'") }
      return try operand(of: argument, for: "$\(name)")
    case .symbol(.openBrace): return try list()
    case .name, .nameArgument: return .path(try path())
    case .word(let word):
      guard let keyword = PredicateKeyword(word) else { return try named(word) }
      guard let term = keyword.constant else {
        throw fault("expected a value, but \(word) is a word of the language; write #\(word) for a field")
      }
      try advance()
      return .constant(term)
    default: throw fault("expected a field or a value")
    }
  }

  private mutating func operand(of argument: (any Encodable)?, for mark: String) throws -> PredicateOperand {
    let term: PredicateTerm?
    do { term = try PredicateTerm(argument: argument, levels: Self.maximumDepth - depth) } catch {
      throw fault("a record cannot hold the argument for this \(mark)")
    }
    guard let term else {
      throw fault(
        "the argument for this \(mark) cannot be compared: it is a dictionary, or a date out of range")
    }
    try advance()
    return .constant(term)
  }

  private mutating func list() throws -> PredicateOperand {
    try descend()
    defer { depth -= 1 }
    try advance()
    var operands: [PredicateOperand] = []
    if try takeSymbol(.closeBrace) { return .constant(.list([])) }
    repeat { operands.append(try operand()) } while try takeSymbol(.comma)
    guard try takeSymbol(.closeBrace) else { throw fault("expected ',' or '}'") }
    let terms = operands.compactMap(\.term)
    return terms.count == operands.count ? .constant(.list(terms)) : .list(operands)
  }

  /// A path, or a value like `DATE("2026-01-31")`.
  private mutating func named(_ word: String) throws -> PredicateOperand {
    let start = token.start
    let path = try path()
    guard try takeSymbol(.open) else { return .path(path) }
    guard let form = PredicateValueForm(rawValue: word.uppercased()), path.steps.isEmpty else {
      throw fault(
        "there is no function \(word.prefix(40)); the functions are DATE, DATA and REAL", at: start)
    }
    guard case .text(let text) = token.kind, let value = form.value(of: text) else {
      throw fault("expected \(form.expectation)")
    }
    try advance()
    guard try takeSymbol(.close) else { throw fault("expected ')'") }
    return .constant(.value(ComparedValue(literal: value)))
  }

  private mutating func path() throws -> PredicatePath {
    let isWord = if case .word = token.kind { true } else { false }
    let name = try name()
    var steps: [PredicatePath.Step] = []
    while true {
      if try takeSymbol(.dot) {
        steps.append(try takeSymbol(.at) ? count() : .key(try self.name()))
      } else if try takeSymbol(.openBracket) {
        steps.append(try element())
      } else {
        return isWord ? PredicatePath(word: name, steps) : PredicatePath(root: .field(name), steps: steps)
      }
    }
  }

  private mutating func name() throws -> FieldName {
    let name: String
    switch token.kind {
    case .word(let word) where PredicateKeyword(word) == nil: name = word
    case .name(let text): name = text
    case .nameArgument:
      guard let text = try takeArgument("%K") as? String else {
        throw fault("the argument of %K is a String")
      }
      name = text
    default: throw fault("expected the name of a field")
    }
    try advance()
    return FieldName(name)
  }

  private mutating func count() throws -> PredicatePath.Step {
    guard token.kind == .word("count") else { throw fault("expected 'count' after '@'") }
    try advance()
    return .count
  }

  private mutating func element() throws -> PredicatePath.Step {
    let step: PredicatePath.Step
    switch token.kind {
    case .number(.integer(let number)) where number >= 0: step = .element(Int(number))
    case .word(let word) where word.uppercased() == "FIRST": step = .element(0)
    case .word(let word) where word.uppercased() == "LAST": step = .last
    default: throw fault("expected the number of an element, from 0, FIRST or LAST")
    }
    try advance()
    guard try takeSymbol(.closeBracket) else { throw fault("expected ']'") }
    return step
  }
}
