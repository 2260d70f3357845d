import FileDBStorage

/// A write from beginning to end. This is the only place that says in which order things become durable.
enum Commit {
  static func run<Result>(
    in store: RecordStore, _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    try store.writers.enter {
      let lock = try store.folder.lock(timeout: store.options.lockTimeout)
      defer { withExtendedLifetime(lock) {} }
      try store.sweep()

      var transaction = StoreTransaction(store: store)
      let result = try body(&transaction)

      let changed = transaction.changedTables()
      let encoded = try encode(changed, in: store)  // Any refusal comes before the first byte is written.
      let committed = try replace(encoded, in: store)  // Durable once this returns.
      store.published.withLock { $0.merge(committed) { $1 } }
      return result
    }
  }

  /// Runs `body` as ``run(in:_:)`` would, and forgets what it did: nothing is locked and nothing written.
  static func rehearse<Result>(
    in store: RecordStore, _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    try store.writers.enter {
      var transaction = StoreTransaction(store: store)
      let result = try body(&transaction)
      _ = try encode(transaction.changedTables(), in: store)
      return result
    }
  }

  /// A changed table and what its file is to hold; `nil` for a file that is to go.
  private struct EncodedTable {
    let key: TableKey
    let state: TableState
    let file: String
    let bytes: [UInt8]?
  }

  private static func encode(
    _ changed: [(table: TableKey, state: TableState)], in store: RecordStore
  ) throws(StoreError) -> [EncodedTable] {
    var encoded: [EncodedTable] = []
    for (key, state) in changed {
      let (file, _) = try store.folder.file(of: key.text)
      let bytes = state.exists ? TableFile.encode(state) : nil
      if let bytes, bytes.count > store.options.limits.fileBytes {
        throw StoreError(
          StoreError.unrepresentableValue,
          "the table would be longer than \(store.options.limits.fileBytes) bytes",
          file: file, table: key.text)
      }
      encoded.append(EncodedTable(key: key, state: state, file: file, bytes: bytes))
    }
    return encoded
  }

  /// Writes every draft before the first one takes its file's name: a full disk leaves all files as they were.
  private static func replace(
    _ tables: [EncodedTable], in store: RecordStore
  ) throws(StoreError) -> [TableKey: PublishedTable] {
    let disk = store.folder.disk
    return try onDisk { () throws(DiskError) in
      var staged: [StagedFile] = []
      do throws(DiskError) {
        for table in tables {
          if let bytes = table.bytes { staged.append(try disk.stage(bytes, for: table.file)) }
        }
      } catch {
        disk.discard(staged)
        throw error
      }
      var stamps = try disk.install(staged)[...]

      var isSyncNeeded = false
      for table in tables where table.bytes == nil {
        guard try disk.status(table.file) != nil else { continue }
        try disk.remove(table.file)
        isSyncNeeded = true
      }
      if isSyncNeeded { try disk.syncFolder(store.folder.path) }

      var committed: [TableKey: PublishedTable] = [:]
      for table in tables {
        var state = table.state
        state.index()
        let stamp = table.bytes == nil ? nil : stamps.popFirst()
        committed[table.key] = PublishedTable(state: state, file: table.file, stamp: stamp)
      }
      return committed
    }
  }
}
