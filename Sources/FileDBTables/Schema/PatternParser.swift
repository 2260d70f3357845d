/// A part of a regular expression.
indirect enum PatternNode {
  case scalar(ScalarSet)
  case start
  case end
  case sequence([PatternNode])
  case choice([PatternNode])
  /// `most` is `nil` for any number.
  case repetition(PatternNode, least: Int, most: Int?)
}

/// Parses a regular expression in the syntax that XML Schema, Frictionless Table Schema, ICU and PCRE have in common.
struct PatternParser {
  private let scalars: [Unicode.Scalar]
  private var place = 0
  private var depth = 0

  private static let deepest = 100
  private static let mostRepetitions = 1_000

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  mutating func parse() throws(PatternFault) -> PatternNode {
    let node = try choice()
    guard place == scalars.count else { throw fault("a ')' has no '('") }
    return node
  }

  private var next: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    place += 1
    return true
  }

  private func fault(_ message: String) -> PatternFault { PatternFault(message: message, column: place + 1) }

  private mutating func choice() throws(PatternFault) -> PatternNode {
    var nodes = [try sequence()]
    while take("|") { nodes.append(try sequence()) }
    return nodes.count == 1 ? nodes[0] : .choice(nodes)
  }

  private mutating func sequence() throws(PatternFault) -> PatternNode {
    var nodes: [PatternNode] = []
    while let scalar = next, scalar != "|", scalar != ")" { nodes.append(try repetition(of: try atom())) }
    return .sequence(nodes)
  }

  private mutating func atom() throws(PatternFault) -> PatternNode {
    guard let scalar = next else { throw fault("it ends too early") }
    switch scalar {
    case "*", "+", "?", "{": throw fault("there is nothing to repeat")
    default: place += 1
    }
    switch scalar {
    case "(": return try group()
    case "[": return .scalar(try set())
    case ".": return .scalar(.anything)
    case "^": return .start
    case "$": return .end
    case "\\": return .scalar(ScalarSet(parts: [try escape()]))
    default: return .scalar(ScalarSet(parts: [.range(scalar...scalar)]))
    }
  }

  private mutating func group() throws(PatternFault) -> PatternNode {
    if take("?"), !take(":") { throw fault("only (…) and (?:…) are groups") }
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.deepest else { throw fault("it is nested too deep") }
    let node = try choice()
    guard take(")") else { throw fault("a '(' is never closed") }
    return node
  }

  private mutating func repetition(of node: PatternNode) throws(PatternFault) -> PatternNode {
    let bounds: (least: Int, most: Int?)
    switch next {
    case "*": bounds = (0, nil)
    case "+": bounds = (1, nil)
    case "?": bounds = (0, 1)
    case "{":
      place += 1
      bounds = try counts()  // Stops at the brace, which is read below.
    default: return node
    }
    place += 1
    _ = take("?")  // A lazy match changes nothing: the whole text must match in either case.
    switch next {
    case "*", "+", "?", "{": throw fault("a repetition is repeated; put it in parentheses")
    default: return .repetition(node, least: bounds.least, most: bounds.most)
    }
  }

  /// Reads `3}`, `3,}` or `3,5}`, up to the brace.
  private mutating func counts() throws(PatternFault) -> (least: Int, most: Int?) {
    let least = try number()
    var most: Int? = least
    if take(",") { most = next == "}" ? nil : try number() }
    guard next == "}" else { throw fault("a '{' is never closed") }
    if let most, most < least { throw fault("the most is below the least") }
    return (least, most)
  }

  private mutating func number() throws(PatternFault) -> Int {
    let start = place
    while let scalar = next, ("0"..."9").contains(scalar) { place += 1 }
    let digits = String(String.UnicodeScalarView(scalars[start..<place]))
    guard let number = Int(digits), number <= Self.mostRepetitions else {
      throw fault("a count from 0 to \(Self.mostRepetitions) is missing")
    }
    return number
  }

  private mutating func set() throws(PatternFault) -> ScalarSet {
    var set = ScalarSet(parts: [], isInverted: take("^"))
    var isFirst = true
    while isFirst || next != "]" {
      isFirst = false
      guard next != nil else { throw fault("a '[' is never closed") }
      let low = try member()
      guard next == "-", place + 1 < scalars.count, scalars[place + 1] != "]" else {
        set.parts.append(low)
        continue
      }
      place += 1
      guard case .range(let low) = low, case .range(let high) = try member(),
        low.lowerBound <= high.lowerBound
      else { throw fault("a range in '[…]' does not go up") }
      set.parts.append(.range(low.lowerBound...high.lowerBound))
    }
    place += 1
    return set
  }

  private mutating func member() throws(PatternFault) -> ScalarSet.Part {
    guard let scalar = next else { throw fault("a '[' is never closed") }
    place += 1
    if scalar == "\\" { return try escape() }
    if scalar == "[" { throw fault("a '[' in a '[…]' needs a backslash") }
    return .range(scalar...scalar)
  }

  private mutating func escape() throws(PatternFault) -> ScalarSet.Part {
    guard let scalar = next else { throw fault("it ends with a backslash") }
    place += 1
    switch scalar {
    case "d": return .digit
    case "w": return .word
    case "s": return .space
    case "D": return .other(ScalarSet.Parts([.digit]))
    case "W": return .other(ScalarSet.Parts([.word]))
    case "S": return .other(ScalarSet.Parts([.space]))
    case "n": return .range("\n"..."\n")
    case "r": return .range("\r"..."\r")
    case "t": return .range("\t"..."\t")
    default:
      guard !scalar.properties.isAlphabetic, !("0"..."9").contains(scalar) else {
        place -= 1
        throw fault("'\\\(scalar)' is not known")
      }
      return .range(scalar...scalar)
    }
  }
}
