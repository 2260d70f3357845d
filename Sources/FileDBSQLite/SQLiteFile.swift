import FileDB
import Foundation

/// A database file, opened for one import or export.
struct SQLiteFile {
  private let url: URL
  private let connection: SQLiteConnection

  /// Opens an existing database for reading.
  init(reading url: URL) throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), !isFolder.boolValue else {
      let message = isFolder.boolValue ? "this is a folder, not a file" : "there is no such file"
      throw StoreError(.fileNotFound, message, file: url.path)
    }
    try self.init(url, for: .reading)
  }

  /// Opens a database. Creates it if there is no file.
  init(writing url: URL) throws { try self.init(url, for: .writing) }

  private init(_ url: URL, for purpose: SQLiteConnection.Purpose) throws {
    self.url = url
    connection = try onSQLite(url) { try SQLiteConnection(url.path, for: purpose) }
  }

  /// Runs `body` in one transaction. `table` is for errors.
  func transaction<Result>(table: String?, _ body: (SQLiteConnection) throws -> Result) throws -> Result {
    try onSQLite(url, table: table) { try connection.transaction { try body(connection) } }
  }
}

/// Runs `body`, and converts SQLite's errors to the store's.
private func onSQLite<Result>(
  _ file: URL, table: String? = nil, _ body: () throws -> Result
) throws -> Result {
  do { return try body() } catch let error as SQLiteError {
    throw StoreError(error, file: file, table: table)
  }
}

extension SQLiteConnection {
  /// Whether there is a table or a view of this name.
  func has(_ table: String) throws -> Bool { try kind(of: table) != nil }

  /// `table` or `view`; `nil` if there is neither.
  func kind(of table: String) throws -> String? {
    let sql = "SELECT type FROM sqlite_master WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE"
    return try column(sql, .string(table)).first??.string
  }
}

/// `name` quoted for SQL.
func quotedIdentifier(_ name: String) -> String {
  "\"" + name.replacing(["\"": "\"\""]) + "\""
}

/// The name of a column, compared as SQLite does: by its bytes, but ignoring the case of A to Z.
struct ColumnKey: Hashable {
  private let bytes: [UInt8]

  init(_ name: String) {
    bytes = name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }

  /// What an export puts before the name of a field if another column has that name.
  static let prefix = "fields."

  /// Whether this is `other` with at least `count` times ``prefix`` before it.
  func isName(_ other: String, withPrefixes count: Int) -> Bool {
    let prefix = Self.prefix.utf8
    var (rest, found) = (bytes[...], 0)
    while rest.starts(with: prefix) {
      rest = rest.dropFirst(prefix.count)
      found += 1
    }
    return found >= count && rest == ColumnKey(other).bytes[...]
  }
}
