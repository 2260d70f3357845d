import FileDB
import Foundation
import GRDB

extension StoreError {
  /// A file that is no SQLite database.
  public static let notADatabase = Code(rawValue: "notADatabase")
  /// A SQLite database whose file is damaged.
  public static let damagedDatabase = Code(rawValue: "damagedDatabase")
  /// SQLite does not do what it was asked: a query that is wrong, a name that it keeps for itself, too many columns.
  public static let databaseRefused = Code(rawValue: "databaseRefused")
}

extension StoreError {
  init(_ error: DatabaseError, file: URL, table: String?) {
    let code: Code =
      switch error.resultCode {
      case .SQLITE_NOTADB: StoreError.notADatabase
      case .SQLITE_CORRUPT: StoreError.damagedDatabase
      case .SQLITE_BUSY, .SQLITE_LOCKED: StoreError.locked
      case .SQLITE_FULL: StoreError.diskFull
      case .SQLITE_READONLY, .SQLITE_PERM: StoreError.permissionDenied
      case .SQLITE_CANTOPEN, .SQLITE_IOERR: StoreError.inputOutput
      default: StoreError.databaseRefused
      }
    self.init(code, error.message ?? "SQLite error \(error.resultCode)", file: file.path, table: table)
  }
}
