import FileDBEssentials
import FileDBPlist

/// A value as a predicate compares it: of a constant, of a field of a record, or of a column. All comparisons are made
/// here, so they mean the same wherever a value was read from.
enum ComparedCell {
  case null
  /// Folded text, which is only valid while the cell is used. A string of the predicate may also mean a date.
  case text(UnsafeBufferPointer<UInt8>, date: Date?)
  case list([PredicateTerm])
  case value(PlistValue)
}

extension ComparedCell {
  /// -1, 0 or 1; `nil` if the two have no order.
  func order(_ other: ComparedCell) -> Int? {
    switch (self, other) {
    case (.text(let text, _), .text(let other, _)): text.order(other)
    case (.text(_, let date?), .value(let value)): ValueOrder.compareAlike(.date(date), value)
    case (.value(let value), .text(_, let date?)): ValueOrder.compareAlike(value, .date(date))
    case (.value(let value), .value(let other)):
      ValueOrder.compareAlike(Self.number(value), Self.number(other))
    default: nil
    }
  }

  /// A bool that is compared with a number counts as 0 or 1. Two bools keep the same order by this.
  private static func number(_ value: PlistValue) -> PlistValue {
    if case .bool(let isTrue) = value { .integer(isTrue ? 1 : 0) } else { value }
  }

  func isEqual(to other: ComparedCell, _ folding: TextFolding) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.list(let terms), .list(let others)):
      terms.count == others.count
        && zip(terms, others).allSatisfy { term, other in
          term.withCell(folding) { other.isEqual(to: $0, folding) }
        }
    case (.value(.dict(let entries)), .value(.dict(let others))): entries == others
    default: order(other) == 0
    }
  }

  /// Whether the list has an element that equals `other`, or the text contains `other`.
  fileprivate func contains(_ other: ComparedCell, _ folding: TextFolding) -> Bool {
    switch (self, other) {
    case (.list(let terms), _): terms.contains { $0.isEqual(to: other, folding) }
    case (.text(let text, _), .text(let part, _)): findBytes(part, in: text) != nil
    default: false
    }
  }

  fileprivate var text: UnsafeBufferPointer<UInt8>? {
    if case .text(let text, _) = self { text } else { nil }
  }
}

extension PredicateTerm {
  func withCell<Result>(_ folding: TextFolding, _ body: (ComparedCell) -> Result) -> Result {
    switch self {
    case .null: body(.null)
    case .value(let value): value.withCell(folding, body)
    case .list(let terms): body(.list(terms))
    }
  }

  fileprivate func isEqual(to cell: ComparedCell, _ folding: TextFolding) -> Bool {
    withCell(folding) { cell.isEqual(to: $0, folding) }
  }

  fileprivate func contains(_ cell: ComparedCell, _ folding: TextFolding) -> Bool {
    if case .list(let terms) = self { return terms.contains { $0.isEqual(to: cell, folding) } }
    return withCell(folding) { $0.contains(cell, folding) }
  }
}

/// A comparison with a value. `MATCHES` is none of these: it needs the text as it is written.
struct CellTest: Sendable {
  let comparator: PredicateComparator
  let right: PredicateTerm
  private let pattern: LikePattern?

  init(_ comparator: PredicateComparator, _ right: PredicateTerm, _ folding: TextFolding) {
    (self.comparator, self.right) = (comparator, right)
    pattern = comparator == .like ? right.string.map { LikePattern($0, folding: folding) } : nil
  }

  /// - Parameter folding: that of the comparison, and of the cell.
  func isTrue(of cell: ComparedCell, _ folding: TextFolding) -> Bool {
    switch comparator {
    case .equal: right.isEqual(to: cell, folding)
    case .notEqual: !right.isEqual(to: cell, folding)
    case .less, .lessOrEqual, .greater, .greaterOrEqual: isTrue(of: cell, comparator, right, folding)
    case .between:
      bounds.map { low, high in
        isTrue(of: cell, .greaterOrEqual, low, folding) && isTrue(of: cell, .lessOrEqual, high, folding)
      } ?? false
    case .isIn: right.contains(cell, folding)
    case .contains: right.withCell(folding) { cell.contains($0, folding) }
    case .beginsWith: isTrue(of: cell, folding) { $0.starts(with: $1) }
    case .endsWith:
      isTrue(of: cell, folding) { $0.count >= $1.count && $0.suffix($1.count).elementsEqual($1) }
    case .like: cell.text.flatMap { pattern?.matches(folded: $0) } ?? false
    case .matches: false
    case .isTrue: if case .value(.bool(true)) = cell { true } else { false }
    }
  }

  /// Those of `BETWEEN`.
  var bounds: (low: PredicateTerm, high: PredicateTerm)? {
    if case .list(let terms) = right, terms.count == 2 { (terms[0], terms[1]) } else { nil }
  }

  private func isTrue(
    of cell: ComparedCell, _ relation: PredicateComparator, _ right: PredicateTerm, _ folding: TextFolding
  ) -> Bool {
    Verdict(relation)(right.withCell(folding) { cell.order($0) })
  }

  private func isTrue(
    of cell: ComparedCell, _ folding: TextFolding,
    _ test: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Bool
  ) -> Bool {
    guard let text = cell.text else { return false }
    return right.withCell(folding) { $0.text.map { test(text, $0) } ?? false }
  }
}

/// For each possible order of two values, whether the comparison is true.
struct Verdict: Sendable {
  let less: Bool
  let equal: Bool
  let greater: Bool
  /// For values that have no order.
  let unordered: Bool

  init(_ relation: PredicateComparator) {
    less = relation == .less || relation == .lessOrEqual || relation == .notEqual
    equal = relation == .equal || relation == .lessOrEqual || relation == .greaterOrEqual
    greater = relation == .greater || relation == .greaterOrEqual || relation == .notEqual
    unordered = relation == .notEqual
  }

  func callAsFunction(_ order: Int?) -> Bool {
    guard let order else { return unordered }
    return order < 0 ? less : order == 0 ? equal : greater
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// -1, 0 or 1: the order by bytes.
  func order(_ other: UnsafeBufferPointer<UInt8>) -> Int {
    let common = Swift.min(count, other.count)
    if common > 0, let mine = baseAddress, let theirs = other.baseAddress {
      let order = memcmp(mine, theirs, common)
      if order != 0 { return order < 0 ? -1 : 1 }
    }
    return (count - other.count).signum()
  }
}
