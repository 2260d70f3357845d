import FileDBPlist
import FileDBTables

/// A write in progress, on all tables of the store. `RecordStore.write(_:)` passes it to its body, and it cannot
/// outlive the body.
///
///     try store.write { tx in
///       let id = try tx[.notes].add(note)
///       try tx[.tags].add(Tag(note: id))
///     }
public struct StoreTransaction: ~Copyable {
  let store: RecordStore
  let state: TransactionState

  /// The table with this name, as `RecordStore.table(_:)` returns it. It need not exist yet.
  ///
  /// On the thread of the body, its verbs are part of the transaction, and what you read includes the changes made so
  /// far. If you keep it after the write, it is an ordinary table.
  /// - Throws: as `RecordStore.table(_:)`. ``StoreError/Code/closed`` if this transaction was swapped for that of a
  ///   write that has returned.
  /// - Complexity: O(1) once the transaction has used the table.
  // Else a literal name and a dictionary of one type would make a table of dictionaries.
  @_disfavoredOverload
  public subscript<Value>(name: TableName<Value>) -> RecordTable<Value> {
    get throws {
      try state.touch(TableKey(name.text))  // A table of the store has been read already.
      return RecordTable(store: store, name: name)
    }
  }

  /// The table with this name, without a Swift type for its records: you read them field by field. See
  /// ``subscript(_:)->RecordTable<Value>``.
  public subscript(name: String) -> RecordTable<Fields> {
    get throws { try self[.records(name)] }
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

extension RecordStore {
  /// The counters of dropped tables. If such a table is created again, it continues with the next id.
  package var droppedCounters: [String: Int64] {
    get throws {
      var counters: [String: Int64] = [:]
      for table in try log.droppedTables() {
        let state = try current(table)
        if !state.exists, state.counter > 0 { counters[table.text] = state.counter }
      }
      return counters
    }
  }
}

extension StoreTransaction {
  /// Keeps the counter of a table that was dropped in another store.
  package mutating func keepCounter(_ counter: Int64, ofDropped table: String) throws {
    try state.apply(.create, to: table)
    try state.apply(.raiseCounter(to: counter), to: table)
    try state.apply(.drop, to: table)
  }

  /// Creates a table as it is in another store, with its ids, order, counter and schema.
  /// - Returns: the other programs' keys in the root of its file. A commit cannot contain them.
  /// - Throws: ``StoreError/Code/tableExists``.
  package mutating func make(_ table: TableSnapshot<Fields>) throws -> [String] {
    let (name, original) = (table.table, table.state)
    // The records stay as they are, even if they break rules.
    state.restored[TableKey(name)] = Dictionary(
      original.records.lazy.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    try state.apply(.create, to: name)
    try state.apply(.insert(Array(original.records), index: 0), to: name)
    try state.apply(.raiseCounter(to: original.counter), to: name)
    if let schema = original.schemaValue { try state.apply(.declare(schema), to: name) }
    return original.foreignKeys.keys.filter { $0 != TableFile.schemaKey }
  }
}
