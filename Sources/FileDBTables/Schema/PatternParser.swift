/// Compiles a regular expression in the syntax that XML Schema, Frictionless Table Schema, ICU and PCRE have in common.
/// Each part of it becomes steps that refer only to each other, so they can be put anywhere.
struct PatternParser {
  typealias Step = TextPattern.Step

  private let scalars: [Unicode.Scalar]
  private var place = 0
  private var depth = 0
  /// The steps of parts that occur zero times. They take time, too.
  private var discardedCount = 0

  private static let deepest = 100
  private static let mostRepetitions = 1_000
  /// This many steps take some kilobytes. A person would hardly write a longer expression.
  private static let mostSteps = 10_000

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  mutating func parse() throws(PatternFault) -> [Step] {
    let steps = try choice()
    guard place == scalars.count else { throw fault("a ')' has no '('") }
    return steps
  }

  private var next: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    place += 1
    return true
  }

  private func fault(_ message: String) -> PatternFault { PatternFault(message: message, column: place + 1) }

  private func checkCount(_ steps: Int) throws(PatternFault) {
    guard steps <= Self.mostSteps else {
      throw PatternFault(message: "it is too long, with its repetitions written out", column: 1)
    }
  }

  private mutating func choice() throws(PatternFault) -> [Step] {
    var steps: [Step] = []
    var jumps: [Int] = []
    var part = try sequence()
    while take("|") {
      jumps.append(steps.count + part.count + 1)
      steps += [.fork(part.count + 2)] + part + [.jump(0)]
      part = try sequence()
      try checkCount(steps.count + part.count)
    }
    steps += part
    for jump in jumps { steps[jump] = .jump(steps.count - jump) }
    return steps
  }

  private mutating func sequence() throws(PatternFault) -> [Step] {
    var steps: [Step] = []
    while let scalar = next, scalar != "|", scalar != ")" {
      steps += try repetition(of: try atom())
      try checkCount(steps.count)
    }
    return steps
  }

  private mutating func atom() throws(PatternFault) -> [Step] {
    guard let scalar = next else { throw fault("it ends too early") }
    switch scalar {
    case "*", "+", "?", "{": throw fault("there is nothing to repeat")
    default: place += 1
    }
    switch scalar {
    case "(": return try group()
    case "[": return [.scalar(try set())]
    case ".": return [.scalar(.anything)]
    case "^": return [.start]
    case "$": return [.end]
    case "\\": return [.scalar(ScalarSet(parts: [try escape()]))]
    default: return [.scalar(ScalarSet(parts: [.range(scalar...scalar)]))]
    }
  }

  private mutating func group() throws(PatternFault) -> [Step] {
    if take("?"), !take(":") { throw fault("only (…) and (?:…) are groups") }
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.deepest else { throw fault("it is nested too deep") }
    let steps = try choice()
    guard take(")") else { throw fault("a '(' is never closed") }
    return steps
  }

  private mutating func repetition(of part: [Step]) throws(PatternFault) -> [Step] {
    let bounds: (least: Int, most: Int?)
    switch next {
    case "*": bounds = (0, nil)
    case "+": bounds = (1, nil)
    case "?": bounds = (0, 1)
    case "{":
      place += 1
      bounds = try counts()  // Stops at the brace, which is read below.
    default: return part
    }
    place += 1
    _ = take("?")  // A lazy match changes nothing: the whole text must match in either case.
    switch next {
    case "*", "+", "?", "{": throw fault("a repetition is repeated; put it in parentheses")
    default: return try repeated(part, bounds.least, atMost: bounds.most)
    }
  }

  /// - Parameter most: `nil` for any number.
  private mutating func repeated(
    _ part: [Step], _ least: Int, atMost most: Int?
  ) throws(PatternFault) -> [Step] {
    if part.isEmpty { return [] }
    if most == 0 {
      discardedCount += part.count
      try checkCount(discardedCount)
      return []
    }
    let optional = most.map { $0 - least }
    try checkCount(least * part.count + (optional ?? 1) * (part.count + 1))
    var steps: [Step] = []
    for _ in 0..<least { steps += part }
    guard let optional else {
      steps.append(.fork(part.count + 2))
      return steps + part + [.jump(-part.count - 1)]
    }
    for rest in (0..<optional).reversed() {
      steps.append(.fork((rest + 1) * (part.count + 1)))
      steps += part
    }
    return steps
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
    case "D": return .other(than: .digit)
    case "W": return .other(than: .word)
    case "S": return .other(than: .space)
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
