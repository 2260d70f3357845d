import FileDB
import FileDBExchange
import FileDBPlist
import Foundation

/// Writes the records of a table into a table of a SQLite database, so that you can query them with SQL.
///
///     try SQLiteExport(to: file, table: "notes").run(notes.snapshot())
///
/// The table in SQLite gets the column `id INTEGER PRIMARY KEY AUTOINCREMENT`, the column `position`, which counts the
/// records from 0 in their order, and a column for each field:
///
/// | value | in SQLite | declared type, if all values of the field have this type |
/// | --- | --- | --- |
/// | string | text | `TEXT` |
/// | integer | integer; above 2^63-1 its digits as text | `INTEGER`; nothing |
/// | real | real; `nan`, which SQLite does not have, as text; -0 as 0 | `REAL` |
/// | bool | 0 or 1 | `BOOLEAN` |
/// | date | text, `2024-02-29T12:00:00Z`, as SQLite's date functions read it | `DATETIME` |
/// | data | blob | `BLOB` |
/// | array, dict | JSON text, see ``JSONText`` | `TEXT` |
///
/// If the values of a field have several types, its column declares no type, and SQLite keeps each value as it is. The
/// fields `id` and `position`, in upper or lower case, become `fields.id` and `fields.position`. A field called
/// `fields.id` becomes `fields.fields.id`, and so on.
///
/// ``SQLiteImport`` brings the table back. Use ``TableImport/Matching/id`` to keep its ids.
public struct SQLiteExport: Sendable {
  /// What to do if the database already has a table of that name.
  public enum ExistingTable: Sendable {
    case refused
    /// It is dropped, with its indexes and triggers.
    case replaced
  }

  /// The database's file.
  public var file: URL
  /// The name of the table in the database.
  public var table: String
  /// The fields to write, in this order. `nil` writes all: first those of ``schema``, then the others in the order of
  /// their UTF-8 bytes.
  public var fields: [String]?
  /// Used instead of ``fields``. It may also name values in dictionaries. The id always has a column.
  package var chosen: [FieldReference]?
  /// The table's schema. The fields that it declares become the first columns. If it is `nil`, ``run(_:progress:)``
  /// takes the snapshot's schema.
  public var schema: TableSchema?
  /// What to do if the database already has a table of that name.
  public var existingTable = ExistingTable.refused

  /// An export into a table of the database `file`.
  public init(to file: URL, table: String) {
    self.file = file
    self.table = table
  }

  /// Writes all records, and the highest id that the table has ever given; see ``run(_:counter:progress:)``.
  /// - Throws: also ``StoreError/Code/tableNotFound`` if the snapshot's table does not exist.
  @discardableResult
  public func run<Row>(
    _ snapshot: TableSnapshot<Row>, progress: (_ records: Int) -> Void = { _ in }
  ) throws -> Int {
    guard snapshot.exists else {
      throw StoreError(.tableNotFound, "there is no such table", table: snapshot.table)
    }
    var export = self
    if schema == nil { export.schema = try? snapshot.schema }  // An unreadable schema gives no order.
    return try export.run(AnyRandomAccessCollection(snapshot), counter: snapshot.counter, progress: progress)
  }

  /// Writes the records in one transaction, and returns their number. If the file does not exist, it creates the
  /// database. The database's other tables stay as they are.
  /// - Parameters:
  ///   - counter: the highest id that the records' table has ever given. SQLite will give only higher ids.
  ///   - progress: called now and then with the number of records written so far.
  /// - Throws: with the file and the table: ``StoreError/Code/tableExists``, ``StoreError/Code/notADatabase``,
  ///   ``StoreError/Code/damagedDatabase``, ``StoreError/Code/locked``; ``StoreError/Code/databaseRefused`` for a name that
  ///   SQLite reserves, a NUL in a name or too many fields; ``StoreError/Code/unrepresentableValue`` for two fields
  ///   whose names are equal for SQLite; and the disk's errors.
  /// - Complexity: O(*n*): the records are decoded twice, one by one.
  @discardableResult
  public func run<Row>(
    _ rows: some Collection<StoredRecord<Row>>, counter: Int64 = 0,
    progress: (_ records: Int) -> Void = { _ in }
  ) throws -> Int {
    let columns = try columns(of: rows)
    let isNew = !FileManager.default.fileExists(atPath: file.path)
    do {
      try SQLiteFile(writing: file).transaction(table: table) { db in
        try write(rows, columns, in: db, counter: counter, progress)
      }
    } catch {
      if isNew { try? FileManager.default.removeItem(at: file) }
      throw error
    }
    return rows.count
  }

  func columns<Row>(of rows: some Collection<StoredRecord<Row>>) throws(StoreError) -> [ExportColumn] {
    let chosen = chosen ?? fields?.map(FieldReference.init(field:))
    return try ExportColumn.columns(of: rows, named: chosen, declaredIn: schema, table: table)
  }

  /// Writes the records into an open database.
  func write<Row>(
    _ rows: some Collection<StoredRecord<Row>>, _ columns: [ExportColumn], in db: SQLiteConnection,
    counter: Int64, _ progress: (_ records: Int) -> Void
  ) throws {
    try create(columns, in: db)
    try insert(rows, columns, in: db, progress)
    if counter > 0 { try db.setSequence(of: table, to: counter) }
  }

  private func create(_ columns: [ExportColumn], in db: SQLiteConnection) throws {
    let name = quotedIdentifier(table)
    if try db.has(table) {
      guard case .replaced = existingTable else {
        throw StoreError(
          .tableExists, "the database already has a table of this name",
          file: file.path, table: table)
      }
      try db.execute("DROP TABLE \(name)")
    }
    let fields = columns.map { ", \(quotedIdentifier($0.name)) \($0.declaration)" }.joined()
    try db.execute("CREATE TABLE \(name) (\(Self.ownColumns)\(fields))")
  }

  private func insert<Row>(
    _ rows: some Collection<StoredRecord<Row>>, _ columns: [ExportColumn], in db: SQLiteConnection,
    _ progress: (Int) -> Void
  ) throws {
    let places = Array(repeating: "?", count: columns.count + 2).joined(separator: ", ")
    let insert = try db.prepare("INSERT INTO \(quotedIdentifier(table)) VALUES (\(places))")
    for (position, row) in rows.enumerated() {
      let record = row.fields
      let values = columns.map { $0.field.value(in: record, of: row.id.plain) }
      try insert.execute([.integer(row.id.rawValue), .integer(Int64(position))] + values)
      if (position + 1).isMultiple(of: 1_000) { progress(position + 1) }
    }
  }
}
