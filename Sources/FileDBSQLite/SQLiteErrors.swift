import CFileDBSQLite
import FileDB
import Foundation

extension StoreError.Code {
  /// The file is not a SQLite database.
  public static let notADatabase = Self(rawValue: "notADatabase")
  /// The file of the SQLite database is damaged.
  public static let damagedDatabase = Self(rawValue: "damagedDatabase")
  /// SQLite refuses the request: the query is wrong, a name is reserved, or there are too many columns.
  public static let databaseRefused = Self(rawValue: "databaseRefused")
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
      case SQLITE_NOTADB: .notADatabase
      case SQLITE_CORRUPT: .damagedDatabase
      case SQLITE_BUSY, SQLITE_LOCKED: .locked
      case SQLITE_FULL: .diskFull
      case SQLITE_READONLY, SQLITE_PERM: .permissionDenied
      case SQLITE_CANTOPEN, SQLITE_IOERR: .inputOutput
      default: .databaseRefused
      }
    self.init(code, error.message, file: file?.path, table: table)
  }
}
