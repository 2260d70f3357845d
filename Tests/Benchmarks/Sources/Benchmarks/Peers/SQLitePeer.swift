import Foundation
import GRDBSQLite

/// SQLite by its C interface, with statements that are prepared once: what GRDB stands on.
final class SQLitePeer: Peer {
  static let name = "SQLite, C interface"

  private let sample: Sample
  private lazy var opened = Result { try SQLiteConnection(GRDBPeer.makeDatabase(sample, in: "GRDB-read")) }

  init(_ sample: Sample) { self.sample = sample }

  func prepare(_ workload: Workload) throws -> Run? {
    switch workload {
    case .filter, .predicate, .predicateAgain: try filtering()
    case .groups, .groupsAgain: try grouping()
    default: nil
    }
  }

  private func filtering() throws -> Run {
    // The plus keeps SQLite from going by the index of the positions, which takes longer than to sort what is found.
    let statement = try opened.get().prepare(
      "SELECT title, note, amount, price, due, isDone FROM storedEntry WHERE price >= ? ORDER BY +position")
    return { [sample] in try sample.filterRows { try statement.entries(atLeast: Sample.dear) } }
  }

  private func grouping() throws -> Run {
    let statement = try opened.get().prepare(
      "SELECT isDone, count(*), sum(amount), avg(price), max(price) FROM storedEntry GROUP BY isDone")
    return { [sample] in try sample.readGroups { try statement.groups() } }
  }
}

private final class SQLiteConnection {
  private var handle: OpaquePointer?

  init(_ file: URL) throws {
    try expect(
      sqlite3_open_v2(file.path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK, "opening \(file)")
  }

  deinit { sqlite3_close_v2(handle) }

  func prepare(_ sql: String) throws -> SQLiteStatement {
    var statement: OpaquePointer?
    let result = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    try expect(result == SQLITE_OK, "preparing \(sql)")
    return SQLiteStatement(statement, of: self)
  }
}

private final class SQLiteStatement {
  private let handle: OpaquePointer?
  private let connection: SQLiteConnection

  init(_ handle: OpaquePointer?, of connection: SQLiteConnection) {
    (self.handle, self.connection) = (handle, connection)
  }

  deinit { sqlite3_finalize(handle) }

  func entries(atLeast price: Double) throws -> [Entry] {
    sqlite3_bind_double(handle, 1, price)
    return try rows { entry }
  }

  /// What `read` makes of each row that the statement gives.
  private func rows<Row>(_ read: () -> Row) throws -> [Row] {
    defer { sqlite3_reset(handle) }
    var rows: [Row] = []
    var result = sqlite3_step(handle)
    while result == SQLITE_ROW {
      rows.append(read())
      result = sqlite3_step(handle)
    }
    try expect(result == SQLITE_DONE, "reading rows")
    return rows
  }

  func groups() throws -> [Sample.Group] {
    try rows {
      Sample.Group(
        isDone: sqlite3_column_int(handle, 0) != 0, count: Int(sqlite3_column_int64(handle, 1)),
        amounts: Int(sqlite3_column_int64(handle, 2)), averagePrice: sqlite3_column_double(handle, 3),
        highestPrice: sqlite3_column_double(handle, 4))
    }
  }

  private var entry: Entry {
    Entry(
      title: text(0), note: text(1), amount: Int(sqlite3_column_int64(handle, 2)),
      price: sqlite3_column_double(handle, 3),
      due: Date(timeIntervalSince1970: sqlite3_column_double(handle, 4)),
      isDone: sqlite3_column_int(handle, 5) != 0)
  }

  private func text(_ column: Int32) -> String { String(cString: sqlite3_column_text(handle, column)) }
}
