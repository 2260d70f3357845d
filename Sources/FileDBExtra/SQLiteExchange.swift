import FileDB
import FileDBCommand
import FileDBExchange
import FileDBSQLite

/// Tables from and to SQLite.
extension AllExtras {
  func run(
    _ intake: DatabaseImport, into table: TableName<Fields>, at position: Position<Fields>,
    in transaction: inout StoreTransaction, progress: (_ rows: Int) -> Void
  ) throws -> ImportReport {
    let source: SQLiteImport.Source =
      switch intake.source {
      case .table(let name): .table(name)
      case .query(let query): .query(query)
      }
    var importer = SQLiteImport(source, of: intake.file)
    importer.types = intake.types
    importer.schema = intake.schema
    importer.columnOrder = .asInFile
    importer.matching = intake.matching
    importer.onError = intake.onError
    importer.unmatched = intake.unmatched
    return try importer.run(into: table, at: position, in: &transaction, progress: progress)
  }

  func run(
    _ export: DatabaseExport, of records: AnyRandomAccessCollection<StoredRecord<Fields>>, counter: Int64,
    progress: (_ records: Int) -> Void
  ) throws {
    var exporter = SQLiteExport(to: export.file, table: export.table)
    (exporter.chosen, exporter.schema) = (export.chosen, export.schema)
    if export.replacesTable { exporter.existingTable = .replaced }
    try exporter.run(records, counter: counter, progress: progress)
  }

  func answer(_ query: String, about store: StoreSnapshot) throws -> QueryAnswer {
    let query = TableQuery(query)
    let tables = query.tables(among: store.tableNames).map { store[.records($0)] }
    let answer = try query.run(on: tables)
    return QueryAnswer(columns: answer.columns, rows: answer.rows)
  }
}
