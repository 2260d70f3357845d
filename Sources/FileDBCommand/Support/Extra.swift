import FileDB
import FileDBEssentials
import FileDBExchange
import Synchronization

/// What only `filedb-extra` can do, since `filedb` links nothing that most commands do without. See Decisions/027.
package protocol Extra: Sendable {
  func run(
    _ intake: DatabaseImport, into table: TableName<Fields>, at position: Position<Fields>,
    in transaction: inout StoreTransaction, progress: (_ rows: Int) -> Void
  ) throws -> ImportReport

  func run(
    _ export: DatabaseExport, of records: AnyRandomAccessCollection<StoredRecord<Fields>>, counter: Int64,
    progress: (_ records: Int) -> Void
  ) throws

  /// Answers a question in SQL about the tables of a store.
  func answer(_ query: String, about store: StoreSnapshot) throws -> QueryAnswer

  /// Begins to show a store in the browser.
  func browse(_ store: RecordStore, _ request: BrowseRequest) throws -> any Browsing
}

/// How a store is shown in the browser.
package struct BrowseRequest: Sendable {
  /// 0 for any.
  package var port: Int
  package var isReadOnly: Bool
}

/// A store that is shown in the browser.
package protocol Browsing: Sendable {
  /// The address to open, once.
  var url: URL { get }
  func stop()
}

/// What a question in SQL came to.
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
  /// In `filedb-extra`, what it can do besides.
  static let extra = Mutex<(any Extra)?>(nil)

  /// What only `filedb-extra` can do: from here on that program runs instead of this one, unless this is it.
  /// - Throws: ``StoreError/Code/fileNotFound`` where that program is missing.
  static func needExtra() throws -> any Extra {
    if let extra = extra.withLock(\.self) { return extra }
    try ExtraProgram.replaceThisOne()
  }
}
