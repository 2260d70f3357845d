import FileDB
import Foundation
import GRDB

extension StoreError {
  /// The file is not a SQLite database.
  public static let notADatabase = Code(rawValue: "notADatabase")
  /// The file of the SQLite database is damaged.
  public static let damagedDatabase = Code(rawValue: "damagedDatabase")
  /// SQLite refuses the request: the query is wrong, a name is reserved, or there are too many columns.
  public static let databaseRefused = Code(rawValue: "databaseRefused")
}

extension StoreError {
  init(_ error: DatabaseError, file: URL, table: String?) {
    let code: Code =
      switch error.resultCode {
      case .SQLITE_NOTADB: StoreError.notADatabase
      case .SQLITE_CORRUPT: StoreError.damagedDatabase
      case .SQLITE_BUSY, .SQLITE_LOCKED: StoreError.Code.locked
      case .SQLITE_FULL: StoreError.Code.diskFull
      case .SQLITE_READONLY, .SQLITE_PERM: StoreError.Code.permissionDenied
      case .SQLITE_CANTOPEN, .SQLITE_IOERR: StoreError.Code.inputOutput
      default: StoreError.databaseRefused
      }
    self.init(code, error.message ?? "SQLite error \(error.resultCode)", file: file.path, table: table)
  }
}
