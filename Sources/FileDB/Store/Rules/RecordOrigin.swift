import FileDBTables

/// Where a record comes from that a transaction writes: a file that is imported.
package struct RecordOrigin: Sendable {
  package let file: String
  /// Of the file; `nil` if that is not read by lines.
  package let line: Int?
  /// Where in the file it is, for people.
  package let text: String

  package init(file: String, line: Int?, text: String) {
    (self.file, self.line, self.text) = (file, line, text)
  }
}

/// A rule may be found to be broken when all is done. Then it must still be known who wrote the record.
extension StoreTransaction {
  /// Remembers where records come from, for errors at the transaction's end.
  /// - Parameter find: called for the records with which something is wrong.
  package func noteOrigins(of table: String, _ find: @escaping (AnyRecordID) -> RecordOrigin?) {
    state.recordOrigins[TableKey(table), default: []].append(find)
  }

  /// How many changes were made so far.
  package var changeCount: Int { state.changeCount }

  /// Does at once what is done before the transaction is committed: carries out what deletions do to references, and
  /// checks the rules.
  /// - Throws: as `RecordStore.write(_:)` for what a schema does not allow.
  package func keepRules() throws(StoreError) { try state.keepRules() }

  /// Which change an error is about: its number, from 0, and which of the records in it.
  /// - Complexity: O(*n*) in the changes and their records.
  package func change(of error: StoreError) -> (number: Int, record: Int)? {
    let table = error.table.map(TableKey.init)
    let changes = state.inOrder.enumerated().reversed().filter { $0.element.table == table }
    func last(_ place: (AppliedChange) -> Int?) -> (number: Int, record: Int)? {
      for (number, change) in changes { if let record = place(change.applied) { return (number, record) } }
      return nil
    }
    // A record that was there before may not keep a new rule.
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

  /// Which of the records that it writes or removes this one is; `nil` if it is none of them.
  /// - Parameter field: one that must have been changed; `nil` for any.
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
