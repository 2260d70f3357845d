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
  /// The newest committed state of each table that was asked for.
  let published = Mutex<[TableKey: PublishedTable]>([:])
  /// One writer at a time in this process; the file lock sees to the others.
  let writers = WriterGate()
  /// What a crash left beside linked tables is looked for once, by the first write.
  private let hasSweptLinks = Atomic<Bool>(false)
  /// Only one write goes on at a time, so that one waiting thread is enough, and the writes stay in their order.
  private let asyncWriters = DispatchQueue(label: "FileDB.asyncWrite")
  /// Set when a sync failed: the system reports that once and may have dropped the bytes, so nothing more is built on
  /// them. See https://wiki.postgresql.org/wiki/Fsync_Errors.
  let isClosed = Atomic<Bool>(false)

  /// Opens the store in the folder at `url`. Nothing is read or written yet; the folder is made by the first write.
  /// - Throws: ``StoreError/notAFolder`` where `url` is no file URL, or something else is there.
  public convenience init(at url: URL, options: StoreOptions = StoreOptions()) throws {
    guard url.isFileURL else {
      throw StoreError(StoreError.notAFolder, "a store is a folder on the disk", file: url.absoluteString)
    }
    try self.init(at: url, disk: SystemDisk(), options: options)
  }

  /// A store without files, gone with its last reference: for previews and tests.
  public static func inMemory(options: StoreOptions = StoreOptions()) -> RecordStore {
    RecordStore(url: URL(fileURLWithPath: "/memory"), disk: MemoryDisk(), options: options)
  }

  package convenience init(at url: URL, disk: any Disk, options: StoreOptions) throws(StoreError) {
    self.init(url: url, disk: disk, options: options)
    let status = try onDisk { () throws(DiskError) in try disk.status(folder.path) }
    if let status, status.kind != .folder {
      throw StoreError(StoreError.notAFolder, "a store is a folder, but this is a file", file: folder.path)
    }
  }

  private init(url: URL, disk: any Disk, options: StoreOptions) {
    self.url = url
    self.options = options
    folder = StoreFolder(path: url.standardizedFileURL.path, disk: disk)
  }

  package var disk: any Disk { folder.disk }

  /// The tables that have a file, in the order of their names.
  public var tableNames: [String] { get throws { try folder.tableNames() } }

  /// The table with this name, read now where it was not yet.
  ///
  /// A table without a file has no rows, and its first record makes the file; see ``RecordTable/exists``.
  /// - Throws: ``StoreError/notATable``, ``StoreError/damagedTable`` with file and line,
  ///   ``StoreError/ambiguousTable``, ``StoreError/invalidTableName``, and the disk's errors.
  public func table<Row>(_ name: TableName<Row>) throws -> RecordTable<Row> {
    _ = try state(of: TableKey(name.text))
    return RecordTable(store: self, name: name)
  }

  /// The table with this name, its rows read field by field; see ``table(_:)-(TableName<_>)``.
  public func table(_ name: String) throws -> RecordTable<Record> { try table(.records(name)) }

  /// The file of a table: the one that is there, or the one that its first record will make.
  /// - Throws: ``StoreError/ambiguousTable``, ``StoreError/invalidTableName``.
  public func url(of table: String) throws -> URL { URL(fileURLWithPath: try folder.file(of: table).path) }

  /// Runs `body` as one transaction and commits what it changed.
  ///
  /// `body` sees its own changes; nobody else does until it returned. Where it throws, nothing happened. When `write`
  /// returns, each changed table survives a power cut.
  ///
  /// A `write` inside a `write`, and a verb of a ``RecordTable`` there, joins the outer one: objects that know nothing of
  /// each other but share the store share the transaction. Where the inner one throws, only what it did is undone; the
  /// outer one commits all or nothing.
  ///
  /// Until the store has a journal, a transaction over several tables replaces their files one after another: a crash
  /// in between leaves some of them new and some old, each whole.
  /// - Throws: what `body` throws; ``StoreError/locked``; what ``table(_:)-(TableName<_>)`` throws for a table that
  ///   another program damaged; the disk's errors; ``StoreError/outcomeUnknown`` where the disk could not say whether the
  ///   commit will survive, and ``StoreError/closed`` from then on.
  /// - Complexity: O(*n*) in the records of the changed tables, and one file replaced for each.
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
        self.asyncWriters.async {
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

  /// Reads in what other processes and programs have written since. A write does so by itself, for its tables.
  /// - Throws: as ``table(_:)-(TableName<_>)``, for the first table that cannot be read, once all others have been; it
  ///   stays as it was.
  /// - Complexity: O(1) for an unchanged table, O(*n*) for a changed one.
  public func refresh() throws {
    // Inside a write, whose tables must not change beneath it, there is nothing to read in.
    if writers.currentTransaction != nil { return }
    try writers.enter {
      var failure: StoreError?
      for key in published.withLock({ $0.keys.sorted() }) {
        do throws(StoreError) { _ = try refreshedState(of: key) } catch { failure = failure ?? error }
      }
      if let failure { throw failure }
    }
  }
}

/// A table as it was committed, and the file that holds it.
struct PublishedTable: Sendable {
  var state: TableState
  var file: String
  /// `nil` for a table without a file.
  var stamp: FileStamp?
}

extension RecordStore {
  /// Clears away what a crash left. For who holds the lock.
  func sweep() throws(StoreError) {
    try folder.sweep()
    if !hasSweptLinks.exchange(true, ordering: .relaxed) { folder.sweepBesideLinkTargets() }
  }

  /// The newest committed state of a table, read from the disk the first time.
  func state(of table: TableKey) throws(StoreError) -> TableState {
    if let known = published.withLock({ $0[table] }) { return known.state }
    let read = try read(table)
    // Another thread may have read it too, or a commit have gone further: what is published stays.
    return published.withLock { tables in
      if let known = tables[table] { return known.state }
      tables[table] = read
      return read.state
    }
  }

  /// The state of a table as the disk has it, read again where its file is not the one that was read. For who passed the
  /// gate.
  func refreshedState(of table: TableKey) throws(StoreError) -> TableState {
    if let known = published.withLock({ $0[table] }) {
      let (file, status) = try folder.file(of: table.text)
      let isSame =
        switch (known.stamp, status?.stamp) {
        case (nil, nil): true
        case (let old?, let new?): file == known.file && new.provesUnchanged(since: old)
        default: false
        }
      if isSame { return known.state }
    }
    let read = try read(table)
    published.withLock { $0[table] = read }
    return read.state
  }

  private func read(_ table: TableKey) throws(StoreError) -> PublishedTable {
    let (file, content) = try readFile(of: table)
    guard let content else { return PublishedTable(state: TableState(), file: file) }
    var state = try TableFile.decode(content.bytes, file: file, table: table.text, limits: options.limits)
    state.index()
    return PublishedTable(state: state, file: file, stamp: content.stamp)
  }

  /// The file of a table and what is in it; no content where there is no file.
  func readFile(
    of table: TableKey
  ) throws(StoreError) -> (file: String, content: (bytes: [UInt8], stamp: FileStamp)?) {
    let (file, status) = try folder.file(of: table.text)
    guard let status else { return (file, nil) }
    guard status.stamp.size <= options.limits.fileBytes else {  // Before it is in memory.
      throw StoreError(
        PlistError(.fileTooLarge(limit: options.limits.fileBytes)), file: file, table: table.text)
    }
    return (file, try onDisk { () throws(DiskError) in try folder.disk.read(file) })
  }
}
