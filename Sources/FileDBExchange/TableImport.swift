import FileDB

/// Brings the records of a file into a table.
///
///     var food = TableImport(format: .delimited(.csv))
///     food.types = ["kcal": .integer]
///     food.matching = .key(["name"])
///     let report = try store.write { tx in
///       try food.run(ImportSource(file), into: "food", in: &tx)
///     }
///     print("\(report.added) added, \(report.changed) changed")
public struct TableImport: Sendable {
  /// Which record of the table a row of the file is about.
  public enum Matching: Hashable, Sendable {
    /// None: every row is a new record, and `id` is a field like any other, unless a `fields.id` shows that an export wrote
    /// the file.
    case nothing
    /// The one with the same values in these fields, integers and reals by their value; a new one where there is none. A
    /// value that differs only in its type, as the text 1 from the number, is an error. An `id` that exports give a record is
    /// left out, unless the table has such a field itself.
    case key([String])
    /// The one whose id is the row's field `id`, as exports have it; where there is none, a new one with that id, and where
    /// the row has none, with the next id. A field that is itself called `id` is `fields.id` in the file.
    case id
  }

  /// What happens where a row cannot be taken.
  public enum ErrorPolicy: String, Sendable, CaseIterable {
    /// The import ends with the error.
    case stop
    /// The row is left out, and ``ImportReport/skipped`` has the error. Text that is broken so that nobody can say where
    /// the next row begins ends the import nevertheless.
    case skip
  }

  public var format: ExchangeFormat
  /// Of delimited text without a header, the names of the columns.
  public var fields: [String] = []
  /// The types of fields by their names in the file; in JSON they say which texts are dates or data, say.
  ///
  /// Another field of delimited text and JSON, which do not keep every type, is read as what it is in all records of the table
  /// that have it; a value that does not fit is an error. Where the table does not say, because no record has the field or
  /// its values are of several types, delimited text is a string, and JSON is what it says.
  public var types: [String: FieldType] = [:]
  /// The types of fields of delimited text that neither ``types`` nor the table knows, as ``detectedTypes(of:)`` finds them.
  public var fallbackTypes: [String: FieldType] = [:]
  /// Of delimited text.
  public var emptyText = DelimitedImport.EmptyText.missing
  public var matching = Matching.nothing
  public var onError = ErrorPolicy.stop

  public init(format: ExchangeFormat) { self.format = format }

  /// Reads `source` row by row, and adds its records to the table, the new ones in their order from `position` on; a record
  /// that matches gets the fields that the row has, and keeps its others and its place. One that already has them is not
  /// written at all.
  ///
  /// A property list keeps its ids in a table that does not exist yet, and a whole table its counter. Elsewhere the ids
  /// of a property list count only with ``Matching/id``.
  /// - Parameter progress: told now and then how many rows were read.
  /// - Throws: ``StoreError/invalidText``, ``StoreError/unrepresentableValue`` and ``StoreError/reservedField`` with file, line
  ///   and column; ``StoreError/duplicateKey``; the errors of reading the file and of ``StoreTransaction``'s verbs.
  /// - Complexity: O(*n*) in the rows of the file and, but for a property list without a key, in the records of the table.
  ///   Memory grows with the new records, and with the file only where that is a property list.
  public func run(
    _ source: ImportSource, into table: TableName<Fields>, at position: Position = .bottom,
    in transaction: inout StoreTransaction, progress: (_ rows: Int) -> Void = { _ in }
  ) throws -> ImportReport {
    let before = try transaction.snapshot(of: table)
    // Whoever copies a table wants its ids; who adds to one wants new ones.
    let keepsIDs = matching == .id || (format.isPropertyList && !before.exists)
    let rules = RowMerge.Rules(
      matching, onError: onError, keepsIDs: keepsIDs, hasIDAsField: !format.isPropertyList)
    var merge = try RowMerge(rules, into: table, at: position, of: source.name, in: transaction)
    // A property list says the type of each value itself.
    let tableTypes = format.isPropertyList ? nil : TableTypes(of: before, matching: matching)
    let counter = try read(source, tableTypes) {
      try merge.take(identified($0, file: source.name), in: &transaction, progress: progress)
    }
    var report = try merge.finish(counter: counter, in: &transaction)
    report.tableTypes = tableTypes?.used ?? [:]
    return report
  }

