import FileDBEssentials
import FileDBStorage
@_exported import FileDBTables
import Synchronization

// Users see only the value types of FileDBPlist.
@_exported import struct FileDBPlist.PlistDictionary
@_exported import struct FileDBPlist.PlistLimits
@_exported import enum FileDBPlist.PlistValue

/// A folder of tables. Each table is one property list.
///
///     let store = try RecordStore(at: folder)
///     let notes = try store.table(.notes)
///     let milk = try notes.add(Note(title: "Buy milk"), at: .top)
///
/// You may use a store from any thread. Several stores, in this process or in others, may be open on the same folder:
/// each write first reads what the others wrote. Reading never waits for a writer.
public final class RecordStore: Sendable {
  /// The store's folder.
  public let url: URL
  /// The options with which the store was opened.
  public let options: StoreOptions

  package let log: any CommitLog
  /// The log if it is that of a folder, for operations on files.
  let files: FileLog?
  /// The files that people see, if the log's folder has others for its own use.
  package let shownFiles: (any ShownFiles)?
  let tables: TableVersions
  let view: any TableView
  let source: TableSource.Store
  /// Lets one thread of this process write at a time. The log keeps other processes out.
  let writers = WriterGate()
  let queues = StoreQueues()
  let checkpoints = CheckpointClock()
  /// Set by ``close()``.
  let isClosed = Atomic<Bool>(false)

  /// Opens the store in the folder at `url`. No table is read yet, and nothing is written, except for
  /// ``OwnFolderPlace/inUserState``. The first write creates the folder if it is missing.
  /// - Throws: ``StoreError/Code/notAFolder`` if `url` is not a file URL, or leads to something other than a folder;
  ///   ``StoreError/Code/newerFormat`` if `.filedb` in it is a file that FileDB did not make; the disk's errors.
  public convenience init(at url: URL, options: StoreOptions = StoreOptions()) throws {
    try self.init(at: url, disk: .system, seen: PlainTables(), options: options)
  }

  /// Makes a store without files, for previews and tests. Its records are gone when the store is released.
  public static func inMemory(options: StoreOptions = StoreOptions()) -> RecordStore {
    let url = URL(fileURLWithPath: "/memory")
    let files = FileLog(StoreFolder(path: url.path, disk: StoreDisk(MemoryDisk())), options: options)
    return RecordStore(url, log: files, files: files, seen: PlainTables(), options: options)
  }

  package convenience init(at url: URL, disk: any Disk, options: StoreOptions) throws(StoreError) {
    try self.init(at: url, disk: StoreDisk(disk), seen: PlainTables(), options: options)
  }

  convenience init(
    at url: URL, disk: StoreDisk, seen view: any TableView, options: StoreOptions
  ) throws(StoreError) {
    guard url.isFileURL else {
      throw StoreError(.notAFolder, "a store is a folder on the disk", file: url.absoluteString)
    }
    let path = url.standardizedFileURL.path
    if let status = try disk.status(path), status.kind != .folder {
      throw StoreError(.notAFolder, "a store is a folder, but this is a file", file: path)
    }
    let folder = try StoreFolder.find(path, on: disk, options: options)
    let files = FileLog(folder, options: options, alsoWatching: view.folders)
    self.init(url, log: files, files: files, seen: view, options: options)
  }

  /// A store on another kind of log.
  /// - Parameters:
  ///   - files: the folder that follows the log; `nil` if there is none.
  ///   - shownFiles: the files that people see.
  package convenience init(
    at url: URL, log: any CommitLog, files: FileLog? = nil, shownFiles: (any ShownFiles)? = nil,
    options: StoreOptions
  ) {
    self.init(url, log: log, files: files, shownFiles: shownFiles, seen: PlainTables(), options: options)
  }

  private init(
    _ url: URL, log: any CommitLog, files: FileLog?, shownFiles: (any ShownFiles)? = nil,
    seen view: any TableView, options: StoreOptions
  ) {
    (self.url, self.log, self.files, self.view, self.options) = (url, log, files, view, options)
    self.shownFiles = shownFiles
    tables = TableVersions(log)
    source = TableSource.Store(files?.folder, seen: view, options: options)
  }

  deinit {
    tables.listeners.finish()
    checkpointAtEnd()
  }

  /// Another store object on the same files.
  package func reopened() throws(StoreError) -> RecordStore {
    let folder = try folder
    let url = URL(fileURLWithPath: folder.path)
    return try RecordStore(at: url, disk: folder.disk, seen: view.reopened(), options: options)
  }

  /// The folder of the store.
  /// - Throws: ``StoreError/Code/notAFolder`` if the log is not a folder.
  package var folder: StoreFolder {
    get throws(StoreError) { try fileLog.folder }
  }

  /// The folder with the files that people see; `nil` for a store without a folder.
  var visibleFolder: StoreFolder? { shownFiles?.folder ?? files?.folder }

  /// Where the store has its journal, its locks, its undo log and its backups; see ``OwnFolderPlace``.
  /// - Throws: ``StoreError/Code/notAFolder`` for a store without files.
  public var ownFolder: URL {
    get throws { URL(fileURLWithPath: try (visibleFolder ?? folder).ownFolder, isDirectory: true) }
  }

