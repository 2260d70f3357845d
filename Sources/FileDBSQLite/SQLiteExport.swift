import FileDB
import FileDBExchange
import Foundation
import GRDB

/// Writes the rows of a table into a table of a SQLite database, for whoever wants to ask SQL about them.
///
///     try SQLiteExport(to: file).run(notes.snapshot)
///
/// The table gets the columns `id INTEGER PRIMARY KEY` and `position`, which counts the rows from 0 in their order, and one
/// for each field, in the order of their names:
///
/// | value | in SQLite | declared, where the field has no other |
/// | --- | --- | --- |
/// | string | text | `TEXT` |
/// | integer | integer; above 2^63-1 its digits as text | `INTEGER`; nothing |
/// | real | real; `nan`, which SQLite does not have, as text; -0 as 0 | `REAL` |
/// | bool | 0 or 1 | `BOOLEAN` |
/// | date | text, `2024-02-29T12:00:00Z`, as SQLite's date functions read it | `DATETIME` |
/// | data | blob | `BLOB` |
/// | array, dict | JSON text, see ``JSONText`` | `TEXT` |
///
/// A field whose values are of several types gets a column without a type, where SQLite leaves each as it is. A field called
/// `id` or `position`, in any case and with any number of underscores behind it, gets one underscore more.
///
/// ``SQLiteImport/init(exported:of:)`` brings the table back; its ``SQLiteImport/types`` say which texts are dates or JSON.
public struct SQLiteExport: Sendable {
  /// What happens to a table of that name that the database has.
  public enum ExistingTable: Sendable {
    case refused
    /// It is dropped, with its indexes and triggers.
    case replaced
  }

  public var file: URL
  /// The name of the table in the database; `nil` for its name here.
  public var table: String?
  public var existingTable = ExistingTable.refused

  public init(to file: URL, table: String? = nil) {
    self.file = file
    self.table = table
  }

  /// Writes the rows in one transaction, and returns how many there were. The database is made where there is no file, and
  /// other tables of it stay as they are.
  /// - Throws: with the file and the table: ``StoreError/tableNotFound`` for a table that does not exist here,
  ///   ``StoreError/tableExists``, ``StoreError/notADatabase``, ``StoreError/damagedDatabase``, ``StoreError/locked``,
  ///   ``StoreError/databaseRefused`` for a name that SQLite keeps for itself, a NUL in it or too many fields,
  ///   ``StoreError/unrepresentableValue`` for two fields that SQLite does not tell apart, and the disk's errors.
  /// - Complexity: O(*n*): the rows are decoded twice, one by one.
  @discardableResult
  public func run<Row>(_ snapshot: TableSnapshot<Row>) throws -> Int {
    guard snapshot.exists else {
      throw StoreError(StoreError.tableNotFound, "there is no such table", table: snapshot.table)
    }
    let columns = try ExportColumn.columns(of: snapshot)
    let isNew = !FileManager.default.fileExists(atPath: file.path)
    do {
      let database = try SQLiteFile(writing: file)
      try database.write(table: table ?? snapshot.table) { db in
        try create(columns, of: snapshot.table, in: db)
        try insert(snapshot, columns, in: db)
      }
      try database.close()
    } catch {
      if isNew { try? FileManager.default.removeItem(at: file) }
      throw error
    }
    return snapshot.count
  }

  private func create(_ columns: [ExportColumn], of source: String, in db: Database) throws {
    let name = table ?? source
    if try db.has(name) {
      guard case .replaced = existingTable else {
        throw StoreError(
          StoreError.tableExists, "the database has such a table", file: file.path, table: name)
      }
      try db.execute(sql: "DROP TABLE \(try quotedIdentifier(name))")
    }
    let fields = try columns.map { ", \(try quotedIdentifier($0.name)) \($0.declaration)" }.joined()
    try db.execute(
      sql: """
        CREATE TABLE \(try quotedIdentifier(name)) (id INTEGER PRIMARY KEY, position INTEGER NOT NULL\(fields))
        """)
  }

  private func insert<Row>(
    _ snapshot: TableSnapshot<Row>, _ columns: [ExportColumn], in db: Database
  ) throws {
    let places = Array(repeating: "?", count: columns.count + 2).joined(separator: ", ")
    let statement = try db.makeStatement(
      sql: "INSERT INTO \(try quotedIdentifier(table ?? snapshot.table)) VALUES (\(places))")
    for (position, row) in snapshot.enumerated() {
      let record = row.record
      let values = columns.map { record[$0.field]?.databaseValue ?? .null }
      statement.setUncheckedArguments(
        StatementArguments([row.id.rawValue.databaseValue, position.databaseValue] + values))
      try statement.execute()
    }
  }
}

extension PlistValue {
  fileprivate var databaseValue: DatabaseValue {
    switch self {
    case .string(let text): text.databaseValue
    case .integer(let number): number.databaseValue
    case .unsigned(let number): number.description.databaseValue
    case .real(let number): number.isNaN ? "nan".databaseValue : number.databaseValue
    case .bool(let value): (value ? 1 : 0).databaseValue
    case .date(let date): PlistDate.text(date).databaseValue
    case .data(let data): data.databaseValue
    case .array, .dict: JSONText.value(self).databaseValue
    }
  }
}
