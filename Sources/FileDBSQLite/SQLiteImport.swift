import FileDB
import FileDBExchange
import Foundation

/// Brings the rows of a SQLite table or query into a table.
///
///     var planets = SQLiteImport(.table("planet"), of: file)
///     planets.types = ["found": .date]
///     try planets.run(into: .records("planets"), of: store)
///
/// Integers, reals, texts and blobs become integers, reals, strings and data; NULL leaves its field out. In a column that is
/// declared `BOOL` or `BOOLEAN`, 0 and 1 become `false` and `true`. A date is what its program made of it, a text or a number,
/// and stays that unless ``types`` names it.
public struct SQLiteImport: Sendable {
  /// Which rows.
  public enum Source: Hashable, Sendable {
    /// Those of a table or view, in the order of `orderedBy`, which becomes no field, or else of their rowids; a view or a
    /// table without rowids gives them in an order of its own.
    case table(String, orderedBy: String? = nil)
    /// What a `SELECT` gives, in its order.
    case query(String)
  }

  public var source: Source
  public var file: URL
  /// The types of fields by their names, where the value that SQLite has is not to stay as it is. Besides the texts that
  /// ``FieldType`` reads, a `date` may be `2024-02-29 12:00:00` or an integer of seconds since 1970, and a `bool` 0 or 1.
  public var types: [String: FieldType] = [:]
  /// The column whose integers become the records' ids, and no field; `rowid` is that of any table. `nil` for new ids.
  public var idColumn: String?

  public init(_ source: Source, of file: URL) {
    self.source = source
    self.file = file
  }

  /// A table that ``SQLiteExport`` made, with its ids and its order.
  public init(exported table: String, of file: URL) {
    self.init(.table(table, orderedBy: "position"), of: file)
    idColumn = "id"
  }

  /// Adds the rows in one transaction, and returns how many there were; see ``run(into:at:in:progress:)``.
  @discardableResult
  public func run(
    into table: TableName<Record>, at position: Position = .bottom, of store: RecordStore
  ) throws -> Int {
    try store.write { tx in try run(into: table, at: position, in: &tx) }
  }

  /// Adds the rows in their order, the first at `position`, and returns how many there were. A table without a file gets one.
  ///
  /// With an ``idColumn`` the table must be new or truncated, since its ids are never given twice. A row whose id is NULL gets
  /// a new one. A column that is called as the `idColumn` or the `orderedBy`, but with underscores behind it, loses one of
  /// them: so ``SQLiteExport`` writes fields of these names.
  ///
  /// The database is not changed.
  /// - Parameter progress: told now and then how many rows were read.
  /// - Throws: with the file, the table and the column: ``StoreError/fileNotFound``, ``StoreError/notADatabase``,
  ///   ``StoreError/damagedDatabase``, ``StoreError/tableNotFound``, ``StoreError/databaseRefused`` for a query that is wrong or
  ///   does not only read, ``StoreError/locked``, ``StoreError/invalidText`` for a value that does not fit its type or columns
  ///   that cannot be fields, ``StoreError/invalidRow`` for a value that is no id, ``StoreError/unrepresentableValue``,
  ///   ``StoreError/reservedField``. Further ``StoreError/tableExists`` for ids and a table that has given some,
  ///   ``StoreError/duplicateID``, and those of ``StoreTransaction/add(contentsOf:to:at:)``.
  /// - Complexity: O(*n*) in the rows. They are read one by one; memory grows with the new records.
  @discardableResult
  public func run(
    into table: TableName<Record>, at position: Position = .bottom, in transaction: inout StoreTransaction,
    progress: (_ rows: Int) -> Void = { _ in }
  ) throws -> Int {
    let database = try SQLiteFile(reading: file)
    return try database.read(table: source.table) { db in
      let rows = try SQLiteRows(self, in: db)
      guard idColumn != nil else {
        return try add(rows, to: table, at: position, in: &transaction, progress: progress)
      }
      return try fill(table, with: rows, in: &transaction, progress: progress)
    }
  }

  private func add(
    _ rows: SQLiteRows, to table: TableName<Record>, at position: Position,
    in transaction: inout StoreTransaction, progress: (Int) -> Void
  ) throws -> Int {
    var count = 0
    var place = position
    var batch: [Record] = []
    while true {
      let row = try rows.next()
      if let row { batch.append(row.value) }
      guard row == nil || batch.count == Self.batchLength else { continue }
      let ids = try transaction.add(contentsOf: batch, to: table, at: place)
      guard row != nil else { return count + ids.count }
      if let last = ids.last { place = .after(last) }
      count += ids.count
      progress(count)
      batch.removeAll(keepingCapacity: true)
    }
  }

  private static let batchLength = 1_000

  private func fill(
    _ table: TableName<Record>, with rows: SQLiteRows, in transaction: inout StoreTransaction,
    progress: (Int) -> Void
  ) throws -> Int {
    guard try transaction.snapshot(of: table).counter == 0 else {
      throw StoreError(
        StoreError.tableExists, "it has given ids itself; only a new table takes those of a database",
        table: table.text)
    }
    var records: [IdentifiedRow<Record>] = []
    while let row = try rows.next() {
      records.append(row)
      if records.count.isMultiple(of: Self.batchLength) { progress(records.count) }
    }
    return try transaction.replaceAll(in: table, with: records).count
  }
}

extension SQLiteImport.Source {
  /// The table or view, for an error.
  var table: String? {
    switch self {
    case .table(let name, _): name
    case .query: nil
    }
  }
}
