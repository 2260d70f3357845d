import Foundation

extension RecordStore {
  /// Opens the store in the folder at `url`, like ``init(at:options:)``, without blocking the thread of the task.
  /// - Throws: as ``init(at:options:)``.
  public static func open(
    at url: URL, options: StoreOptions = StoreOptions()
  ) async throws -> RecordStore {
    try await Self.run(on: .global()) { try RecordStore(at: url, options: options) }
  }

  /// Runs `body` as one transaction, like the synchronous `write`, without blocking the thread of the task.
  ///
  /// Bodies run one after another, on a thread of the store's own. Each is a transaction of its own; those that wait for the
  /// disk at the same time share a sync. `body` runs completely or not at all: if the task is cancelled before `body`
  /// begins, this throws `CancellationError` at once. `body` may run more than once, if another writer commits first.
  /// - Throws: `CancellationError`, and as the synchronous `write`.
  @discardableResult
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (inout StoreTransaction) throws -> Result
  ) async throws -> Result {
    let turn = WriteTurn<Result>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard turn.wait(continuation) else { return }
        queues.writing.async { self.run(body, turn) }
      }
    } onCancel: {
      turn.cancel()
    }
  }

  /// Appends the commit here, and leaves it to another thread to wait for the disk, so that the next body need not.
  private func run<Result: Sendable>(
    _ body: @escaping @Sendable (inout StoreTransaction) throws -> Result,
    _ turn: WriteTurn<Result>
  ) {
    var task: CheckedContinuation<Result, any Error>?
    do {
      // Safe: this thread does not touch it again.
      nonisolated(unsafe) let write = try begin { transaction in
        task = task ?? turn.begin()
        if task == nil { throw CancellationError() }
        return try body(&transaction)
      }
      guard let task else { return }
      queues.finishing.async {
        task.resume(with: Swift.Result { try write?.finish() ?? self.write(body) })
      }
    } catch {
      (task ?? turn.begin())?.resume(throwing: error)
    }
  }

  /// As the synchronous ``table(_:)-(TableName<_>)``, without blocking the thread of the task while the file is read.
  public func table<Value>(_ name: TableName<Value>) async throws -> RecordTable<Value> {
    try await reading { try self.table(name) }
  }

  /// As the synchronous ``table(_:)-(String)``, without blocking the thread of the task while the file is read.
  public func table(_ name: String) async throws -> RecordTable<Fields> {
    try await reading { try self.table(name) }
  }

  /// As the synchronous `refresh`, without blocking the thread of the task.
  public func refresh() async throws { try await reading { try self.refresh() } }

  /// As the synchronous `checkpoint`, without blocking the thread of the task.
  public func checkpoint() async throws { try await writing { try self.checkpoint() } }

  /// As the synchronous `close`, without blocking the thread of the task.
  public func close() async throws { try await writing { try self.close() } }

  private func reading<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await Self.run(on: queues.reading, body)
  }

  /// Runs what may wait for other writers and for the disk.
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

/// The store's own threads, one each: a global queue has few for all who block in it.
struct StoreQueues: Sendable {
  /// For writes and checkpoints that no thread waits for. Only one goes on at a time, and writes stay in their order.
  let writing = DispatchQueue(label: "FileDB.writing")
  /// For what waits until its commit is durable.
  let finishing = DispatchQueue(label: "FileDB.finishing")
  /// For what reads from the disk, and waits for no writer.
  let reading = DispatchQueue(label: "FileDB.reading")
}
