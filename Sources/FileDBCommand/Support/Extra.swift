import FileDB
import FileDBEssentials
import FileDBExchange
import Synchronization

/// What only `filedb-extra` can do. `filedb` links nothing that most commands do not need. See Decisions/027.
package protocol Extra: Sendable {
  func run(
    _ intake: DatabaseImport, into table: TableName<Fields>, at position: Position<Fields>,
    in transaction: inout StoreTransaction, progress: (_ rows: Int) -> Void
  ) throws -> ImportReport

  func run(
    _ export: DatabaseExport, of records: AnyRandomAccessCollection<StoredRecord<Fields>>, counter: Int64,
    progress: (_ records: Int) -> Void
  ) throws

  /// Runs an SQL query over the tables of a store.
  func answer(_ query: String, about store: StoreSnapshot) throws -> QueryAnswer

  /// Starts to show a store in the browser.
  func browse(_ store: RecordStore, _ request: BrowseRequest) throws -> any Browsing

  /// Opens the store at an address without a folder.
  func openStore(at address: String, options: StoreOptions) throws -> RecordStore

  /// Opens a folder that follows a shared store.
  func openReplica(_ folder: URL, for use: StoreUse) throws -> RecordStore

  /// Takes over what such a folder lacks, for a write that follows.
  func catchUpToWrite(_ store: RecordStore) throws

  /// Creates a store that machines can share.
  func makeStore(_ name: String, at address: String) throws -> MadeStore

  /// Creates a folder that follows the store at an address, or changes the address of such a folder.
  func join(_ address: String, _ folder: URL) throws -> FolderProgress

  /// Takes over what a folder that follows a store lacks, and commits edits in its files.
  func synchronize(_ store: RecordStore) throws -> FolderProgress

  /// - Returns: the number of forgotten commits.
  func forgetCommits(of store: RecordStore, olderThan age: Duration) throws -> Int

  func status(of store: RecordStore) throws -> StoreStatus

  /// What became of commands that could not say whether they were carried out, as far as it was found out since the
  /// last call.
  func settledCommands(of store: RecordStore) -> [String]

  /// The paged tables of a shared store; `nil` if there is no connection.
  func pagedTables(of store: RecordStore) -> [String]?
}

/// A store that machines share, after it was created.
package struct MadeStore: Sendable {
  package let hasMadeTables, hasMadeStore: Bool
  /// The address without a password.
  package let address: String

  package init(hasMadeTables: Bool, hasMadeStore: Bool, address: String) {
    (self.hasMadeTables, self.hasMadeStore, self.address) = (hasMadeTables, hasMadeStore, address)
  }
}

/// How far a folder has followed a shared store.
package struct FolderProgress: Sendable {
  /// The number of the folder's last commit.
  package let last: UInt64
  /// Says that the folder has just read all tables again, and why; `nil` if it has not.
  package let start: String?

  package init(last: UInt64, start: String?) { (self.last, self.start) = (last, start) }
}

/// What is known about a store that machines share.
package struct StoreStatus {
  package private(set) var rows: [(title: String, value: PlistValue?)] = []
  /// Why the rest is unknown.
  package var failure: StoreError?

  package init() {}

  package mutating func add(_ title: String, _ value: PlistValue?) { rows.append((title, value)) }
}

/// The options for showing a store in the browser.
package struct BrowseRequest: Sendable {
  /// 0 for any free port; `nil` for the store's own.
  package var port: Int?
  package var isReadOnly: Bool
}

/// A store that is being shown in the browser.
package protocol Browsing: Sendable {
  /// The address to open. It works once.
  var url: URL { get }
  func stop()
}

/// The result of an SQL query.
package struct QueryAnswer: Sendable {
  package let columns: [String]
  package let rows: [[PlistValue?]]

  package init(columns: [String], rows: [[PlistValue?]]) { (self.columns, self.rows) = (columns, rows) }
}

/// An import from a SQLite database.
package struct DatabaseImport: Sendable {
  package enum Source: Sendable {
    case table(String)
    case query(String)
  }

  package var source: Source
  package var file: URL
  package var types: [String: FieldType] = [:]
  package var schema: TableSchema?
  package var matching = TableImport.Matching.nothing
  package var onError = TableImport.ErrorPolicy.stop
  package var unmatched = TableImport.Unmatched.kept
}

/// An export into a table of a SQLite database.
package struct DatabaseExport: Sendable {
  package var file: URL
  package var table: String
  package var chosen: [FieldReference]?
  package var schema: TableSchema?
  package var replacesTable: Bool
}

extension FileDBTool {
  /// In `filedb-extra`, its additional abilities.
  static let extra = Mutex<(any Extra)?>(nil)

  /// The abilities of `filedb-extra`. Unless this program has them, this replaces it by `filedb-extra` and does not
  /// return.
  /// - Throws: ``StoreError/Code/fileNotFound`` if that program is missing.
  static func needExtra() throws -> any Extra {
    if let extra = extra.withLock(\.self) { return extra }
    try ExtraProgram.replaceThisOne()
  }
}
