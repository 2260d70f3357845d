import FileDBTables

/// Where a record that a transaction writes comes from: a place in an imported file.
package struct RecordOrigin: Sendable {
  package let file: String
  /// The line in the file; `nil` if the file is not read by lines.
  package let line: Int?
  /// The place in the file, in words.
  package let text: String

  package init(file: String, line: Int?, text: String) {
    (self.file, self.line, self.text) = (file, line, text)
  }
}

/// A rule may turn out to be broken only at the end of the transaction. The error must then still say where the record
/// came from.
extension StoreTransaction {
  /// Tells where records come from, for errors at the transaction's end.
  /// - Parameter find: called for the records that break a rule.
  package func addOrigins(of table: String, _ find: @escaping (AnyRecordID) -> RecordOrigin?) {
    state.recordOrigins[TableKey(table), default: []].append(find)
  }

  /// The number of changes so far.
  package var changeCount: Int { state.changeCount }

  /// Does now what is otherwise done before the commit: carries out what deletions do to references, and checks the
  /// rules.
  /// - Throws: as `RecordStore.write(_:)` for what a schema does not allow.
  package func keepRules() throws(StoreError) { try state.keepRules() }

  /// Carries out what the deletions so far do to records that refer to deleted ones.
  package func allConsequences() throws(StoreError) -> [Consequence] {
    try state.keepRules()
    return state.consequences
  }

  /// The change that caused an error: its number, from 0, and the number of the record in it.
  /// - Complexity: O(*n*) in the changes and their records.
  package func change(of error: StoreError) -> (number: Int, record: Int)? {
    let table = error.table.map(TableKey.init)
    var numbered: [(Int, AppliedChange)] = []
    var number = 0
    for (other, changes) in state.inOrder {
      if other == table { numbered += zip(number..., changes) }
      number += changes.count
    }
    func last(_ place: (AppliedChange) -> Int?) -> (number: Int, record: Int)? {
      for (number, change) in numbered.reversed() {
        if let record = place(change) { return (number, record) }
      }
      return nil
    }
    // Otherwise, a new rule is broken by a record that was there before.
    return last { $0.place(of: error.record, changing: error.field) } ?? last { $0.declares ? 0 : nil }
      ?? last { $0.place(of: error.record, changing: nil) } ?? last { _ in 0 }
  }
}

extension TransactionState {
  func origin(of record: AnyRecordID, in table: TableKey) -> RecordOrigin? {
    for find in recordOrigins[table, default: []].reversed() {
      if let origin = find(record) { return origin }
    }
    return nil
  }
}

extension AppliedChange {
  fileprivate var declares: Bool { if case .declare = change { true } else { false } }

  /// The number of this record among those that the change writes or removes; `nil` if it is not among them.
  /// - Parameter field: a field that must have changed; `nil` for any.
  fileprivate func place(of record: AnyRecordID?, changing field: String?) -> Int? {
    switch change {
    case .insert(let records, _): return records.firstIndex { $0.id == record }
    case .replace(let new):
      guard new.id == record else { return nil }
      guard let field, case .records(let former) = found, let old = former.first?.record else { return 0 }
      return old.field(field) == new.field(field) ? nil : 0
    case .remove(let ids): return ids.firstIndex { $0 == record }
    case .removeAll, .truncate, .drop: return record == nil ? nil : 0
    case .create, .move, .reorder, .raiseCounter, .declare: return nil
    }
  }
}
