import FileDBPlist
import FileDBTables

/// The record for which a predicate is evaluated.
struct PredicateRecord {
  let id: AnyRecordID
  let fields: RecordFields
}

extension PredicateNode {
  /// - Throws: ``StoreError/Code/matchLimitExceeded``.
  func isTrue(of record: PredicateRecord) throws(StoreError) -> Bool {
    switch self {
    case .constant(let value): return value
    case .comparison(let comparison): return try comparison.isTrue(of: record)
    case .not(let node): return try !node.isTrue(of: record)
    case .and(let nodes):
      for node in nodes { guard try node.isTrue(of: record) else { return false } }
      return true
    case .or(let nodes):
      for node in nodes where try node.isTrue(of: record) { return true }
      return false
    }
  }
}

extension PredicateComparison {
  func isTrue(of record: PredicateRecord) throws(StoreError) -> Bool {
    let term = left.term(of: record)
    guard let quantifier else { return try isTrue(of: term, record) }
    let elements = term.elements ?? (term == .null ? [] : [term])
    switch quantifier {
    case .any: return try isTrue(ofAnyOf: elements, record)
    case .none: return try !isTrue(ofAnyOf: elements, record)
    case .all:
      for element in elements { guard try isTrue(of: element, record) else { return false } }
      return true
    }
  }

  private func isTrue(ofAnyOf elements: [PredicateTerm], _ record: PredicateRecord) throws(StoreError) -> Bool
  {
    for element in elements where try isTrue(of: element, record) { return true }
    return false
  }

  private func isTrue(of left: PredicateTerm, _ record: PredicateRecord) throws(StoreError) -> Bool {
    switch test {
    case .relation(let relation, let right): isTrue(left, relation, right.term(of: record))
    case .between(let low, let high):
      isTrue(left, .greaterOrEqual, low.term(of: record)) && isTrue(left, .lessOrEqual, high.term(of: record))
    case .isIn(let right): right.term(of: record).contains(left, folding)
    case .contains(let right): left.contains(right.term(of: record), folding)
    case .beginsWith(let right): isTrue(left, right.term(of: record)) { $0.hasBytePrefix($1) }
    case .endsWith(let right): isTrue(left, right.term(of: record)) { $0.hasByteSuffix($1) }
    case .like(let pattern): left.string.map(pattern.matches) ?? false
    case .matches(let pattern): if let text = left.string { try pattern.matches(text) } else { false }
    case .isTrue: left == .value(ComparedValue(of: .bool(true)))
    }
  }

  private func isTrue(_ left: PredicateTerm, _ relation: Relation, _ right: PredicateTerm) -> Bool {
    switch relation {
    case .equal: left.isEqual(to: right, folding)
    case .notEqual: !left.isEqual(to: right, folding)
    case .less: left.order(right, folding).map { $0 < 0 } ?? false
    case .lessOrEqual: left.order(right, folding).map { $0 <= 0 } ?? false
    case .greater: left.order(right, folding).map { $0 > 0 } ?? false
    case .greaterOrEqual: left.order(right, folding).map { $0 >= 0 } ?? false
    }
  }

  private func isTrue(
    _ left: PredicateTerm, _ right: PredicateTerm, _ test: (String, String) -> Bool
  ) -> Bool {
    guard let text = left.text(folding), let part = right.text(folding) else { return false }
    return test(text, part)
  }
}

extension PredicateOperand {
  func term(of record: PredicateRecord) -> PredicateTerm {
    switch self {
    case .constant(let term): term
    case .path(let path): path.value(in: record).map { .value(ComparedValue(of: $0)) } ?? .null
    case .list(let operands): .list(operands.map { $0.term(of: record) })
    case .calculation(let calculation):
      calculation.value(of: record).map { .value(ComparedValue(of: $0)) } ?? .null
    case .call(let call): call.value(of: record).map { .value(ComparedValue(of: $0)) } ?? .null
    }
  }
}

extension PredicatePath {
  func value(in record: PredicateRecord) -> PlistValue? {
    var value: PlistValue?
    switch root {
    case .id, .recordID: value = .integer(record.id.rawValue)
    case .field(let name): value = record.fields[name.text]
    }
    for step in steps { value = value.flatMap(step.value) }
    return value
  }
}

extension PredicatePath.Step {
  fileprivate func value(in value: PlistValue) -> PlistValue? {
    switch (self, value) {
    case (.key(let name), _): value.value(named: name)
    case (.element(let place), .array(let elements)):
      elements.indices.contains(place) ? elements[place] : nil
    case (.last, .array(let elements)): elements.last
    case (.count, .array(let elements)): .integer(Int64(elements.count))
    case (.count, .dict(let entries)): .integer(Int64(entries.count))
    default: nil
    }
  }
}

extension PredicateTerm {
  var elements: [PredicateTerm]? {
    switch self {
    case .list(let terms): terms
    case .value(let value): value.value.array?.map { .value(ComparedValue(of: $0)) }
    case .null: nil
    }
  }

  var string: String? {
    if case .value(let value) = self { value.value.string } else { nil }
  }

  func text(_ folding: TextFolding) -> String? {
    if case .value(let value) = self { value.text(folding) } else { nil }
  }

  func isEqual(to other: PredicateTerm, _ folding: TextFolding) -> Bool {
    switch (self, other) {
    case (.null, .null): return true
    case (.value(let a), .value(let b)):
      if let order = a.order(b, folding) { return order == 0 }
      if case (.dict(let a), .dict(let b)) = (a.value, b.value) { return a == b }
    default: break
    }
    guard let elements, let others = other.elements, elements.count == others.count else { return false }
    return zip(elements, others).allSatisfy { $0.isEqual(to: $1, folding) }
  }

  /// -1, 0 or 1; `nil` if the two have no order.
  func order(_ other: PredicateTerm, _ folding: TextFolding) -> Int? {
    guard case (.value(let a), .value(let b)) = (self, other) else { return nil }
    return a.order(b, folding)
  }

  /// Whether the list has an element that equals `other`, or the text contains `other`.
  func contains(_ other: PredicateTerm, _ folding: TextFolding) -> Bool {
    if let elements { return elements.contains { $0.isEqual(to: other, folding) } }
    guard let text = text(folding), let part = other.text(folding) else { return false }
    return text.containsBytes(of: part)
  }
}

extension ComparedValue {
  fileprivate func order(_ other: ComparedValue, _ folding: TextFolding) -> Int? {
    switch (value, other.value) {
    case (.string, .string):
      guard let text = text(folding), let other = other.text(folding) else { return nil }
      return compareUTF8(text, other).signum()
    case (.date, .string): return other.date.flatMap { Self.order(value, .date($0)) }
    case (.string, .date): return date.flatMap { Self.order(.date($0), other.value) }
    default: return Self.order(Self.number(value), Self.number(other.value))
    }
  }

  /// A bool that is compared with a number counts as 0 or 1. Two bools keep the same order by this.
  private static func number(_ value: PlistValue) -> PlistValue {
    if case .bool(let isTrue) = value { .integer(isTrue ? 1 : 0) } else { value }
  }

  private static func order(_ left: PlistValue, _ right: PlistValue) -> Int? {
    let rank = ValueOrder.rank(left)
    guard rank == ValueOrder.rank(right), rank < ValueOrder.rank(.array([])) else { return nil }
    return ValueOrder.compare(left, right, text: .bytes)
  }
}
