import FileDBPlist

/// A write in progress, on all tables of the store. `RecordStore.write(_:)` passes it to its body, and it cannot
/// outlive the body.
///
///     try store.write { tx in
///       let id = try tx[.notes].add(note)
///       try tx[.tags].add(Tag(note: id))
///     }
public struct StoreTransaction: ~Copyable {
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
    get throws { try state.recordTable(name) }
  }

  /// The table with this name, without a Swift type for its records: you read them field by field. See
  /// ``subscript(_:)->RecordTable<Value>``.
  public subscript(name: String) -> RecordTable<Fields> {
    get throws { try self[.records(name)] }
  }
}
