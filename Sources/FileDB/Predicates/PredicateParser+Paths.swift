/// Parses paths to fields, and to values inside them.
extension PredicateParser {
  mutating func path() throws -> PredicatePath {
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
