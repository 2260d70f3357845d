import Dispatch
import FileDBEssentials

extension RecordStore {
  /// Opens the store in the folder at `url`, like ``init(at:options:)``, without blocking the caller's thread.
  /// - Throws: as ``init(at:options:)``.
  public static func open(
    at url: URL, options: StoreOptions = StoreOptions()
  ) async throws -> RecordStore {
    try await Self.run(on: .global()) { try RecordStore(at: url, options: options) }
  }

  /// Runs `body` as one transaction, like the synchronous `write`, without blocking the caller's thread.
  ///
  /// Bodies run one after another, on the store's own thread and not on your actor. So a body is `@Sendable`: copy what
  /// it needs into constants, and return what you need. In the body, call the synchronous methods.
  ///
  /// Each body is a transaction of its own: if it throws, only its own changes are undone. Writes that wait at the same
  /// time go to the disk together, as one commit. So a body must not wait for another write.
  ///
  /// If the task is cancelled before `body` begins, this throws `CancellationError` at once, and nothing is written.
  /// Later, cancelling has no effect: the write finishes. If another writer commits first, `body` runs again, so it
  /// should change nothing outside the store.
  /// - Throws: `CancellationError`, and as the synchronous `write`.
  @discardableResult
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (inout StoreTransaction) throws -> Result
  ) async throws -> Result {
    let write = AsyncWrite(body)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard write.wait(continuation) else { return }
        queues.writes.add(write)
        queues.writing.async { self.queues.writes.commit(to: self) }
      }
    } onCancel: {
      write.cancel()
    }
  }

  /// As the synchronous `table(_:)`, without blocking the caller's thread while the file is read.
  public func table<Value>(_ name: TableName<Value>) async throws -> RecordTable<Value> {
    try await reading { try self.table(name) }
  }

  /// As the synchronous `table(_:)`, without blocking the caller's thread while the file is read.
  public func table(_ name: String) async throws -> RecordTable<Fields> {
    try await reading { try self.table(name) }
  }

  /// As the synchronous `refresh`, without blocking the caller's thread.
  public func refresh() async throws { try await reading { try self.refresh() } }

  /// As the synchronous `checkpoint`, without blocking the caller's thread.
  public func checkpoint() async throws { try await writing { try self.checkpoint() } }

  /// As the synchronous `close`, without blocking the caller's thread.
  public func close() async throws { try await writing { try self.close() } }

  private func reading<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await Self.run(on: queues.reading, body)
  }

  /// Runs work that may wait for other writers and for the disk.
  func writing<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await Self.run(on: queues.writing, body)
  }

  private static func run<Result: Sendable>(
    on queue: DispatchQueue, _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Swift.Result(catching: body)) }
    }
  }
}

/// The store's own serial queues. Blocking work in a global queue could use up all its threads.
struct StoreQueues: Sendable {
  /// For async writes and closing. They run one at a time.
  let writing = DispatchQueue(label: "FileDB.writing")
  /// The async writes that wait for ``writing``.
  let writes = QueuedWrites()
  /// For checkpoints that nobody waits for.
  let checkpoints = DispatchQueue(label: "FileDB.checkpoints")
  /// For waiting until a commit is durable.
  let finishing = DispatchQueue(label: "FileDB.finishing")
  /// For reading from the disk, which never waits for a writer.
  let reading = DispatchQueue(label: "FileDB.reading")
}