  /// Whether the folder is this machine's copy of a store that several machines share. A folder that cannot be read is
  /// none; opening it says why.
  package static func isFolderOfSharedStore(_ url: URL) -> Bool {
    let folder = try? StoreFolder.find(url.standardizedFileURL.path)
    return folder.flatMap { try? $0.disk.status($0.own(.shared)) } != nil
  }

  /// Takes from this store's own folder, and from the files of its new tables, the rights that another store does not
  /// give. Call it before records of the other store come here.
  package func restrictAccess(asIn other: RecordStore) throws {
    guard let here = files?.folder, let there = other.files?.folder else { return }
    try here.restrictAccess(asIn: there)
  }

  var fileLog: FileLog {
    get throws(StoreError) {
      guard let files else {
        throw StoreError(.notAFolder, "this store has no files", file: url.path)
      }
      return files
    }
  }

  /// Whether ``close()`` has not been called yet.
  package var isOpen: Bool { !isClosed.load(ordering: .relaxed) }

  func checkOpen() throws(StoreError) {
    // Check this first: a disk that has failed may fail again.
    if isClosed.load(ordering: .relaxed) || files?.hasFailed == true { throw StoreError.closed(url.path) }
  }

  /// The names of the tables, in order, including those of an attached store. Inside a `write(_:)` on this thread, they
  /// include its changes so far. If the journal is damaged, these are the tables that have a file or are in the
  /// undamaged part of the journal.
  /// - Throws: the disk's errors.
  /// - Complexity: O(*t* log *t*) in the number of tables. It lists the store's folder.
  public var tableNames: [String] {
    get throws { try tableKeys.map(\.text) }
  }

  var tableKeys: [TableKey] {
    get throws(StoreError) {
      let tables = try view.tables(log.tables())
      return (writers.currentTransaction?.listTables(tables) ?? tables).sorted()
    }
  }

  /// The table with this name.
  ///
  /// A table that does not exist yet has no records. Its first record creates it; see ``RecordTable/exists``.
  /// - Throws: ``StoreError/Code/notATable``, ``StoreError/Code/damagedTable``, ``StoreError/Code/conflictMarkers``
  ///   with file and line, ``StoreError/Code/damagedJournal``, ``StoreError/Code/conflict``,
  ///   ``StoreError/Code/ambiguousTable``, ``StoreError/Code/invalidTableName``, and the disk's errors.
  /// - Complexity: O(*n*) in the size of the file when the table is first asked for; later as
  ///   ``RecordTable/snapshot()``.
  // Else a literal name and a dictionary of one type would make a table of dictionaries.
  @_disfavoredOverload
  public func table<Value>(_ name: TableName<Value>) throws -> RecordTable<Value> {
    _ = try current(TableKey(name.text))
    return RecordTable(store: self, name: name)
  }

  /// The table with this name. Its records have no Swift type: you read them field by field.
  /// - Throws: as `table(_:)` for the name of a typed table.
  /// - Complexity: as `table(_:)` for the name of a typed table.
  public func table(_ name: String) throws -> RecordTable<Fields> { try table(.records(name)) }

  /// A table as readers see it now, with every commit that has returned and everything that other programs have saved.
  func current(_ table: TableKey) throws(StoreError) -> TableState {
    let own = try tables.durable(table)
    try view.read(table)
    return try view.seen(table, own: own)
  }

  /// The file of a table. If the table does not exist yet, the file that its first record will create.
  /// - Throws: ``StoreError/Code/ambiguousTable``, ``StoreError/Code/invalidTableName``.
  public func url(of table: String) throws -> URL {
    if let url = try view.url(of: TableKey(table)) { return url }
    if let shownFiles { return URL(fileURLWithPath: try shownFiles.path(of: table)) }
    return URL(fileURLWithPath: try folder.file(of: table).path)
  }

  /// Reads what other processes and programs have written since. You seldom need this: a write and
  /// ``RecordTable/snapshot()`` do it themselves, for their tables.
  ///
  /// Afterwards, all tables that were read show the same commit. It waits for no writer.
  /// - Throws: as `table(_:)`, for the first table that cannot be read. All others are read first. The table that
  ///   cannot be read stays as it was.
  /// - Complexity: O(1) for an unchanged table; the size of the commits for a table that other processes changed
  ///   through this library; O(*n*) for a table whose file was replaced.
  public func refresh() throws {
    // Inside a write, the tables must not change, so do not read anything.
    if writers.currentTransaction != nil { return }
    var (failure, setbacks): (StoreError?, Int)
    repeat {
      failure = nil
      setbacks = tables.setbackCount
      try tables.catchUp()
      for table in tables.known {
        do throws(StoreError) { _ = try tables.newest(table) } catch { failure = failure ?? error }
      }
      if try view.refresh() { tables.listeners.tell(of: Set(tables.known)) }
      // If a table fell behind meanwhile, the tables read before may be older than those read afterwards.
    } while tables.setbackCount != setbacks
    if let failure { throw failure }
  }
}

/// Files that people see instead of those that the log writes.
package protocol ShownFiles: Sendable {
  /// The folder with these files.
  var folder: StoreFolder { get }

  /// The path of a table's file, whether it exists or not.
  func path(of table: String) throws(StoreError) -> String

  /// Called after the log's files were written, to bring these up to date.
  func update() throws

  /// The tables whose files somebody has edited, if the edits are not commits yet.
  /// - Parameter tables: the tables to look at; `nil` for all.
  func editedTables(among tables: [String]?) throws(StoreError) -> [String]
}
