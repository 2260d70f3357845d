import FileDB
import Foundation
import GRDB

/// The rows of an import as records, one after the other.
final class SQLiteRows {
  private let file: URL
  private let table: String?
  private let statement: Statement
  private let cursor: RowCursor
  private let idPosition: Int32?
  private let columns: [SQLiteColumn]
  private var count = 0

  init(_ source: SQLiteImport, in db: Database) throws {
    file = source.file
    table = source.source.table
    statement = try db.statement(for: source)
    let plan = try ColumnPlan(statement, of: source)
    idPosition = plan.idPosition
    columns = plan.columns
    cursor = try Row.fetchCursor(statement)
  }

  func next() throws -> IdentifiedRow<FileDB.Record>? {
    guard try cursor.next() != nil else { return nil }
    count += 1
    let id = try idPosition.flatMap { try recordID(at: $0) }
    var record = FileDB.Record()  // GRDB has a `Record` too.
    for column in columns {
      do throws(StoreError) {
        record[column.field] = try column.value(in: statement.sqliteStatement)
      } catch {
        throw placed(error, field: column.field)
      }
    }
    do throws(StoreError) {
      return IdentifiedRow(try record.normalized(limits: PlistLimits()), id: id)
    } catch {
      throw placed(error, field: error.field)
    }
  }

  private func recordID(at position: Int32) throws -> RecordID? {
    let column = SQLiteColumn(position: position, field: "", type: nil, of: statement.sqliteStatement)
    guard let value = try column.value(in: statement.sqliteStatement) else { return nil }
    guard let number = value.integer, let id = RecordID(rawValue: number) else {
      let error = StoreError(StoreError.invalidRow, "\(value) is not a record's id")
      throw placed(error, field: statement.columnNames[Int(position)])
    }
    return id
  }

  private func placed(_ error: StoreError, field: String?) -> StoreError {
    StoreError(error.code, "\(error.message) (row \(count))", file: file.path, table: table, field: field)
  }
}

/// Which column becomes what.
private struct ColumnPlan {
  let idPosition: Int32?
  private(set) var columns: [SQLiteColumn] = []

  init(_ statement: Statement, of source: SQLiteImport) throws {
    func fault(_ message: String) -> StoreError {
      StoreError(StoreError.invalidText, message, file: source.file.path, table: source.source.table)
    }
    let names = statement.columnNames
    let reserved = [source.idColumn, source.source.orderColumn].compactMap(\.self)
    let id = source.idColumn.flatMap { id in names.firstIndex { ColumnKey($0) == ColumnKey(id) } }
    if let column = source.idColumn, id == nil { throw fault("there is no column '\(column)' for the ids") }
    idPosition = id.map(Int32.init)
    var fields = PlistDictionary()
    for (position, name) in names.enumerated() {
      if reserved.contains(where: { ColumnKey($0) == ColumnKey(name) }) { continue }
      let field =
        reserved.contains { ColumnKey(name).isName($0, withUnderscores: 1) } ? String(name.dropLast()) : name
      guard fields[field] == nil else { throw fault("two columns are named '\(field)'") }
      fields[field] = true
      columns.append(
        SQLiteColumn(
          position: Int32(position), field: field, type: source.types[field],
          of: statement.sqliteStatement))
    }
    let known = Set(columns.map(\.field))
    if let stray = source.types.keys.filter({ !known.contains($0) }).min() {
      throw fault("a type is given for '\(stray)', but no column has that name")
    }
  }
}

extension SQLiteImport.Source {
  fileprivate var orderColumn: String? {
    switch self {
    case .table(_, let column): column
    case .query: nil
    }
  }
}

extension Database {
  fileprivate func statement(for source: SQLiteImport) throws -> Statement {
    switch source.source {
    case .query(let sql):
      let statement = try makeStatement(sql: sql)
      guard statement.isReadonly, statement.columnCount > 0 else {
        throw StoreError(StoreError.databaseRefused, "the query should be a SELECT", file: source.file.path)
      }
      return statement
    case .table(let table, let order):
      guard try has(table) else {
        throw StoreError(
          StoreError.tableNotFound, "the database has no such table", file: source.file.path, table: table)
      }
      return try rows(of: table, orderedBy: order, idColumn: source.idColumn, in: source.file)
    }
  }

  private func rows(
    of table: String, orderedBy order: String?, idColumn: String?, in file: URL
  ) throws -> Statement {
    let from = "FROM \(try quotedIdentifier(table))"
    let names = Set(try makeStatement(sql: "SELECT * \(from)").columnNames.map(ColumnKey.init))
    // A column may bear one of the three names of the rowid, and some tables have none. A view may seem to have one, that of
    // a table behind it; but its order is its own.
    let isView = try viewExists(table)
    let rowid = ["rowid", "_rowid_", "oid"].first {
      !isView && !names.contains(ColumnKey($0)) && (try? makeStatement(sql: "SELECT \($0) \(from)")) != nil
    }
    var keys = rowid.map { [$0] } ?? []
    if let order {
      // Asked first, for SQLite takes a quoted name that is no column for a text.
      guard names.contains(ColumnKey(order)) else {
        throw StoreError(
          StoreError.invalidText, "there is no column '\(order)' for the order", file: file.path, table: table
        )
      }
      keys.insert(try quotedIdentifier(order), at: 0)
    }
    let asksForRowid = idColumn.map(ColumnKey.init) == ColumnKey("rowid") && rowid == "rowid"
    let columns = asksForRowid ? "rowid AS rowid, *" : "*"
    let orderBy = keys.isEmpty ? "" : " ORDER BY " + keys.joined(separator: ", ")
    return try makeStatement(sql: "SELECT \(columns) \(from)\(orderBy)")
  }
}