  /// The types of the columns of delimited text: integer, float, bool or date where every value of the column is one and
  /// comes back the same when it is written, so that `007` stays text. ``types`` win.
  /// - Returns: the types of the columns that are no strings; none for another format.
  /// - Complexity: it reads all of `source`.
  public func detectedTypes(of source: ImportSource) throws -> [String: FieldType] {
    guard case .delimited(let format, _) = format else { return types }
    let reader = DelimitedReader(name: source.name, format: format, nextPiece: try source.open())
    let detected = try delimitedImport.detectedTypes(reader, file: source.name)
    return detected.merging(types) { $1 }
  }

  private var delimitedImport: DelimitedImport {
    var names: [String]?
    if case .delimited(_, hasHeader: false) = format { names = fields }
    var delimited = DelimitedImport(fields: names, types: types, emptyText: emptyText)
    delimited.fallbackTypes = fallbackTypes
    if case .key(let fields) = matching { delimited.key = fields }
    return delimited
  }

  /// - Returns: the counter of the table that the file is, if it is one.
  private func read(
    _ source: ImportSource, _ table: TableTypes?, _ body: (ImportRow.Reading) throws -> Void
  ) throws -> Int64? {
    switch format {
    case .delimited(let format, _):
      let reader = DelimitedReader(name: source.name, format: format, nextPiece: try source.open())
      try delimitedImport.forEachRow(reader, file: source.name, table: table, body)
    case .json: try JSONRows.readArray(source) { try body(typed($0, as: table, file: source.name)) }
    case .ndjson: try JSONRows.readLines(source) { try body(typed($0, as: table, file: source.name)) }
    case .plist, .binaryPlist:
      let rows = try PlistRows(source)
      try rows.forEachRow { try body(typed($0, as: table, file: source.name)) }
      return rows.counter
    }
    return nil
  }

  private func identified(_ reading: ImportRow.Reading, file: String) -> ImportRow.Reading {
    guard matching == .id else { return reading }
    return reading.flatMap { row in
      Result { () throws(StoreError) in
        var row = row
        if row.id == nil { try row.takeID(file: file) }
        return row
      }
    }
  }

  private func typed(
    _ reading: ImportRow.Reading, as table: TableTypes?, file: String
  ) -> ImportRow.Reading {
    reading.flatMap { row in
      Result { () throws(StoreError) in
        let row = try typed(row, file: file)
        return try table.map { table throws(StoreError) in
          try row.typed(as: table, besides: types, file: file)
        } ?? row
      }
    }
  }

  private func typed(_ row: ImportRow, file: String) throws(StoreError) -> ImportRow {
    var row = row
    for (field, type) in types {
      guard let value = row.fields[field] else { continue }
      guard let typed = type.value(of: value) else {
        let text = DelimitedWriter.text(of: value)
        throw row.error("'\(text)' is not \(type.expectation)", file: file, field: field)
      }
      row.fields[field] = typed
    }
    return row
  }
}

/// What an import did.
public struct ImportReport: Sendable {
  public internal(set) var added = 0
  public internal(set) var changed = 0
  /// Rows whose record had all their values already.
  public internal(set) var unchanged = 0
  /// Rows whose `id` was taken for that of an export, and is no field of the record.
  public internal(set) var ignoredIDs = 0
  /// The types that fields were read as because the table's records have them, where the file would have given them another
  /// one; by the names that they have in the file.
  public internal(set) var tableTypes: [String: FieldType] = [:]
  /// Why rows were left out, in their order.
  public internal(set) var skipped: [StoreError] = []
}

extension StoreError {
  /// Two rows of an import, or two records of its table, have the same key.
  public static let duplicateKey = Code(rawValue: "duplicateKey")
}
