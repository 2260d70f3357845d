import FileDB
import Foundation
import GRDB

/// A `SELECT` over tables of a store. The tables are copied into a database in memory, in the form of ``SQLiteExport``,
/// with the columns `id` and `position` and one for each field.
package struct TableQuery {
  /// The result of the query.
  package struct Answer: Sendable {
    package let columns: [String]
    package let rows: [[PlistValue?]]
  }

  private let sql: String

  package init(_ sql: String) { self.sql = sql }

  /// The tables that the query may use: those whose names occur in it.
  package func tables(among names: [String]) -> [String] {
    let sql = sql.lowercased()
    return names.filter { sql.contains($0.lowercased()) }
  }

  /// - Throws: ``StoreError/databaseRefused`` if SQLite refuses it, or if it is not a single `SELECT`;
  ///   ``StoreError/Code/unrepresentableValue`` for a table with two fields that SQLite does not distinguish.
  /// - Complexity: O(*n*) in the records of the tables, and the cost of SQLite.
  package func run(on tables: [TableSnapshot<Fields>]) throws -> Answer {
    do {
      let database = try DatabaseQueue()
      try database.write { db in
        for table in tables {
          let export = SQLiteExport(to: URL(fileURLWithPath: ":memory:"), table: table.table)
          try export.write(table, export.columns(of: table), in: db, counter: 0) { _ in }
        }
      }
      return try database.read(answer)
    } catch let error as DatabaseError {
      throw StoreError(StoreError.databaseRefused, error.message ?? "SQLite error \(error.resultCode)")
    }
  }

  private func answer(_ db: Database) throws -> Answer {
    guard let select = try db.onlyStatement(of: sql), select.isReadonly, select.columnCount > 0 else {
      throw StoreError(StoreError.databaseRefused, "the query should be one SELECT")
    }
    let columns = select.columnNames.enumerated().map { position, name in
      SQLiteColumn(position: Int32(position), field: name, type: nil, of: select.sqliteStatement)
    }
    let cursor = try Row.fetchCursor(select)
    var rows: [[PlistValue?]] = []
    while try cursor.next() != nil {
      rows.append(try columns.map { try $0.value(in: select.sqliteStatement) })
    }
    return Answer(columns: select.columnNames, rows: rows)
  }
}
