import FileDBStorage

/// A write from beginning to end: this says in which order things happen until a commit is durable, as ``Checkpoint`` says it
/// for the tables' files.
enum Commit {
  static func run<Result>(
    in store: RecordStore, _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    let transaction = TransactionState(store: store)
    let (result, ticket) = try locked(store, with: transaction) {
      try store.log.prepare()
      defer { transaction.end() }
      let result = try transaction.join(body)  // Where it throws, nothing happened.
      let ticket = try append(transaction, to: store)  // A full disk leaves the journal as it was.
      return (result, ticket)
    }
    guard let ticket else { return result }
    // The commit point. Who writes meanwhile waits for the same sync or for the next.
    try store.closingAfterFailure { () throws(StoreError) in try store.log.sync(ticket) }
    store.checkpointWhenDue()
    return result
  }

  /// Runs `body` while nobody else writes to the store, in this process or another.
  static func locked<Result>(
    _ store: RecordStore, with transaction: TransactionState? = nil, timeout: Duration? = nil,
    _ body: () throws -> Result
  ) throws -> Result {
    try store.writers.enter(with: transaction) {
      guard !store.isClosed.load(ordering: .relaxed) else { throw StoreError.closed(store.folder.path) }
      let lock = try store.folder.lock(timeout: timeout ?? store.options.lockTimeout)
      defer { withExtendedLifetime(lock) {} }
      return try body()
    }
  }

  /// Runs `body` as ``run(in:_:)`` would, and forgets what it did: nothing is locked and nothing written.
  static func rehearse<Result>(
    in store: RecordStore, _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    let transaction = TransactionState(store: store)
    return try store.writers.enter(with: transaction) {
      try store.log.catchUp()
      defer { transaction.end() }
      let result = try transaction.join(body)
      let (changes, tables) = try transaction.commit()
      try store.log.rehearse(changes, tables: tables)
      return result
    }
  }

  private static func append(
    _ transaction: TransactionState, to store: RecordStore
  ) throws(StoreError) -> CommitTicket? {
    let (changes, tables) = try transaction.commit()
    guard !tables.isEmpty else { return nil }
    return try store.log.append(changes, tables: tables)
  }
}
