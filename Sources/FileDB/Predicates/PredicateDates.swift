import FileDBPlist

/// Finds comparisons of dates with texts that can never be true.
extension RecordPredicate {
  /// Throws if the predicate compares dates in a way that no record can match.
  ///
  /// There are two such mistakes: to compare a field of dates with a text that is not a date, such as `due < 'soon'` or
  /// `due < '2026-4-1'`, and to search for text in a date, such as `due BEGINSWITH '2026'`. Both are false for every
  /// record, so it looks as if no record matched.
  ///
  /// A predicate alone does not know what a field holds. If your users write predicates, call this method before you
  /// show the result. It accepts every comparison of a field that also has values other than dates.
  /// - Throws: ``StoreError/Code/invalidPredicate``.
  /// - Complexity: O(*n*) if the predicate compares a field with a text, else O(1).
  public func checkDates<Value>(in snapshot: TableSnapshot<Value>) throws {
    for (path, text) in node.undatedTexts where snapshot.hasOnlyDates(at: path) {
      throw StoreError(
        .invalidPredicate,
        "'\(path)' is a date and cannot be compared with '\(text)'; write '2026-01-31', and compare with <, = or >",
        table: snapshot.table)
    }
  }
}

extension TableSnapshot {
  fileprivate func hasOnlyDates(at path: PredicatePath) -> Bool {
    let form = ValueForm(Value.self)
    let fields = form.makeFields()
    var hasDate = false
    var records = state.records.makeIterator()
    while let record = records.next() {
      let value = fields.read(form.newestOrStored(record)) {
        path.value(in: PredicateRecord(id: record.id, fields: fields))
      }
      switch value {
      case nil: continue
      case .date?: hasDate = true
      default: return false
      }
    }
    return hasDate
  }
}

extension PredicateNode {
  /// The texts that are not dates, each with the path that it is compared with.
  fileprivate var undatedTexts: [(PredicatePath, String)] {
    switch self {
    case .constant: []
    case .not(let node): node.undatedTexts
    case .and(let nodes), .or(let nodes): nodes.flatMap(\.undatedTexts)
    case .comparison(let comparison): comparison.undatedTexts
    }
  }
}

extension PredicateComparison {
  fileprivate var undatedTexts: [(PredicatePath, String)] {
    let texts: [String]
    switch test {
    case .relation(_, .path(let path)): return left.undatedTexts.map { (path, $0) }
    case .relation(_, let right), .isIn(let right): texts = right.undatedTexts
    case .between(let low, let high): texts = low.undatedTexts + high.undatedTexts
    case .contains(let right), .beginsWith(let right), .endsWith(let right):
      texts = right.text.map { [$0] } ?? []
    case .like(let pattern): texts = [pattern.text]
    case .matches(let pattern): texts = [pattern.text]
    }
    guard case .path(let path) = left else { return [] }
    return texts.map { (path, $0) }
  }
}

extension PredicateOperand {
  fileprivate var undatedTexts: [String] {
    switch self {
    case .constant(let term): term.undatedTexts
    case .list(let operands): operands.flatMap(\.undatedTexts)
    case .path, .calculation: []
    }
  }
}

extension PredicateTerm {
  fileprivate var undatedTexts: [String] {
    switch self {
    case .null: []
    case .value(let value): value.date == nil ? value.value.string.map { [$0] } ?? [] : []
    case .list(let terms): terms.flatMap(\.undatedTexts)
    }
  }
}
