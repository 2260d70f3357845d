import CFileDBSQLite
import FileDB
import Foundation

extension StoreError {
  /// The file is not a SQLite database.
  public static let notADatabase = Code(rawValue: "notADatabase")
  /// The file of the SQLite database is damaged.
  public static let damagedDatabase = Code(rawValue: "damagedDatabase")
  /// SQLite refuses the request: the query is wrong, a name is reserved, or there are too many columns.
  public static let databaseRefused = Code(rawValue: "databaseRefused")
}

/// An error of SQLite, before it is known for which file and table.
struct SQLiteError: Error {
  /// One of SQLite's primary result codes.
  let code: Int32
  let message: String
}

extension SQLiteError {
  /// An error in what SQLite was asked for.
  init(_ message: String) { self.init(code: SQLITE_ERROR, message: message) }
}

extension StoreError {
  init(_ error: SQLiteError, file: URL? = nil, table: String? = nil) {
    let code: Code =
      switch error.code {
      case SQLITE_NOTADB: StoreError.notADatabase
      case SQLITE_CORRUPT: StoreError.damagedDatabase
      case SQLITE_BUSY, SQLITE_LOCKED: StoreError.Code.locked
      case SQLITE_FULL: StoreError.Code.diskFull
      case SQLITE_READONLY, SQLITE_PERM: StoreError.Code.permissionDenied
      case SQLITE_CANTOPEN, SQLITE_IOERR: StoreError.Code.inputOutput
      default: StoreError.databaseRefused
      }
    self.init(code, error.message, file: file?.path, table: table)
  }
}
