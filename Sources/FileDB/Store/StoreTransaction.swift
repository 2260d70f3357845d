import FileDBPlist

/// The verbs of a write, for all tables of the store. ``RecordStore/write(_:)`` passes it to its body, and it cannot
/// outlive the body.
public struct StoreTransaction: ~Copyable {
  let state: TransactionState

  /// The records of a table as this transaction has changed them so far.
  /// - Throws: as ``RecordStore/table(_:)-(TableName<_>)``.
  public func snapshot<Value>(of table: TableName<Value>) throws -> TableSnapshot<Value> {
    TableSnapshot(source: state.source(of: table.text), state: try state.table(table.text))
  }
}
