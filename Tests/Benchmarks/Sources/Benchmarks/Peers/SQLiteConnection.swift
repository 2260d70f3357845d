import Foundation
import GRDBSQLite

/// A database by SQLite's C interface.
final class SQLiteConnection {
  /// How long a commit waits for the disk.
  enum Synchronous: String {
    case full = "2"
    case off = "0"
  }

  private var handle: OpaquePointer?

  init(_ file: URL, _ synchronous: Synchronous = .full) throws {
    let result = sqlite3_open_v2(file.path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
    try expect(result == SQLITE_OK, "opening \(file)")
    try run("PRAGMA synchronous = \(synchronous.rawValue)")
    let isSet = try prepare("PRAGMA synchronous").read([]) { $0.text(0) } == [synchronous.rawValue]
    try expect(isSet, "synchronous is not set")
    let mode = try prepare("PRAGMA journal_mode").read([]) { $0.text(0) }
    try expect(mode == ["wal"], "journal_mode is not WAL")
  }

  deinit { sqlite3_close_v2(handle) }

  /// Makes an empty database, which has a write-ahead log.
  static func make(_ file: URL) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    let result = sqlite3_open_v2(file.path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
    try expect(result == SQLITE_OK, "making \(file)")
    let isSet = sqlite3_exec(handle, "PRAGMA journal_mode = WAL", nil, nil, nil) == SQLITE_OK
    try expect(isSet, "journal_mode is not set")
  }

  var lastID: Int { Int(sqlite3_last_insert_rowid(handle)) }

  func run(_ sql: String) throws {
    try expect(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, sql)
  }

  func checkpoint() throws {
    let result = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    try expect(result == SQLITE_OK, "a checkpoint")
  }

  func prepare(_ sql: String) throws -> SQLiteStatement {
    var statement: OpaquePointer?
    let result = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    try expect(result == SQLITE_OK, "preparing \(sql)")
    return SQLiteStatement(statement, of: self)
  }
}

/// What stands for a question mark.
enum SQLiteValue {
  case integer(Int)
  case real(Double)
  case text(String)
}

/// A statement that is prepared once.
final class SQLiteStatement {
  private let handle: OpaquePointer?
  private let connection: SQLiteConnection

  fileprivate init(_ handle: OpaquePointer?, of connection: SQLiteConnection) {
    (self.handle, self.connection) = (handle, connection)
  }

  deinit { sqlite3_finalize(handle) }

  /// Runs it, and returns what `body` makes of each row.
  func read<Row>(_ values: [SQLiteValue], _ body: (SQLiteStatement) -> Row) throws -> [Row] {
    defer { sqlite3_reset(handle) }
    for (index, value) in zip(Int32(1)..., values) { bind(value, index) }
    var rows: [Row] = []
    var result = sqlite3_step(handle)
    while result == SQLITE_ROW {
      rows.append(body(self))
      result = sqlite3_step(handle)
    }
    try expect(result == SQLITE_DONE, "reading rows")
    return rows
  }

  /// Runs one that gives no rows.
  func execute(_ values: [SQLiteValue]) throws {
    defer { sqlite3_reset(handle) }
    for (index, value) in zip(Int32(1)..., values) { bind(value, index) }
    try expect(sqlite3_step(handle) == SQLITE_DONE, "changing a row")
  }

  private func bind(_ value: SQLiteValue, _ index: Int32) {
    switch value {
    case .integer(let number): sqlite3_bind_int64(handle, index, Int64(number))
    case .real(let number): sqlite3_bind_double(handle, index, number)
    case .text(let text):
      // SQLite's own -1: it takes a copy.
      sqlite3_bind_text(handle, index, text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }
  }

  func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }
  func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
  func text(_ column: Int32) -> String { String(cString: sqlite3_column_text(handle, column)) }

  /// The entry of a row that begins with the columns of one.
  var entry: Entry {
    Entry(
      title: text(0), note: text(1), amount: integer(2), price: real(3),
      due: Date(timeIntervalSince1970: real(4)), isDone: integer(5) != 0)
  }
}
