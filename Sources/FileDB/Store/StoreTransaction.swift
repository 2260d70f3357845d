import FileDBPlist

/// A write in progress, on all tables of the store. ``RecordStore/write(_:)`` passes it to its body, and it cannot outlive the
/// body.
///
///     try store.write { tx in
///       let id = try tx[.notes].add(note)
///       try tx[.tags].add(Tag(note: id))
///     }
public struct StoreTransaction: ~Copyable {
  let state: TransactionState

  /// A table. On the thread of the write's body, its verbs are a part of the transaction.
  ///
  /// What is wrong with the table's file is thrown by the first verb, as ``RecordStore/table(_:)-(TableName<_>)`` throws it.
  /// - Throws: ``StoreError/closed`` if the write has returned.
  /// - Complexity: O(1).
  public subscript<Value>(name: TableName<Value>) -> RecordTable<Value> {
    get throws(StoreError) { try state.recordTable(name) }
  }

  /// A table with records that are read field by field; see ``subscript(_:)-(TableName<_>)``.
  public subscript(name: String) -> RecordTable<Fields> {
    get throws(StoreError) { try self[.records(name)] }
  }
}
