import FileDB
import FileDBExchange
import Foundation

/// The query that an import sends to SQLite.
struct ImportQuery {
  let statement: SQLiteStatement
  /// The columns with what a FileDB table has besides its fields.
  private(set) var reserved: [String] = []
  /// The highest id that the table ever gave, if the database knows it.
  private(set) var counter: Int64?

  init(_ source: SQLiteImport, in db: SQLiteConnection) throws {
    let byID = source.matching == .id
    if byID { reserved = ["id"] }
    switch source.source {
    case .query(let sql):
      statement = try db.prepareSelect(sql)
    case .table(let table):
      guard try db.has(table) else { throw try db.hasNo(table, source.file) }
      let isExported = try SQLiteExport.made(table, in: db)
      if isExported, source.matching != .nothing { reserved = ["id", "position"] }
      if byID { counter = try db.sequence(of: table) }
      let order = try isExported ? "position, id" : db.rowid(of: table)
      let orderBy = order.map { " ORDER BY \($0)" } ?? ""
      statement = try db.prepare("SELECT * FROM \(quotedIdentifier(table))\(orderBy)")
    }
  }
}

extension SQLiteConnection {
  fileprivate func hasNo(_ table: String, _ file: URL) throws -> StoreError {
    let names = try column(
      """
      SELECT name FROM sqlite_master
      WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
      """
    ).compactMap { $0?.string }
    let others = names.isEmpty ? "it has none" : "it has " + names.map { "'\($0)'" }.joined(separator: ", ")
    return StoreError(
      .tableNotFound, "the database has no such table; \(others)", file: file.path, table: table)
  }

  /// The name of the rowid of `table`; `nil` if it has none.
  fileprivate func rowid(of table: String) throws -> String? {
    // A view may seem to have the rowid of a table that it reads from. But it has an order of its own.
    guard try kind(of: table) == "table" else { return nil }
    let from = "FROM \(quotedIdentifier(table))"
    let names = Set(try prepare("SELECT * \(from)").columnNames.map(ColumnKey.init))
    // A column may have one of these three names.
    return ["rowid", "_rowid_", "oid"].first {
      !names.contains(ColumnKey($0)) && (try? prepare("SELECT \($0) \(from)")) != nil
    }
  }
}
