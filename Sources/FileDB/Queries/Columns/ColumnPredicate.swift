import FileDBEssentials
import FileDBPlist
import FileDBTables

/// A predicate that only compares fields of records with constants. It is evaluated with columns, for all records of a
/// chunk at once.
struct ColumnPredicate: Sendable {
  /// The fields that the predicate needs.
  let fields: [FieldReference]
  private let node: PredicateNode

  /// - Returns: `nil` for a predicate that needs more than this.
  init?(_ predicate: RecordPredicate) {
    var fields: [FieldReference] = []
    for comparison in predicate.node.comparisons {
      guard let field = comparison.columnTest?.field else { return nil }
      if !fields.contains(field) { fields.append(field) }
    }
    (node, self.fields) = (predicate.node, fields)
  }

  /// The matching records of a chunk.
  func matches(_ records: [EncodedRecord], _ values: [ChunkValues]) -> [EncodedRecord] {
    var selection = [Bool](repeating: true, count: records.count)
    let chunk = ColumnChunk(records: records, fields: fields, values: values)
    chunk.narrow(&selection, by: node)
    var found: [EncodedRecord] = []
    for index in records.indices where selection[index] { found.append(records[index]) }
    return found
  }
}

extension PredicateComparison {
  /// `nil` unless it compares a field, or the id, with constants.
  fileprivate var columnTest: (field: FieldReference, test: CellTest)? {
    guard quantifier == nil, case .path(let path) = left, path.steps.isEmpty, let test = constantTest
    else { return nil }
    return (path.root.reference, test)
  }
}

/// A chunk with the values of some fields.
private struct ColumnChunk {
  let records: [EncodedRecord]
  let fields: [FieldReference]
  let values: [ChunkValues]

  /// Removes from the selection the records that do not match. It tests only records that are still selected.
  func narrow(_ selection: inout [Bool], by node: PredicateNode) {
    switch node {
    case .constant(let value): if !value { selection.exclude(selection) }
    case .not(let node):
      var matches = selection
      narrow(&matches, by: node)
      selection.exclude(matches)
    case .and(let nodes):
      for node in nodes where selection.contains(true) { narrow(&selection, by: node) }
    case .or(let nodes):
      var others = selection
      for node in nodes where others.contains(true) {
        var matches = others
        narrow(&matches, by: node)
        others.exclude(matches)
      }
      selection.exclude(others)
    case .comparison(let comparison): narrow(&selection, by: comparison)
    }
  }

  private func narrow(_ selection: inout [Bool], by comparison: PredicateComparison) {
    guard let (field, test) = comparison.columnTest, let place = fields.firstIndex(of: field) else {
      preconditionFailure("this was checked when the predicate was made")
    }
    let column: ChunkColumn? =
      switch values[place] {
      case .id: ChunkColumn(idsOf: records)
      case .column(let column, _): column
      case .values: nil
      }
    if let column, column.narrow(&selection, by: test) { return }
    let folding = comparison.folding
    for (index, record) in records.enumerated() where selection[index] {
      selection[index] =
        column?.withCell(index, of: record, folding) { test.isTrue(of: $0, folding) }
        ?? PredicateTerm(of: values[place].value(index, of: record))
        .withCell(folding) { test.isTrue(of: $0, folding) }
    }
  }
}

extension [Bool] {
  fileprivate mutating func exclude(_ others: [Bool]) {
    for index in indices where others[index] { self[index] = false }
  }
}

extension ChunkColumn {
  /// - Returns: `nil` for a value that must be read from the record.
  fileprivate func withCell<Result>(
    _ index: Int, of record: EncodedRecord, _ folding: TextFolding, _ body: (ComparedCell) -> Result
  ) -> Result? {
    switch kind(index) {
    case .other: nil
    case .text: record.withBytes(text(index)) { folding.withFolded($0) { body(.text($0, date: nil)) } }
    case .missing, .false, .true, .integer, .real, .date:
      body(value(index, of: nil, in: record).map(ComparedCell.value) ?? .null)
    }
  }

  /// The same for a chunk that has only integers, only reals or only dates. Several of them are compared at a time.
  /// - Returns: whether that is possible.
  fileprivate func narrow(_ selection: inout [Bool], by test: CellTest) -> Bool {
    switch commonKind {
    case .integer: narrow(&selection, test.bounds(\.value.integer)) { Int64(bitPattern: $0) }
    case .real: narrow(&selection, test.bounds(\.orderedReal)) { Double(bitPattern: $0) }
    case .date: narrow(&selection, test.bounds(\.seconds)) { Double(bitPattern: $0) }
    default: false
    }
  }

  @inline(__always)
  private func narrow<Number: Comparable>(
    _ selection: inout [Bool], _ bounds: [(verdict: Verdict, number: Number)]?, _ number: (UInt64) -> Number
  ) -> Bool {
    guard let bounds else { return false }
    for bound in bounds { narrow(&selection, bound.verdict, bound.number, number) }
    return true
  }

  @inline(__always)
  private func narrow<Number: Comparable>(
    _ selection: inout [Bool], _ verdict: Verdict, _ constant: Number, _ number: (UInt64) -> Number
  ) {
    words.withUnsafeBufferPointer { words in
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

extension CellTest {
  /// The comparisons with numbers that it consists of; all must be true. `nil` if it is another test.
  fileprivate func bounds<Number>(
    _ number: (ComparedValue) -> Number?
  ) -> [(verdict: Verdict, number: Number)]? {
    func bound(_ relation: PredicateComparator, _ term: PredicateTerm) -> (Verdict, Number)? {
      guard case .value(let value) = term else { return nil }
      return number(value).map { (Verdict(relation), $0) }
    }
    if comparator.isRelation { return bound(comparator, right).map { [$0] } }
    guard comparator == .between, let (low, high) = bounds, let low = bound(.greaterOrEqual, low),
      let high = bound(.lessOrEqual, high)
    else { return nil }
    return [low, high]
  }
}

extension ComparedValue {
  fileprivate var orderedReal: Double? { value.real.flatMap { $0.isNaN ? nil : $0 } }
  fileprivate var seconds: Double? { (value.date ?? date)?.timeIntervalSinceReferenceDate }
}
