import CFileDBSQLite
import FileDB
import FileDBExchange
import FileDBSQLite
import Foundation
import TestSupport

/// Runs `body` with the path of a database that is not there yet.
func withDatabase<Result>(_ body: (URL) throws -> Result) throws -> Result {
  try withTemporaryFolder { try body($0.appendingPathComponent("a base.sqlite")) }
}

/// A database, opened by SQLite alone. So a mistake in what the tests are for does not hide itself.
final class Database {
  private var handle: OpaquePointer?

  struct Refusal: Error {
    let message: String
  }

  init(_ path: String = ":memory:") throws {
    guard sqlite3_open(path, &handle) == SQLITE_OK else { throw refusal }
  }

  deinit { sqlite3_close(handle) }

  /// Runs statements, and returns all their rows as text; `nil` is NULL.
  @discardableResult
  func run(_ statements: String) throws -> [[String?]] {
    var rows: [[String?]] = []
    let code = withUnsafeMutablePointer(to: &rows) { rows in
      sqlite3_exec(
        handle, statements,
        { rows, count, values, _ in
          let row = UnsafeBufferPointer(start: values, count: Int(count)).map {
            $0.map { String(cString: $0) }
          }
          rows!.assumingMemoryBound(to: [[String?]].self).pointee.append(row)
          return 0
        }, rows, nil)
    }
    guard code == SQLITE_OK else { throw refusal }
    return rows
  }

  private var refusal: Refusal { Refusal(message: String(cString: sqlite3_errmsg(handle))) }
}

/// Runs statements in a file, and returns all their rows as text.
@discardableResult
func sql(_ statements: String, in file: URL) throws -> [[String?]] {
  try Database(file.path).run(statements)
}

/// The records that an import adds to an empty store.
func imported(_ importer: SQLiteImport) throws -> [FileDB.Fields] {
  try withStore { store in
    let report = try take(importer, of: store)
    let records = try store.table("t").lastSnapshot.map(\.fields)
    precondition(report.added == records.count)
    return records
  }
}

@discardableResult
func take(
  _ importer: SQLiteImport, into table: TableName<FileDB.Fields> = "t", of store: RecordStore
) throws -> ImportReport {
  try store.write { tx in try importer.run(into: table, in: &tx) }
}

extension SQLiteImport {
  /// Brings back a table that was exported.
  init(exported table: String, of file: URL) {
    self.init(.table(table), of: file)
    matching = .id
  }
}

/// Where the `sqlite3` program is; `nil` if it is not.
let sqliteProgram: URL? = {
  let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
  return path.split(separator: ":").map { URL(fileURLWithPath: "\($0)/sqlite3") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }
}()

func runSQLiteProgram(_ file: URL, _ input: String) throws -> String {
  let process = Process()
  process.executableURL = sqliteProgram
  process.arguments = ["-batch", "-bail", file.path, input]
  let output = Pipe()
  process.standardOutput = output
  try process.start()
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
  return text
}
