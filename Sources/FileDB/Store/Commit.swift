import FileDBStorage

/// A write from beginning to end. This is the only place that says in which order things become durable.
enum Commit {
  static func run<Result>(
    in store: RecordStore, _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    try store.writers.enter {
      let lock = try store.folder.lock(timeout: store.options.lockTimeout)
      defer { withExtendedLifetime(lock) {} }
      try store.folder.sweep()
      try store.refreshPublished()

      var transaction = StoreTransaction(store: store)
      let result = try body(&transaction)

      for (table, state) in transaction.changedTables() {
        let committed = try replaceFile(of: table, with: state, in: store)  // Durable once this returns.
        store.published.withLock { $0[table] = committed }
      }
      return result
    }
  }

  /// Runs `body` as ``run(in:_:)`` would, and forgets what it did: nothing is locked and nothing written.
  static func rehearse<Result>(
    in store: RecordStore, _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    try store.writers.enter {
      try store.refreshPublished()
      var transaction = StoreTransaction(store: store)
      return try body(&transaction)
    }
  }

  private static func replaceFile(
    of table: String, with state: TableState, in store: RecordStore
  ) throws(StoreError) -> PublishedTable {
    let (file, status) = try store.folder.file(of: table)
    let disk = store.folder.disk
    guard state.exists else {
      if status != nil {
        try onDisk { () throws(DiskError) in
          try disk.remove(file)
          try disk.syncFolder(store.folder.path)
        }
      }
      return PublishedTable(state: state, file: file, stamp: nil)
    }
    let bytes = TableFile.encode(state)
    guard bytes.count <= store.options.limits.fileBytes else {
      throw StoreError(
        StoreError.unrepresentableValue,
        "the table would be longer than \(store.options.limits.fileBytes) bytes", file: file, table: table)
    }
    do {
      let stamp = try disk.replace(file, with: bytes)
      var indexed = state
      indexed.index()
      return PublishedTable(state: indexed, file: file, stamp: stamp)
    } catch {
      throw StoreError(error).adding(table: table)
    }
  }
}
