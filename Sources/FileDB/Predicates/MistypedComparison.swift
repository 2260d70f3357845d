import FileDBPlist

/// A comparison of a field with a value of a type that the field never has. No record can make it true, and `!=` is
/// true of every record.
public struct MistypedComparison: Hashable, Sendable, CustomStringConvertible {
  /// The field, as the predicate names it.
  public let field: String
  /// The value, as the predicate has it.
  public let value: String
  /// What is wrong, and what to write instead.
  public let description: String
}

extension RecordPredicate {
  /// Returns the comparisons of a field with a value of a type that none of its values in `snapshot` has.
  ///
  /// Such a predicate is not an error, but it never does what its author meant: `zip == 10115` finds nothing where the
  /// field has text, and `zip != 10115` finds everything. The same is true of `due < 'soon'`, where the field has
  /// dates. If your users write predicates, tell them about these comparisons, and refuse to delete by such a
  /// predicate. A field with arrays or dictionaries, and one that no record has, is in no result.
  /// - Complexity: O(*n*) if the predicate compares a field with a value, up to the first record with a type that fits;
  ///   else O(1).
  public func mistypedComparisons<Value>(in snapshot: TableSnapshot<Value>) -> [MistypedComparison] {
    node.comparisons.flatMap(\.tests).compactMap { test in
      guard let kinds = snapshot.kinds(at: test.path, unless: test.fits) else { return nil }
      return MistypedComparison(test, kinds)
    }
  }
}

/// What values can be compared with each other.
private struct ComparedKinds: OptionSet {
  let rawValue: UInt8

  static let text = ComparedKinds(rawValue: 1)
  /// Numbers and Booleans.
  static let number = ComparedKinds(rawValue: 2)
  static let date = ComparedKinds(rawValue: 4)
  static let data = ComparedKinds(rawValue: 8)

  /// - Returns: `nil` for an array or a dictionary.
  init?(of value: PlistValue) {
    switch value {
    case .string: self = .text
    case .integer, .unsigned, .real, .bool: self = .number
    case .date: self = .date
    case .data: self = .data
    case .array, .dict: return nil
    }
  }

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The name of what a field has.
  var noun: String {
    let nouns: [(ComparedKinds, String)] = [
      (.text, "text"), (.number, "numbers"), (.date, "dates"), (.data, "data"),
    ]
    return nouns.filter { contains($0.0) }.map(\.1).joined(separator: " and ")
  }
}

/// A path, and the constants that its values are compared with.
private struct ConstantTest {
  let path: PredicatePath
  let constants: [ComparedValue]
  /// Whether the comparison looks for text in the values.
  var isAboutText = false

  /// The kinds of values for which the comparison makes sense; `nil` for all.
  var fits: ComparedKinds? {
    if isAboutText { return .text }
    var kinds: ComparedKinds = []
    for constant in constants {
      guard let kind = ComparedKinds(of: constant.value) else { return nil }
      kinds.formUnion(constant.date == nil ? kind : kind.union(.date))
    }
    return kinds.isEmpty ? nil : kinds
  }
}

extension TableSnapshot {
  /// The kinds of the values at a path.
  /// - Parameter fitting: the kinds of which none must be there.
  /// - Returns: `nil` if one of them is there, or an array or a dictionary, or no value at all.
  fileprivate func kinds(at path: PredicatePath, unless fitting: ComparedKinds?) -> ComparedKinds? {
    guard let fitting else { return nil }
    let form = ValueForm(Value.self)
    let fields = form.makeFields()
    var found: ComparedKinds = []
    var records = state.records.makeIterator()
    while let record = records.next() {
      let value = fields.read(form.newestOrStored(record)) {
        path.value(in: PredicateRecord(id: record.id, fields: fields))
      }
      guard let value else { continue }
      guard let kind = ComparedKinds(of: value), kind.isDisjoint(with: fitting) else { return nil }
      found.formUnion(kind)
    }
    return found.isEmpty ? nil : found
  }
}

extension MistypedComparison {
  fileprivate init(_ test: ConstantTest, _ kinds: ComparedKinds) {
    field = "\(test.path)"
    value = test.constants.map { $0.value.predicateLiteral }.joined(separator: ", ")
    let advice: String
    switch (kinds, test.constants.first?.value) {
    case (.text, .integer?), (.text, .unsigned?), (.text, .real?): advice = "write '\(value)', with quotes"
    case (.number, .string(let text)?) where !test.isAboutText && Double(text) != nil:
      advice = "write \(text), without quotes"
    case (.date, _): advice = "write '2026-01-31', and compare with <, = or >"
    default: advice = "no record can match"
    }
    description = "'\(field)' has \(kinds.noun), which cannot be compared with \(value); \(advice)"
  }
}

extension PredicateComparison {
  /// What it compares with constants. With a quantifier, the values are in arrays.
  fileprivate var tests: [ConstantTest] {
    guard quantifier == nil else { return [] }
    if comparator.isRelation, case .path(let path) = right {
      return left.constants.map { ConstantTest(path: path, constants: $0) }
    }
    guard case .path(let path) = left else { return [] }
    let bounds = comparator == .between ? right.bounds.map { [$0.low, $0.high] } : nil
    let isAboutText = [.contains, .beginsWith, .endsWith, .like, .matches].contains(comparator)
    return (bounds ?? [right]).flatMap(\.constants).map {
      ConstantTest(path: path, constants: $0, isAboutText: isAboutText)
    }
  }
}

extension PredicateOperand {
  /// Its constants, all in one list. There is no list if it has none.
  fileprivate var constants: [[ComparedValue]] {
    switch self {
    case .constant(let term): term.values.isEmpty ? [] : [term.values]
    case .list(let operands):
      operands.allSatisfy { !$0.constants.isEmpty } ? [operands.flatMap { $0.constants.flatMap(\.self) }] : []
    case .path, .calculation, .call: []
    }
  }
}

extension PredicateTerm {
  fileprivate var values: [ComparedValue] {
    switch self {
    case .null: []
    case .value(let value): [value]
    case .list(let terms): terms.flatMap(\.values)
    }
  }
}
