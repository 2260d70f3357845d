import FileDBStorage

/// A write from beginning to end. This is the only place that says in which order things become durable.
enum Commit {
  static func run<Result>(
    in store: RecordStore, _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    let transaction = TransactionState(store: store)
    return try locked(store, with: transaction) {
      let result = try transaction.join(body)
      let encoded = try encode(transaction.changedTables, in: store)  // Any refusal comes before the first byte is written.
      let staged = try stage(encoded, on: store.folder.disk)  // A full disk leaves all files as they were.
      let committed = try install(encoded, staged, in: store)  // Durable once this returns.
      store.published.withLock { $0.merge(committed) { $1 } }
      return result
    }
  }

  /// Runs `body` while nobody else writes to the store, in this process or another.
  static func locked<Result>(
    _ store: RecordStore, with transaction: TransactionState? = nil, _ body: () throws -> Result
  ) throws -> Result {
    try store.writers.enter(with: transaction) {
      guard !store.isClosed.load(ordering: .relaxed) else {
        throw StoreError.closedAfterFailedSync(store.folder.path)
      }
      let lock = try store.folder.lock(timeout: store.options.lockTimeout)
      defer { withExtendedLifetime(lock) {} }
      try store.sweep()
      return try body()
    }
  }

  /// Runs `body` as ``run(in:_:)`` would, and forgets what it did: nothing is locked and nothing written.
  static func rehearse<Result>(
    in store: RecordStore, _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    let transaction = TransactionState(store: store)
    return try store.writers.enter(with: transaction) {
      let result = try transaction.join(body)
      _ = try encode(transaction.changedTables, in: store)
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

  /// Writes every draft before the first one takes its file's name.
  private static func stage(_ tables: [EncodedTable], on disk: any Disk) throws(StoreError) -> [StagedFile] {
    let staged = try stageAll(tables, on: disk)
    guard Set(staged.map { TableKey($0.target) }).count == staged.count else {
      disk.discard(staged)
      throw StoreError(StoreError.ambiguousTable, "links make two tables of this transaction one file")
    }
    return staged
  }

  private static func stageAll(_ tables: [EncodedTable], on disk: any Disk) throws(StoreError) -> [StagedFile]
  {
    try onDisk { () throws(DiskError) in
      var staged: [StagedFile] = []
      do throws(DiskError) {
        for table in tables {
          if let bytes = table.bytes { staged.append(try disk.stage(bytes, for: table.file)) }
        }
        return staged
      } catch {
        disk.discard(staged)
        throw error
      }
    }
  }

  private static func install(
    _ tables: [EncodedTable], _ staged: [StagedFile], in store: RecordStore
  ) throws(StoreError) -> [TableKey: PublishedTable] {
    let disk = store.folder.disk
    var folders: Set<String> = []
    try onDisk { () throws(DiskError) in
      folders = try disk.install(staged)
      for table in tables where table.bytes == nil {
        guard try disk.status(table.file) != nil else { continue }
        try disk.remove(table.file)
        folders.insert(store.folder.path)
      }
    }
    do throws(DiskError) {
      for folder in folders.sorted() { try disk.syncFolder(folder) }  // The commit point.
    } catch {
      store.isClosed.store(true, ordering: .relaxed)
      throw StoreError.outcomeUnknown(error)
    }
    // It is done; a file whose stamp cannot be had is read again next time.
    var stamps = (try? disk.stamps(of: staged))?[...]
    var committed: [TableKey: PublishedTable] = [:]
    for table in tables {
      var state = table.state
      state.index()
      let stamp = table.bytes == nil ? nil : stamps?.popFirst()
      committed[table.key] = PublishedTable(state: state, file: table.file, stamp: stamp)
    }
    return committed
  }
}
