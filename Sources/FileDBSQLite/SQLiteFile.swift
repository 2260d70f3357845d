import FileDB
import Foundation
import GRDB

/// A database file, opened for one import or export.
struct SQLiteFile {
  private let url: URL
  private let queue: DatabaseQueue

  /// Opens an existing database for reading.
  init(reading url: URL) throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), !isFolder.boolValue else {
      let message = isFolder.boolValue ? "this is a folder, not a file" : "there is no such file"
      throw StoreError(.fileNotFound, message, file: url.path)
    }
    var configuration = Self.configuration
    configuration.readonly = true
    configuration.prepareDatabase { db in
      // A view in a stranger's file must not run functions with side effects.
      try db.execute(sql: "PRAGMA trusted_schema = OFF")
    }
    try self.init(url, configuration)
  }

  /// Opens a database. Creates it if there is no file.
  init(writing url: URL) throws { try self.init(url, Self.configuration) }

  private init(_ url: URL, _ configuration: Configuration) throws {
    self.url = url
    queue = try onSQLite(url) { try DatabaseQueue(path: url.path, configuration: configuration) }
  }

  private static var configuration: Configuration {
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    // Replacing a table must not delete rows of other tables by `ON DELETE CASCADE`.
    configuration.foreignKeysEnabled = false
    return configuration
  }

  func read<Result>(table: String?, _ body: (Database) throws -> Result) throws -> Result {
    try onSQLite(url, table: table) { try queue.read(body) }
  }

  /// Runs `body` in one transaction.
  func write<Result>(table: String, _ body: (Database) throws -> Result) throws -> Result {
    try onSQLite(url, table: table) { try queue.write(body) }
  }

  func close() throws { try onSQLite(url) { try queue.close() } }
}

/// Runs `body`, and converts SQLite's errors to the store's.
private func onSQLite<Result>(
  _ file: URL, table: String? = nil, _ body: () throws -> Result
) throws -> Result {
  do { return try body() } catch let error as DatabaseError {
    throw StoreError(error, file: file, table: table)
  }
}

extension Database {
  /// Whether there is a table or a view of this name.
  func has(_ table: String) throws -> Bool { try tableExists(table) || viewExists(table) }
}

/// `name` quoted for SQL.
/// - Throws: SQLite's error for a NUL, which would end the name.
func quotedIdentifier(_ name: String) throws -> String {
  guard !name.utf8.contains(0) else {
    throw DatabaseError(resultCode: .SQLITE_ERROR, message: "a name in SQLite cannot hold a NUL")
  }
  return "\"" + name.utf8Replacing("\"", with: "\"\"") + "\""
}

extension String {
  /// Finds a quote even if it is one character together with a combining accent after it.
  fileprivate func utf8Replacing(_ scalar: Unicode.Scalar, with text: String) -> String {
    var result = ""
    for next in unicodeScalars {
      if next == scalar { result += text } else { result.unicodeScalars.append(next) }
    }
    return result
  }
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
