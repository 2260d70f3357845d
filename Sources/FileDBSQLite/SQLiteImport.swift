import FileDB
import FileDBExchange
import FileDBPlist
import Foundation

/// Imports the rows of a SQLite table or query into a table.
///
///     var planets = SQLiteImport(.table("planet"), of: file)
///     planets.types = ["found": .date]
///     planets.matching = .key(["name"])
///     let report = try store.write { tx in try planets.run(into: "planets", in: &tx) }
///
/// Integers, reals, text and blobs become integers, reals, strings and data. If a value is NULL, the record does not
/// have the field. In a column that is declared `BOOL` or `BOOLEAN`, 0 and 1 become `false` and `true`. In a column
/// that is declared `DATE`, `DATETIME` or `TIMESTAMP`, a string like `2024-02-29T12:00:00Z` becomes a date. Other dates
/// stay the text or number that their program stored, unless ``types`` names them.
public struct SQLiteImport: Sendable {
  /// The rows to import.
  public enum Source: Hashable, Sendable {
    /// The rows of a table, in the order of their rowids. The rows of a view, or of a table without rowids, come in the
    /// order in which SQLite returns them. The rows of a table that ``SQLiteExport`` wrote come back in their original
    /// order.
    case table(String)
    /// The rows of a `SELECT`, in the order of its result.
    case query(String)
  }

  /// The rows to import.
  public var source: Source
  /// The database's file.
  public var file: URL
  /// The types of columns by name. Other columns keep the values that SQLite has.
  ///
  /// A `date` may be a string that ``FieldType`` reads, or anything that SQLite's date functions read: a string like
  /// `2024-02-29 12:00:00.000`, in UTC if it has no offset; an integer, as seconds since 1970; a real, as a Julian day.
  /// Fractions of a second are cut off. A `bool` may also be 0 or 1.
  public var types: [String: FieldType] = [:]
  /// How the import finds the record that a row changes. With `.id`, the column `id` holds the ids and does not become
  /// a field. In a table that ``SQLiteExport`` wrote, neither `id` nor `position` becomes a field with `.id` or a key.
  /// Fields of these names are in the columns `fields.id` and `fields.position`.
  public var matching = TableImport.Matching.nothing
  /// A schema for the table, in place of what it declared before; `nil` leaves the table's schema as it is. Columns
  /// that ``types`` does not name are read as the types that the schema gives them.
  public var schema: TableSchema?
  /// The order of the columns of a new table, if there is no ``schema``.
  public var columnOrder = ColumnOrder.byName
  /// What to do about a wrong row.
  public var onError = TableImport.ErrorPolicy.stop
  /// What to do about the records of the table that no row changes.
  public var unmatched = TableImport.Unmatched.kept

  /// An import of these rows of the database `file`.
  public init(_ source: Source, of file: URL) {
    self.source = source
    self.file = file
  }

  /// Reads row by row and imports the rows as ``TableImport`` does. It does not change the database.
  ///
  /// With `.id`, if the table does not exist yet and the table in SQLite has `AUTOINCREMENT`, the new table takes over
  /// the highest id ever given.
  /// - Parameter progress: called now and then with the number of rows read so far.
  /// - Throws: with file, table and field: ``StoreError/Code/fileNotFound``, ``StoreError/Code/notADatabase``,
  ///   ``StoreError/Code/damagedDatabase``, ``StoreError/Code/tableNotFound``; ``StoreError/Code/databaseRefused`` for a query
  ///   that is wrong or does more than read; ``StoreError/Code/locked``; ``StoreError/Code/invalidText`` for a value that
  ///   does not fit its type or columns that cannot be fields; ``StoreError/Code/unrepresentableValue``,
  ///   ``StoreError/Code/reservedField``, ``StoreError/Code/duplicateKey``; and the errors of the methods of
  ///   ``RecordTable``.
  /// - Complexity: O(*n*) in the rows and, with a key, in the records of the table. Memory grows with the new records.
  @discardableResult
  public func run(
    into table: TableName<Fields>, at position: Position<Fields> = .bottom,
    in transaction: inout StoreTransaction,
    progress: (_ rows: Int) -> Void = { _ in }
  ) throws -> ImportReport {
    let isNew = try !transaction[table].exists
    if let schema { try transaction[table].declare(schema) }
    // Whether an `id` was written by an export can be told from its table.
    var rules = RowMerge.Rules(matching, onError: onError, keepsIDs: matching == .id, hasIDAsField: false)
    rules.unmatched = unmatched
    rules.ownTypes = OwnTypes(.sqlite, given: types, schema: schema)
    var merge = try RowMerge(rules, into: table, at: position, of: file.path, in: transaction)
    return try SQLiteFile(reading: file).transaction(table: source.table) { db in
      let rows = try SQLiteRows(self, in: db)
      while let reading = try rows.next() {
        try merge.take(reading, in: &transaction, progress: progress)
      }
      let report = try merge.finish(counter: isNew ? rows.counter : nil, in: &transaction)
      if isNew, columnOrder == .asInFile { try transaction.declareColumns(rows.fieldNames, of: table) }
      return report
    }
  }
}

extension WrittenForm {
  /// As ``SQLiteExport`` writes it.
  fileprivate static let sqlite = WrittenForm { value in
    switch value {
    case .date(let date): .string(PlistDate.text(date))
    case .unsigned, .array, .dict: .string(DelimitedWriter.text(of: value))
    case .real(let number) where number.isNaN: .string(DelimitedWriter.text(of: value))
    case .real(0): 0.0
    case .bool(let value): .integer(value ? 1 : 0)
    case .string, .integer, .real, .data: value
    }
  }
}

extension SQLiteImport.Source {
  /// The table or view, for an error.
  var table: String? {
    switch self {
    case .table(let name): name
    case .query: nil
    }
  }
}
