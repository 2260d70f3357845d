import CFileDBSQLite
import FileDB

/// A connection to a database. Only one thread at a time may use it and its statements.
final class SQLiteConnection {
  enum Purpose {
    /// The file must be there.
    case reading
    /// The file is created if it is not there.
    case writing
  }

  private let handle: OpaquePointer
  private let purpose: Purpose

  /// Opens the database at `path`. With `:memory:`, it is a new one in memory.
  /// - Throws: ``SQLiteError``, also if the file is not a database.
  init(_ path: String, for purpose: Purpose) throws {
    let flags =
      switch purpose {
      case .reading: SQLITE_OPEN_READONLY
      case .writing: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      }
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      sqlite3_close(opened)
      throw SQLiteError(code: code, message: String(cString: sqlite3_errstr(code)))
    }
    handle = opened
    self.purpose = purpose
    sqlite3_busy_timeout(handle, 5_000)
    filedb_sqlite_refuse_quoted_strings(handle)
    // Replacing a table must not delete rows of other tables by `ON DELETE CASCADE`.
    try execute("PRAGMA foreign_keys = OFF")
    // A view in a stranger's file must not run functions with side effects.
    try execute("PRAGMA trusted_schema = OFF")
    // SQLite first reads the file here.
    try execute("SELECT * FROM sqlite_master LIMIT 1")
  }

  deinit { sqlite3_close(handle) }

  /// Runs `body` in one transaction, and rolls it back after an error.
  func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    switch purpose {
    case .reading: try execute("BEGIN")
    // Takes the lock now. Later, SQLite may give up without waiting for it.
    case .writing: try execute("BEGIN IMMEDIATE")
    }
    do {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      // After some errors, SQLite itself has rolled the transaction back.
      if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
      throw error
    }
  }

  /// Runs a statement to its end.
  func execute(_ sql: String, _ values: PlistValue?...) throws {
    try prepare(sql).execute(values)
  }

  /// The values in the first column of a query.
  func column(_ sql: String, _ values: PlistValue?...) throws -> [PlistValue?] {
    let statement = try prepare(sql)
    try statement.bind(values)
    var column: [PlistValue?] = []
    while try statement.step() { column.append(try statement.value(at: 0)) }
    return column
  }

  /// Prepares `sql`, which is one statement.
  func prepare(_ sql: String) throws -> SQLiteStatement { try statements(in: sql)[0] }

  /// Prepares a query that a user wrote.
  /// - Throws: ``SQLiteError`` unless it is one `SELECT` without parameters.
  func prepareSelect(_ sql: String) throws -> SQLiteStatement {
    let statements = try statements(in: sql)
    guard statements.count == 1, statements[0].isReadOnly, statements[0].columnCount > 0 else {
      throw SQLiteError("the query should be one SELECT")
    }
    guard statements[0].parameterCount == 0 else { throw SQLiteError("the query should have no parameters") }
    return statements[0]
  }

  private func statements(in sql: String) throws -> [SQLiteStatement] {
    // SQLite would read `sql` only as far as that.
    guard !sql.utf8.contains(0) else { throw SQLiteError("a name or query in SQLite cannot hold a NUL") }
    return try sql.withCString { start in
      var statements: [SQLiteStatement] = []
      var rest: UnsafePointer<CChar>? = start
      while let next = rest, next.pointee != 0 {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, next, -1, &statement, &rest) == SQLITE_OK else { throw latestError }
        // There is none in white space, comments and semicolons.
        if let statement { statements.append(SQLiteStatement(statement, of: self)) }
      }
      return statements
    }
  }

  /// The error of the last call.
  var latestError: SQLiteError {
    SQLiteError(code: sqlite3_errcode(handle), message: String(cString: sqlite3_errmsg(handle)))
  }
}
