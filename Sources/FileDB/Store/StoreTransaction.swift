import FileDBPlist

/// The verbs of a write, over any tables of the store. Handed to the body of ``RecordStore/write(_:)``, which it cannot
/// outlive.
public struct StoreTransaction: ~Copyable {
  let state: TransactionState

  /// The records of a table as this transaction has them by now.
  /// - Throws: as ``RecordStore/table(_:)-(TableName<_>)``.
  public func snapshot<Value>(of table: TableName<Value>) throws -> TableSnapshot<Value> {
    TableSnapshot(source: state.source(of: table.text), state: try state.table(table.text))
  }
}
