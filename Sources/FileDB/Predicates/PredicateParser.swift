import FileDBEssentials
import FileDBPlist

/// Parses a predicate by recursive descent, with one method for each level of the grammar.
///
/// Its errors are untyped: a large typed error would take space in the frame of every call, and the stack would
/// overflow sooner.
struct PredicateParser {
  /// Deep enough for people, and far from overflowing the smallest stack.
  static let maximumDepth = 100
  static let maximumBytes = 1 << 20

  private var lexer: PredicateLexer
  var token: PredicateToken
  private var depth = 0
  private var arguments: PredicateArguments

  /// Removes from `arguments` those that the text uses.
  static func parse(_ text: String, _ arguments: inout PredicateArguments) throws -> PredicateNode {
    var parser = try PredicateParser(text, arguments, called: "a predicate")
    defer { arguments = parser.arguments }
    return try parser.predicate()
  }

  private init(_ text: String, _ arguments: PredicateArguments, called noun: String) throws {
    guard text.utf8.count <= Self.maximumBytes else {
      throw StoreError(.invalidPredicate, "\(noun) has at most \(Self.maximumBytes) bytes")
    }
    lexer = PredicateLexer(text)
    token = try lexer.next()
    self.arguments = arguments
  }

  /// Parses a condition or a calculation.
  static func parseExpression(_ text: String, _ arguments: inout PredicateArguments) throws -> PredicatePart {
    var parser = try PredicateParser(text, arguments, called: "an expression")
    defer { arguments = parser.arguments }
    let part = try parser.disjunction()
    guard parser.token.kind == .end else { throw parser.fault("expected +, -, *, / or the end") }
    return part
  }

  private mutating func predicate() throws -> PredicateNode {
    let part = try disjunction()
    let node = try condition(part)
    guard token.kind == .end else { throw fault("expected AND, OR or the end") }
    guard arguments.hasNoneLeftInOrder else { throw fault("there are more arguments than %@ and %K") }
    return node
  }

  private mutating func disjunction() throws -> PredicatePart {
    let first = try conjunction()
    guard try take(.or, .or) else { return first }
    var nodes = [try condition(first)]
    repeat {
      let next = try conjunction()
      nodes.append(try condition(next))
    } while try take(.or, .or)
    return .node(.or(nodes))
  }

  private mutating func conjunction() throws -> PredicatePart {
    let first = try negation()
    guard try take(.and, .and) else { return first }
    var nodes = [try condition(first)]
    repeat {
      let next = try negation()
      nodes.append(try condition(next))
    } while try take(.and, .and)
    return .node(.and(nodes))
  }

  private mutating func negation() throws -> PredicatePart {
    try descend()
    defer { depth -= 1 }
    if try take(.not, .not) {
      let part = try negation()
      return .node(.not(try condition(part)))
    }
    if try take(.truePredicate) { return .node(.constant(true)) }
    if try take(.falsePredicate) { return .node(.constant(false)) }
    return try comparison()
  }

  /// A field by itself is a condition: a Boolean that must be true. So is a constant.
  private func condition(_ part: PredicatePart) throws -> PredicateNode {
    switch part {
    case .node(let node): return node
    case .operand(.path(let path)):
      return .comparison(
        PredicateComparison(
          quantifier: nil, left: .path(path), .isTrue, right: .constant(.null), folding: []))
    case .operand(.constant(.value(let value))) where value.value == true || value.value == false:
      return .constant(value.value == true)
    case .operand: throw missingComparison
    }
  }

  private var missingComparison: StoreError {
    fault("expected a comparison, such as ==, CONTAINS or IN; NOT comes before what it negates")
  }

  private mutating func descend() throws {
    depth += 1
    if depth > Self.maximumDepth { throw fault("there are more than \(Self.maximumDepth) levels here") }
  }
}

/// Handles tokens.
extension PredicateParser {
  func fault(_ message: String, at place: String.Index? = nil) -> StoreError {
    lexer.fault(message, at: place ?? token.start)
  }

  mutating func advance() throws { token = try lexer.next() }

  private mutating func take(_ keyword: PredicateKeyword) throws -> Bool {
    guard case .word(let word) = token.kind, PredicateKeyword(word) == keyword else { return false }
    try advance()
    return true
  }

