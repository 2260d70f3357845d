import FileDB
import FileDBExchange
import Foundation

/// Brings the rows of a SQLite table or query into a table.
///
///     var planets = SQLiteImport(.table("planet"), of: file)
///     planets.types = ["found": .date]
///     planets.matching = .key(["name"])
///     let report = try store.write { tx in try planets.run(into: "planets", in: &tx) }
///
/// Integers, reals, texts and blobs become integers, reals, strings and data; NULL leaves its field out. In a column that is
/// declared `BOOL` or `BOOLEAN`, 0 and 1 become `false` and `true`; in one that is declared `DATE`, `DATETIME` or
/// `TIMESTAMP`, a text like `2024-02-29T12:00:00Z` becomes a date. Other dates are what their program made of them, a text or a
/// number, and stay that unless ``types`` names them.
public struct SQLiteImport: Sendable {
  /// Which rows.
  public enum Source: Hashable, Sendable {
    /// Those of a table in the order of their rowids; a view or a table without rowids gives them in an order of its own, a table
    /// that ``SQLiteExport`` made in the one that they had.
    case table(String)
    /// What a `SELECT` gives, in its order.
    case query(String)
  }

  public var source: Source
  public var file: URL
  /// The types of columns by their names, where the value that SQLite has is not to stay as it is. Besides the texts that
  /// ``FieldType`` reads, a `date` may be what SQLite's date functions take: a text like `2024-02-29 12:00:00.000`, in UTC unless
  /// it has an offset, an integer of seconds since 1970, or a real, a Julian day; parts of a second are cut off. A `bool` may be 0 or
  /// 1.
  public var types: [String: FieldType] = [:]
  /// Which records the rows are about. By `.id`, the column `id` holds their ids and becomes no field; by that or a key,
  /// nor do the `id` and the `position` of a table that ``SQLiteExport`` made. A field of one of these names is in a column
  /// with one underscore more.
  public var matching = TableImport.Matching.nothing
  public var onError = TableImport.ErrorPolicy.stop

  public init(_ source: Source, of file: URL) {
    self.source = source
    self.file = file
  }

  /// Reads row by row, and brings them into the table as ``TableImport`` does. The database is not changed.
  ///
  /// By `.id`, a table that does not exist yet takes over the highest id ever given, where the database's is `AUTOINCREMENT`.
  /// - Parameter progress: told now and then how many rows were read.
  /// - Throws: with file, table and field: ``StoreError/fileNotFound``, ``StoreError/notADatabase``,
  ///   ``StoreError/damagedDatabase``, ``StoreError/tableNotFound``, ``StoreError/databaseRefused`` for a query that is wrong or
  ///   does not only read, ``StoreError/locked``, ``StoreError/invalidText`` for a value that does not fit its type or columns
  ///   that cannot be fields, ``StoreError/unrepresentableValue``, ``StoreError/reservedField``,
  ///   ``StoreError/duplicateKey``; and the errors of ``StoreTransaction``'s verbs.
  /// - Complexity: O(*n*) in the rows and, with a key, in the records of the table. Memory grows with the new records.
  @discardableResult
  public func run(
    into table: TableName<Fields>, at position: Position = .bottom, in transaction: inout StoreTransaction,
    progress: (_ rows: Int) -> Void = { _ in }
  ) throws -> ImportReport {
    // Which `id` an export wrote is known by its table.
    let rules = RowMerge.Rules(matching, onError: onError, keepsIDs: matching == .id, hasIDAsField: false)
    var merge = try RowMerge(rules, into: table, at: position, of: file.path, in: transaction)
    return try SQLiteFile(reading: file).read(table: source.table) { db in
      let rows = try SQLiteRows(self, in: db)
      while let reading = try rows.next() {
        try merge.take(reading, in: &transaction, progress: progress)
      }
      return try merge.finish(counter: rows.counter, in: &transaction)
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
