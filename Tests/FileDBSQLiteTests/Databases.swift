import FileDB
import FileDBExchange
import FileDBSQLite
import Foundation
import GRDB
import TestSupport

/// Runs `body` with the path of a database that is not there yet.
func withDatabase<Result>(_ body: (URL) throws -> Result) throws -> Result {
  try withTemporaryFolder { try body($0.appendingPathComponent("a base.sqlite")) }
}

/// Runs SQL with GRDB.
func sql(_ statements: String, in file: URL) throws {
  let queue = try DatabaseQueue(path: file.path)
  try queue.writeWithoutTransaction { try $0.execute(sql: statements) }
  try queue.close()
}

/// The values of a query as SQL literals, row by row.
func literals(_ query: String, in file: URL) throws -> [[String]] {
  let queue = try DatabaseQueue(path: file.path)
  defer { try? queue.close() }
  return try queue.read { db in
    try Row.fetchAll(db, sql: query).map { row in row.map { "\($0.1)" } }
  }
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
  try process.run()
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
  return text
}
