@_exported import FileDBPlist
import FileDBStorage
import Foundation
import Synchronization

/// A folder of tables, each one property list.
///
///     let store = try RecordStore(at: folder)
///     let notes = try store.table(.notes)
///     let milk = try notes.add(Note(title: "Buy milk"), at: .top)
///
/// A store may be used from any thread. Several stores, in this process or in others, may be open on one folder: a write
/// first reads in what the others wrote. Reading never waits for a writer.
public final class RecordStore: Sendable {
  /// The store's folder.
  public let url: URL
  public let options: StoreOptions

  let folder: StoreFolder
  let log: CommitLog
  let visible: VisibleTables
  /// One writer at a time in this process; the file lock sees to the others.
  let writers = WriterGate()
  /// What a crash left beside linked tables is looked for once, by the first checkpoint.
  let hasSweptLinks = Atomic<Bool>(false)
  /// For writes and checkpoints that no thread waits for. Only one goes on at a time, so that one thread is enough, and the
  /// writes stay in their order. It is the store's own, for a global queue has few threads for all who block in it.
  let background = DispatchQueue(label: "FileDB.RecordStore")
  let checkpoints = CheckpointClock()
  let indexes = RowIndexes()
  /// Set when a sync failed, so that nothing more is built on what may be lost; and by ``close()``.
  let isClosed = Atomic<Bool>(false)

  /// Opens the store in the folder at `url`. Nothing is read or written yet; the folder is made by the first write.
  /// - Throws: ``StoreError/notAFolder`` where `url` is no file URL, or something else is there.
  public convenience init(at url: URL, options: StoreOptions = StoreOptions()) throws {
    try self.init(at: url, disk: SystemDisk(), over: nil, options: options)
  }

  /// A store without files, gone with its last reference: for previews and tests.
  public static func inMemory(options: StoreOptions = StoreOptions()) -> RecordStore {
    RecordStore(url: URL(fileURLWithPath: "/memory"), disk: MemoryDisk(), over: nil, options: options)
  }

  package convenience init(at url: URL, disk: any Disk, options: StoreOptions) throws(StoreError) {
    try self.init(at: url, disk: disk, over: nil, options: options)
  }

  convenience init(
    at url: URL, disk: any Disk, over attached: AttachedStore?, options: StoreOptions
  ) throws(StoreError) {
    guard url.isFileURL else {
      throw StoreError(StoreError.notAFolder, "a store is a folder on the disk", file: url.absoluteString)
    }
    self.init(url: url, disk: disk, over: attached, options: options)
    let status = try onDisk { () throws(DiskError) in try disk.status(folder.path) }
    if let status, status.kind != .folder {
      throw StoreError(StoreError.notAFolder, "a store is a folder, but this is a file", file: folder.path)
    }
  }

  private init(url: URL, disk: any Disk, over attached: AttachedStore?, options: StoreOptions) {
    self.url = url
    self.options = options
    folder = StoreFolder(path: url.standardizedFileURL.path, disk: disk)
    log = CommitLog(folder: folder, options: options)
    visible = VisibleTables(log, over: attached)
  }

  deinit {
    log.signals.finish()
    checkpointAtEnd()
  }

  package var disk: any Disk { folder.disk }

  /// The tables, in the order of their names, those of an attached store included; of a damaged journal those that have a file or are in its sound part.
  /// - Throws: the disk's errors.
  public var tableNames: [String] {
    get throws {
      do throws(StoreError) { try log.catchUp() } catch {
        guard error.code == StoreError.damagedJournal else { throw error }
      }
      let pending = log.pendingExistence
      let files = try folder.tableNames().map(TableKey.init).filter { pending[$0] != false }
      let own = Set(files).union(pending.filter(\.value).keys)
      return try own.union(visible.attached?.tableKeys ?? []).sorted().map(\.text)
    }
  }

  /// The table with this name, read now where it was not yet.
  ///
  /// A table that does not exist yet has no rows, and its first record makes it; see ``RecordTable/exists``.
  /// - Throws: ``StoreError/notATable``, ``StoreError/damagedTable`` with file and line,
  ///   ``StoreError/damagedJournal``, ``StoreError/conflict``, ``StoreError/ambiguousTable``,
  ///   ``StoreError/invalidTableName``, and the disk's errors.
  public func table<Row>(_ name: TableName<Row>) throws -> RecordTable<Row> {
    _ = try state(of: TableKey(name.text))
    return RecordTable(store: self, name: name)
  }

  /// The table with this name, its rows read field by field; see ``table(_:)-(TableName<_>)``.
  public func table(_ name: String) throws -> RecordTable<Record> { try table(.records(name)) }

  /// The file of a table: the one that is there, or the one that its first record will make.
  /// - Throws: ``StoreError/ambiguousTable``, ``StoreError/invalidTableName``.
  public func url(of table: String) throws -> URL {
    if let attached = visible.attached, let name = attached.table(named: TableKey(table)) {
      return try attached.store.url(of: name.text)
    }
    return URL(fileURLWithPath: try folder.file(of: table).path)
  }

  /// Runs `body` as one transaction and commits what it changed.
  ///
  /// `body` sees its own changes; nobody else does until it returned. Where it throws, nothing happened. When `write`
  /// returns, the commit survives a power cut (see ``StoreOptions/durability``), over all its tables or not at all.
  /// Writers on several threads share the disk's syncs.
  ///
  /// A `write` inside a `write`, and a verb of a ``RecordTable`` there, joins the outer one: objects that know nothing of
  /// each other but share the store share the transaction. Where the inner one throws, only what it did is undone; the
  /// outer one commits all or nothing.
  ///
  /// - Throws: what `body` throws; ``StoreError/locked``; ``StoreError/damagedJournal``; ``StoreError/conflict`` for a
  ///   table whose file another program changed while commits were waiting for it; what ``table(_:)-(TableName<_>)`` throws for a table that
  ///   another program damaged; the disk's errors; ``StoreError/outcomeUnknown`` where the disk could not say whether the
  ///   commit will survive, and ``StoreError/closed`` from then on.
  /// - Complexity: O(*n*) in the records of the changed tables, in memory; on the disk one write of what changed and one
  ///   sync. The files follow with a checkpoint, see ``StoreOptions/checkpoints``.
  @discardableResult
  public func write<Result>(_ body: (inout StoreTransaction) throws -> Result) throws -> Result {
    if let outer = writers.currentTransaction { return try outer.join(body) }
    return try Commit.run(in: self, body)
  }

  /// Runs `body` as ``write(_:)`` would, with its result and its errors, and changes nothing.
  @discardableResult
  public func rehearse<Result>(_ body: (inout StoreTransaction) throws -> Result) throws -> Result {
    if let outer = writers.currentTransaction { return try outer.rehearse(body) }
    return try Commit.rehearse(in: self, body)
  }

  /// Runs `body` as ``write(_:)`` would, on a thread of its own where waiting for the disk and for other writers blocks
  /// no task. `body` runs whole or not at all: a task that is cancelled before it begins throws `CancellationError`.
  /// - Throws: as ``write(_:)``.
  @discardableResult
  public func asyncWrite<Result: Sendable>(
    _ body: @escaping @Sendable (inout StoreTransaction) throws -> Result
  ) async throws -> Result {
    let isCancelled = Atomic<Bool>(false)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        self.background.async {
          continuation.resume(
            with: Swift.Result {
              try self.write { transaction in
                if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
                return try body(&transaction)
              }
            })
        }
      }
    } onCancel: {
      isCancelled.store(true, ordering: .relaxed)
    }
  }
}