  mutating func takeSymbol(_ symbol: PredicateSymbol) throws -> Bool {
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

  mutating func takeArgument(_ placeholder: String) throws -> (any Encodable)? {
    guard let argument = arguments.takeNext() else {
      throw fault("there is no argument for this \(placeholder)")
    }
    return argument
  }
}

/// Parses comparisons.
extension PredicateParser {
  private mutating func comparison() throws -> PredicatePart {
    let quantifier = try quantifier()
    let start = token.start
    let part = try sum()
    guard case .operand(let left) = part else {
      if quantifier != nil { throw fault("expected a field or a list", at: start) }
      return part
    }
    if quantifier != nil, !left.mayHaveElements { throw fault("expected a field or a list", at: start) }
    guard let comparator = try comparator() else {
      guard quantifier == nil, isAtEndOfCondition else { throw missingComparison }
      return part
    }
    let folding = try modifiers()
    let rightStart = token.start
    let right = try right(of: comparator).folded(folding)
    let pattern =
      comparator == .matches ? try right.text.map { try matchPattern($0, folding, at: rightStart) } : nil
    return .node(
      .comparison(
        PredicateComparison(
          quantifier: quantifier, left: left.folded(folding), comparator, right: right, folding: folding,
          pattern: pattern)))
  }

  /// Whether the condition so far may end here.
  private var isAtEndOfCondition: Bool {
    switch token.kind {
    case .end, .symbol(.close), .symbol(.and), .symbol(.or): true
    case .word(let word): [.and, .or].contains(PredicateKeyword(word))
    default: false
    }
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

  /// `nil` if there is no comparator.
  private mutating func comparator() throws -> PredicateComparator? {
    // `IS` is a keyword only here, because a field may have this name.
    if case .word(let word) = token.kind, word.uppercased() == "IS" {
      try advance()
      return try take(.not) ? .notEqual : .equal
    }
    guard let comparator = nextComparator else { return nil }
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

  /// Reads the right side of a comparison.
  private mutating func right(of comparator: PredicateComparator) throws -> PredicateOperand {
    let start = token.start
    let right = try comparator == .isIn ? container() : operand()
    let (fits, expected) =
      switch comparator {
      case .between: (right.bounds != nil, "two bounds: {low, high}")
      case .isIn: (right.mayContain, "a list {…}, a field or text")
      case .beginsWith, .endsWith: (right.mayBeText, "text or a field")
      case .like, .matches: (right.text != nil, "a pattern in quotes")
      case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .contains, .isTrue: (true, "")
      }
    guard fits else { throw fault("expected \(expected)", at: start) }
    return right
  }

  /// What `IN` looks into. In SQL, a list is in parentheses. Here, only a calculation may begin with one.
  private mutating func container() throws -> PredicateOperand {
    let start = token.start
    guard token.kind == .symbol(.open) else { return try operand() }
    guard let operand = try? operand(), case .calculation = operand else {
      throw fault("expected a list {…}, not (…)", at: start)
    }
    return operand
  }

  private func matchPattern(
    _ pattern: String, _ folding: TextFolding, at start: String.Index
  ) throws -> MatchPattern {
    do { return try MatchPattern(pattern, folding: folding) } catch StoreError.Code.languageMissing {
      throw StoreError(
        .languageMissing, "MATCHES needs the module FileDBLanguage, which is not linked here")
    } catch {
      throw fault("this is not a regular expression", at: start)
    }
  }
}

/// Parses calculations.
extension PredicateParser {
  private mutating func operand() throws -> PredicateOperand { try factor { try $0.sum() } }

  private mutating func sum() throws -> PredicatePart {
    let start = token.start
    let part = try product()
    guard case .operand(var first) = part else { return part }
    var steps: [PredicateCalculation.Step] = []
    while let sign = try takeOperator(.plus, .minus) {
      guard case .span(let span) = token.kind else {
        steps.append(.with(sign, try factor { try $0.product() }))
        continue
      }
      if steps.isEmpty { first = first.asDate }
      steps.append(.shift(sign == .add ? span : span.negated))
      try advance()
    }
    return .operand(try calculated(first, steps, at: start))
  }

  private mutating func product() throws -> PredicatePart {
    let start = token.start
    let part = try term()
    guard case .operand(let first) = part else { return part }
    var steps: [PredicateCalculation.Step] = []
    while let sign = try takeOperator(.times, .slash) {
      steps.append(.with(sign, try factor { try $0.term() }))
    }
    return .operand(try calculated(first, steps, at: start))
  }

  private mutating func factor(
    _ read: (inout PredicateParser) throws -> PredicatePart
  ) throws -> PredicateOperand {
    let start = token.start
    guard case .operand(let operand) = try read(&self) else {
      throw fault("expected a field or a value", at: start)
    }
    return operand
  }

  /// A value with a sign, or a calculation in parentheses.
  private mutating func term() throws -> PredicatePart {
    let start = token.start
    if try takeSymbol(.minus) {
      try descend()
      defer { depth -= 1 }
      let operand = try factor { try $0.term() }
      let zero = PredicateOperand.constant(.value(ComparedValue(literal: 0)))
      return .operand(try calculated(zero, [.with(.subtract, operand)], at: start))
    }
    guard try takeSymbol(.open) else { return .operand(try atom()) }
    let part = try disjunction()
    guard try takeSymbol(.close) else { throw fault("expected AND, OR or ')'") }
    return part
  }

  private mutating func takeOperator(
    _ one: PredicateSymbol, _ other: PredicateSymbol
  ) throws -> PredicateCalculation.Operator? {
    guard case .symbol(let symbol) = token.kind, symbol == one || symbol == other else { return nil }
    try advance()
    return PredicateCalculation.Operator(rawValue: symbol.rawValue)
  }

  private func calculated(
    _ first: PredicateOperand, _ steps: [PredicateCalculation.Step], at start: String.Index
  ) throws -> PredicateOperand {
    if steps.isEmpty { return first }
    return try calculated(.calculation(PredicateCalculation(first: first, steps: steps)), at: start)
  }

  /// Calculates at once what needs no record.
  private func calculated(_ operand: PredicateOperand, at start: String.Index) throws -> PredicateOperand {
    guard operand.parts.allSatisfy({ $0.term != nil }) else { return operand }
    guard let value = operand.term(of: nil).plainValue else {
      throw fault("this cannot be calculated", at: start)
    }
    return .constant(.value(ComparedValue(literal: value)))
  }
}

/// Parses operands.
extension PredicateParser {
  private mutating func atom() throws -> PredicateOperand {
    let token = token
    switch token.kind {
    case .text(let text):
      try advance()
      return .constant(.value(ComparedValue(literal: .string(text), in: arguments.zone)))
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
      guard let term = keyword.constant(in: arguments.zone) else {
        throw fault("expected a value, but \(word) is a word of the language; write #\(word) for a field")
      }
      try advance()
      try takeEmptyParentheses(behind: keyword)
      return .constant(term)
    case .span:
      throw fault("a span of time comes after + or -, as in today + 7d")
    default: throw fault("expected a field or a value")
    }
  }

  /// Accepts `now()`, as in `NSPredicate`.
  private mutating func takeEmptyParentheses(behind keyword: PredicateKeyword) throws {
    guard keyword == .now || keyword == .today, try takeSymbol(.open) else { return }
    guard try takeSymbol(.close) else { throw fault("expected ')'") }
  }

  private mutating func operand(of argument: (any Encodable)?, for placeholder: String) throws
    -> PredicateOperand
  {
    let term: PredicateTerm?
    do { term = try PredicateTerm(argument: argument, levels: Self.maximumDepth - depth) } catch {
      throw fault("a record cannot hold the argument for this \(placeholder)")
    }
    guard let term else {
      throw fault(
        "the argument for this \(placeholder) cannot be compared: it is a dictionary, or a date out of range")
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

  /// Parses a path, a call like `length(name)`, or a value like `DATE("2026-01-31")`.
  private mutating func named(_ word: String) throws -> PredicateOperand {
    let start = token.start
    let path = try path()
    guard try takeSymbol(.open) else { return .path(path) }
    if path.steps.isEmpty, let function = PredicateFunction(word: word) {
      return try call(function, at: start)
    }
    guard let form = PredicateValueForm(rawValue: word.uppercased()), path.steps.isEmpty else {
      throw fault(PredicateFunction.unknown(word), at: start)
    }
    guard case .text(let text) = token.kind, let value = form.value(of: text, in: arguments.zone) else {
      throw fault("expected \(form.expectation)")
    }
    try advance()
    guard try takeSymbol(.close) else { throw fault("expected ')'") }
    return .constant(.value(ComparedValue(literal: value)))
  }

  private mutating func call(_ function: PredicateFunction, at start: String.Index) throws -> PredicateOperand
  {
    try descend()
    defer { depth -= 1 }
    var arguments = [try operand()]
    while try takeSymbol(.comma) { arguments.append(try operand()) }
    guard try takeSymbol(.close) else { throw fault("expected ',' or ')'") }
    guard function.form.argumentCounts.contains(arguments.count) else {
      throw fault("write \(function.form.usage)", at: start)
    }
    if function == .days { arguments = arguments.map(\.asDate) }
    return try calculated(.call(PredicateCall(function: function, arguments: arguments)), at: start)
  }
}
