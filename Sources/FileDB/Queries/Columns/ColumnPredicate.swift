import FileDBPlist
import FileDBTables

/// A predicate that only compares fields of records with constants. It is evaluated with columns, for all records of a
/// chunk at once.
struct ColumnPredicate: Sendable {
  fileprivate indirect enum Node: Sendable {
    case constant(Bool)
    case not(Node)
    case and([Node])
    case or([Node])
    case test(FieldTest)
  }

  /// The fields whose columns the predicate needs.
  let fields: [FieldName]
  private let root: Node

  /// - Returns: `nil` for a predicate that needs more than this.
  init?(_ predicate: RecordPredicate) {
    var fields: [FieldName] = []
    guard let root = Node(predicate.node, &fields) else { return nil }
    (self.root, self.fields) = (root, fields)
  }

  /// The matching records of a chunk.
  func matches(_ records: [EncodedRecord], _ columns: [ChunkColumn]) throws(StoreError) -> [EncodedRecord] {
    var selection = [Bool](repeating: true, count: records.count)
    try root.narrow(&selection, ChunkColumns(records: records, columns: columns))
    var found: [EncodedRecord] = []
    for index in records.indices where selection[index] { found.append(records[index]) }
    return found
  }
}

/// A chunk with its columns.
private struct ChunkColumns {
  let records: [EncodedRecord]
  let columns: [ChunkColumn]
}

extension ColumnPredicate.Node {
  fileprivate init?(_ node: PredicateNode, _ fields: inout [FieldName]) {
    switch node {
    case .constant(let value): self = .constant(value)
    case .not(let node):
      guard let node = Self(node, &fields) else { return nil }
      self = .not(node)
    case .and(let nodes):
      guard let nodes = Self.all(nodes, &fields) else { return nil }
      self = .and(nodes)
    case .or(let nodes):
      guard let nodes = Self.all(nodes, &fields) else { return nil }
      self = .or(nodes)
    case .comparison(let comparison):
      guard let test = FieldTest(comparison, &fields) else { return nil }
      self = .test(test)
    }
  }

  private static func all(_ nodes: [PredicateNode], _ fields: inout [FieldName]) -> [Self]? {
    var all: [Self] = []
    for node in nodes {
      guard let node = Self(node, &fields) else { return nil }
      all.append(node)
    }
    return all
  }

  /// Removes from the selection the records that do not match. It tests only records that are still selected.
  fileprivate func narrow(_ selection: inout [Bool], _ chunk: ChunkColumns) throws(StoreError) {
    switch self {
    case .constant(let value): if !value { selection.exclude(selection) }
    case .not(let node):
      var matches = selection
      try node.narrow(&matches, chunk)
      selection.exclude(matches)
    case .and(let nodes):
      for node in nodes where selection.contains(true) { try node.narrow(&selection, chunk) }
    case .or(let nodes):
      var others = selection
      for node in nodes where others.contains(true) {
        var matches = others
        try node.narrow(&matches, chunk)
        others.exclude(matches)
      }
      selection.exclude(others)
    case .test(let test): try test.narrow(&selection, chunk)
    }
  }
}

extension [Bool] {
  fileprivate mutating func exclude(_ others: [Bool]) {
    for index in indices where others[index] { self[index] = false }
  }
}

/// The comparison of one field with constants.
private struct FieldTest: Sendable {
  private enum Question: Sendable {
    /// All of these must be true.
    case ordered([(constant: ColumnConstant, verdict: Verdict)])
    case isAny([ColumnConstant])
    case text(TextTest)
    case isTrue
  }

  /// For values that columns do not contain.
  private let comparison: PredicateComparison
  /// `nil` for the id.
  private let column: Int?
  private let question: Question

  init?(_ comparison: PredicateComparison, _ fields: inout [FieldName]) {
    guard comparison.quantifier == nil, case .path(let path) = comparison.left, path.steps.isEmpty,
      let question = Self.question(comparison.test, comparison.folding)
    else { return nil }
    self.comparison = comparison
    self.question = question
    switch path.root {
    case .id, .recordID: column = nil
    case .field(let name):
      // Each record has this key, but it is not a field.
      guard name != FieldName(TableFile.idKey) else { return nil }
      if !fields.contains(name) { fields.append(name) }
      column = fields.firstIndex(of: name)
    }
  }

