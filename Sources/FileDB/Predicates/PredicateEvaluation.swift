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
    if let constantTest { return left.withCell(folding) { constantTest.isTrue(of: $0, folding) } }
    if let pattern { return try left.string.map(pattern.matches) ?? false }
    let test = CellTest(comparator, right.term(of: record), folding)
    return left.withCell(folding) { test.isTrue(of: $0, folding) }
  }
}

extension PredicateOperand {
  /// - Parameter record: `nil` for an operand without fields.
  func term(of record: PredicateRecord?) -> PredicateTerm {
    switch self {
    case .constant(let term): term
    case .path(let path): PredicateTerm(of: record.flatMap(path.value))
    case .list(let operands): .list(operands.map { $0.term(of: record) })
    case .calculation(let calculation): PredicateTerm(of: calculation.value(of: record))
    case .call(let call): PredicateTerm(of: call.value(of: record))
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
  init(of found: PlistValue?) { self = found.map { .value(ComparedValue(of: $0)) } ?? .null }

  var elements: [PredicateTerm]? {
    switch self {
    case .list(let terms): terms
    case .value(let value): value.value.array?.map { .value(ComparedValue(of: $0)) }
    case .null: nil
    }
  }

  var string: String? { plainValue?.string }
}
