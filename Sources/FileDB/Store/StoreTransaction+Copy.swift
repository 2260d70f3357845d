import FileDBTables

extension StoreTransaction {
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
