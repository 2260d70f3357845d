import FileDB
import Foundation

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

  /// - Throws: ``StoreError/Code/databaseRefused`` if SQLite refuses it, or if it is not a single `SELECT`;
  ///   ``StoreError/Code/unrepresentableValue`` for a table with two fields that SQLite does not distinguish.
  /// - Complexity: O(*n*) in the records of the tables, and the cost of SQLite.
  package func run(on tables: [TableSnapshot<Fields>]) throws -> Answer {
    do {
      let database = try SQLiteConnection(":memory:", for: .writing)
      try database.transaction {
        for table in tables {
          let export = SQLiteExport(to: URL(fileURLWithPath: ":memory:"), table: table.table)
          try export.write(table, export.columns(of: table), in: database, counter: 0) { _ in }
        }
      }
      return try answer(database.prepareSelect(sql))
    } catch let error as SQLiteError { throw StoreError(error) }
  }

  private func answer(_ select: SQLiteStatement) throws -> Answer {
    let names = select.columnNames
    let columns = zip(Int32(0)..., names).map { position, name in
      SQLiteColumn(position: position, field: name, type: nil, of: select)
    }
    var rows: [[PlistValue?]] = []
    while try select.step() { rows.append(try columns.map { try $0.value(in: select) }) }
    return Answer(columns: names, rows: rows)
  }
}
