import FileDB
import FileDBExchange
import Foundation

/// The rows of an import, one after another.
final class SQLiteRows {
  /// The highest id that the table ever gave, if the database knows it.
  let counter: Int64?

  private let file: String
  private let table: String?
  private let statement: SQLiteStatement
  private let columns: ImportColumns
  private var count = 0

  init(_ source: SQLiteImport, in db: SQLiteConnection) throws {
    let query = try ImportQuery(source, in: db)
    file = source.file.path
    table = source.source.table
    statement = query.statement
    counter = query.counter
    columns = try ImportColumns(query, of: source)
  }

  /// The names of the fields that the columns become, in order.
  var fieldNames: [String] { columns.fields.map(\.field) }

  /// - Returns: the next row, or the error in it; `nil` after the last row.
  /// - Throws: SQLite's errors. After these, there is no next row.
  func next() throws -> ImportRow.Reading? {
    guard try statement.step() else { return nil }
    count += 1
    return Result { () throws(StoreError) in try row() }
  }

  private func row() throws(StoreError) -> ImportRow {
    var row = ImportRow(fields: Fields(), table: table, origin: .row(count))
    if let value = try value(columns.id, of: row) { row.id = try row.recordID(value, file: file) }
    for column in columns.fields { row.fields[column.field] = try value(column, of: row) }
    return row
  }

  private func value(_ column: SQLiteColumn?, of row: ImportRow) throws(StoreError) -> PlistValue? {
    do throws(StoreError) { return try column?.value(in: statement) } catch {
      throw row.error(error.message, code: error.code, file: file, field: column?.field)
    }
  }
}
