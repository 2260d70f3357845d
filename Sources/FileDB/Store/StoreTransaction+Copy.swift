import FileDBTables

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
