import FileDBEssentials

/// The arguments for `%@` and `%K` in order, or for each `$name` of a predicate.
struct PredicateArguments {
  private var ordered: ArraySlice<(any Encodable)?> = []
  private var named: [String: (any Encodable)?] = [:]
  /// The names that no text has used so far.
  private(set) var unusedNames: Set<String> = []
  /// The time zone of the dates in the text that name none; `nil` for UTC.
  var zone: TimeZone?

  init(_ ordered: [(any Encodable)?]) { self.ordered = ordered[...] }

  init(_ named: [String: (any Encodable)?]) {
    self.named = named
    unusedNames = Set(named.keys)
  }

  var hasNoneLeftInOrder: Bool { ordered.isEmpty }

  mutating func takeNext() -> (any Encodable)?? { ordered.popFirst() }

  /// The argument with this name. It may be used more than once.
  mutating func take(_ name: String) -> (any Encodable)?? {
    unusedNames.remove(name)
    return named[name]
  }
}