  private static func question(_ test: PredicateComparison.Test, _ folding: TextFolding) -> Question? {
    switch test {
    case .relation(let relation, .constant(let term)):
      // NULL has no order.
      guard let constant = ColumnConstant(term, folding),
        !constant.isNull || relation == .equal || relation == .notEqual
      else { return nil }
      return .ordered([(constant, Verdict(relation))])
    case .between(.constant(let low), .constant(let high)):
      guard let low = ColumnConstant(low, folding), let high = ColumnConstant(high, folding),
        !low.isNull, !high.isNull
      else { return nil }
      return .ordered([(low, Verdict(.greaterOrEqual)), (high, Verdict(.lessOrEqual))])
    case .isIn(.constant(.list(let terms))):
      let constants = terms.compactMap { ColumnConstant($0, folding) }
      return constants.count == terms.count ? .isAny(constants) : nil
    case .contains(.constant(let term)): return term.textBytes(folding).map { .text(.contains($0)) }
    case .beginsWith(.constant(let term)): return term.textBytes(folding).map { .text(.beginsWith($0)) }
    case .endsWith(.constant(let term)): return term.textBytes(folding).map { .text(.endsWith($0)) }
    case .like(let pattern): return .text(.like(pattern))
    case .isTrue: return .isTrue
    case .relation, .between, .isIn, .contains, .beginsWith, .endsWith, .matches: return nil
    }
  }

  func narrow(_ selection: inout [Bool], _ chunk: ChunkColumns) throws(StoreError) {
    let values = column.map { chunk.columns[$0] } ?? ChunkColumn(idsOf: chunk.records)
    if narrowByNumbers(&selection, values) { return }
    var fields: RecordFields?
    for index in selection.indices where selection[index] {
      selection[index] = try isTrue(values, index, chunk.records[index], &fields)
    }
  }

  private func isTrue(
    _ values: ChunkColumn, _ index: Int, _ record: EncodedRecord, _ reader: inout RecordFields?
  ) throws(StoreError) -> Bool {
    let kind = values.kind(index)
    if kind == .other {
      let fields = reader ?? RecordFields()
      reader = fields
      return try fields.read(record) { () throws(StoreError) in
        try comparison.isTrue(of: PredicateRecord(id: record.id, fields: fields))
      }
    }
    switch question {
    case .ordered(let conditions):
      return conditions.allSatisfy { $0.verdict($0.constant.order(values, index, record)) }
    case .isAny(let constants): return constants.contains { $0.order(values, index, record) == 0 }
    case .isTrue: return kind == .true
    case .text(let test):
      return kind == .text
        && record.withFolded(values.text(index), comparison.folding) { test.isTrue(of: $0) }
    }
  }

  /// The same for a chunk that has only integers or only reals. Several of them are compared at a time.
  private func narrowByNumbers(_ selection: inout [Bool], _ values: ChunkColumn) -> Bool {
    guard case .ordered(let conditions) = question else { return false }
    switch values.commonKind {
    case .integer where conditions.allSatisfy({ $0.constant.integer != nil }):
      for (constant, verdict) in conditions {
        guard let constant = constant.integer else { continue }
        values.narrow(&selection, verdict, constant) { Int64(bitPattern: $0) }
      }
    case .real where conditions.allSatisfy({ $0.constant.real != nil }):
      for (constant, verdict) in conditions {
        guard let constant = constant.real else { continue }
        values.narrow(&selection, verdict, constant) { Double(bitPattern: $0) }
      }
    default: return false
    }
    return true
  }
}

extension ChunkColumn {
  @inline(__always)
  fileprivate func narrow<Number: Comparable>(
    _ selection: inout [Bool], _ verdict: Verdict, _ constant: Number, _ number: (UInt64) -> Number
  ) {
    withWords { words in
      selection.withUnsafeMutableBufferPointer { selection in
        for index in 0..<min(words.count, selection.count) {
          let value = number(words[index])
          // A value that is neither less nor equal comes after all others, as nan does.
          let isTrue = value < constant ? verdict.less : value == constant ? verdict.equal : verdict.greater
          selection[index] = selection[index] && isTrue
        }
      }
    }
  }
}

extension PredicateTerm {
  fileprivate func textBytes(_ folding: TextFolding) -> [UInt8]? { text(folding).map { Array($0.utf8) } }
}
