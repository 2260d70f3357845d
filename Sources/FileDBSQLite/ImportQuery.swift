import FileDB
import FileDBExchange
import Foundation
import GRDB

/// The query that an import sends to SQLite.
struct ImportQuery {
  let statement: Statement
  /// The columns with what a FileDB table has besides its fields.
  private(set) var reserved: [String] = []
  /// The highest id that the table ever gave, if the database knows it.
  private(set) var counter: Int64?

  init(_ source: SQLiteImport, in db: Database) throws {
    let byID = source.matching == .id
    if byID { reserved = ["id"] }
    switch source.source {
    case .query(let sql):
      guard let select = try db.onlyStatement(of: sql), select.isReadonly, select.columnCount > 0 else {
        throw StoreError(StoreError.databaseRefused, "the query should be one SELECT", file: source.file.path)
      }
      statement = select
    case .table(let table):
      guard try db.has(table) else { throw try db.hasNo(table, source.file) }
      let isExported = try SQLiteExport.made(table, in: db)
      if isExported, source.matching != .nothing { reserved = ["id", "position"] }
      if byID { counter = try db.sequence(of: table) }
      let order = try isExported ? "position, id" : db.rowid(of: table)
      let orderBy = order.map { " ORDER BY \($0)" } ?? ""
      statement = try db.makeStatement(sql: "SELECT * FROM \(try quotedIdentifier(table))\(orderBy)")
    }
  }
}

extension Database {
  /// The statement in `sql`; `nil` if there is none, or more than one.
  func onlyStatement(of sql: String) throws -> Statement? {
    let statements = try allStatements(sql: sql)
    guard let first = try statements.next() else { return nil }
    return try statements.next() == nil ? first : nil
  }

  fileprivate func hasNo(_ table: String, _ file: URL) throws -> StoreError {
    let names = try String.fetchAll(
      self,
      sql: """
        SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
        """)
    let others = names.isEmpty ? "it has none" : "it has " + names.map { "'\($0)'" }.joined(separator: ", ")
    return StoreError(
      .tableNotFound, "the database has no such table; \(others)", file: file.path, table: table)
  }

  /// The name of the rowid of `table`; `nil` if it has none.
  fileprivate func rowid(of table: String) throws -> String? {
    // A view may seem to have the rowid of a table that it reads from. But it has an order of its own.
    guard try !viewExists(table) else { return nil }
    let from = "FROM \(try quotedIdentifier(table))"
    let names = Set(try makeStatement(sql: "SELECT * \(from)").columnNames.map(ColumnKey.init))
    // A column may have one of these three names.
    return ["rowid", "_rowid_", "oid"].first {
      !names.contains(ColumnKey($0)) && (try? makeStatement(sql: "SELECT \($0) \(from)")) != nil
    }
  }
}
