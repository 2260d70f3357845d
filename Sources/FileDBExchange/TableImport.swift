import FileDB

/// Imports the records of a file into a table.
///
///     var food = TableImport(format: .delimited(.csv))
///     food.types = ["kcal": .integer]
///     food.matching = .key(["name"])
///     let report = try store.write { tx in
///       try food.run(ImportSource(file), into: "food", in: &tx)
///     }
///     print("\(report.added) added, \(report.changed) changed")
public struct TableImport: Sendable {
  /// How the import finds the record of the table that a row of the file changes.
  public enum Matching: Hashable, Sendable {
    /// It does not look for one: every row is a new record. `id` is a field like any other. But if the file also has a
    /// `fields.id`, then an export wrote it, and `id` is left out.
    case nothing
    /// By the values of these fields. Integers and reals are compared by their value. If no record has these values,
    /// the row is a new record. If a value differs only in its type, such as the text 1 and the number 1, the import
    /// throws. It leaves out the `id` that exports add, unless the table itself has such a field.
    case key([String])
    /// By the row's field `id`, which exports write. If no record has this id, the row is a new record with this id. If
    /// the row has no `id`, it is a new record with the next id. A field that is itself called `id` is `fields.id` in
    /// the file.
    case id
  }

  /// What to do about a wrong row.
  public enum ErrorPolicy: String, Sendable, CaseIterable {
    /// The import ends with the error.
    case stop
    /// The row is left out, and ``ImportReport/skipped`` has the error. The import still ends with an error if it
    /// cannot tell where the next row begins.
    case skip
  }

  /// What to do about a record of the table that no row changes.
  public enum Unmatched: Sendable {
    /// It stays as it is.
    case kept
    /// It is deleted, so that the table has the same records as the file. This needs a key or ids. If a wrong row was
    /// left out, nothing is deleted.
    case deleted
  }

  /// The format of the file.
  public var format: ExchangeFormat
  /// The names of the columns, for delimited text without a header, or in place of its header.
  public var fields: [String] = []
  /// What is taken in delimited text although it is not as it should be.
  public var tolerated: DelimitedImport.Tolerance = []
  /// How delimited text writes numbers and dates.
  public var notation = TextNotation()
  /// The types of fields, by their names in the file. In JSON, for example, they tell which strings are dates or data.
  ///
  /// Delimited text and JSON do not keep every type. If you give no type for a field here, the import takes the type
  /// that the field has in the records of the table. A value that does not fit is an error. If no record of the table
  /// has the field, or its values have several types, the field is a string in delimited text and keeps its type in
  /// JSON. But if a row changes a record, and an export would write the record's own value as it is in the row, the
  /// value stays. A value that differs gets the type of the record's own value if it would still be written as it is
  /// in the row.
  public var types: [String: FieldType] = [:]
  /// The types of fields in delimited text that have no type in ``types`` or in the table. For example, use what
  /// ``detectedTypes(of:)`` finds.
  public var fallbackTypes: [String: FieldType] = [:]
  /// What an empty field in delimited text means.
  public var emptyText = DelimitedImport.EmptyText.missing
  /// A schema for the table, in place of what it declared before. The import reads the rows as these types, and the
  /// rows must keep these rules. `nil` leaves the table's schema as it is.
  public var schema: TableSchema?
  /// The order of the columns of a new table, if there is no ``schema``.
  public var columnOrder = ColumnOrder.byName
  /// How the import finds the record that a row changes.
  public var matching = Matching.nothing
  /// What to do about a wrong row.
  public var onError = ErrorPolicy.stop
  /// What to do about the records of the table that no row changes.
  public var unmatched = Unmatched.kept

  /// An import of a file in this format.
  public init(format: ExchangeFormat) { self.format = format }

  /// Reads `source` row by row and adds its records to the table. New records keep their order; the first goes to
  /// `position`. If a row matches a record, the record gets the row's fields, and keeps its other fields and its place.
  /// If it already has the same values, it is not written.
  ///
  /// If the table does not exist yet, the records of a property list keep their ids, and a whole table also keeps its
  /// counter. Otherwise, the ids of a property list are used only with ``Matching/id``.
  /// - Parameter progress: called now and then with the number of rows read so far.
  /// - Throws: ``StoreError/Code/invalidText``, and for delimited text ``StoreError/Code/columnName``,
  ///   ``StoreError/Code/rowLength``, ``StoreError/Code/strayQuote``, ``StoreError/Code/otherNumber`` and
  ///   ``StoreError/Code/otherDate``; ``StoreError/Code/unrepresentableValue`` and ``StoreError/Code/reservedField``;
  ///   all of these with file, line and column; ``StoreError/Code/duplicateKey``; the errors of reading
  ///   the file, and those of the methods of ``RecordTable``.
  /// - Complexity: O(*n*) in the rows of the file and in the records of the table; for a property list without a key,
  ///   only in the rows. Memory grows with the new records, and for a property list with the file.
  public func run(
    _ source: ImportSource, into table: TableName<Fields>, at position: Position<Fields> = .bottom,
    in transaction: inout StoreTransaction, progress: (_ rows: Int) -> Void = { _ in }
  ) throws -> ImportReport {
    let former = try transaction[table].snapshot()
    if let schema { try transaction[table].declare(schema) }
    let before = try transaction[table].snapshot()
    // Someone who copies a table wants its ids. Someone who adds to a table wants new ones.
    let keepsIDs = matching == .id || (format.isPropertyList && !former.exists)
    var rules = RowMerge.Rules(
      matching, onError: onError, keepsIDs: keepsIDs, hasIDAsField: !format.isPropertyList)
    rules.unmatched = unmatched
    rules.clearsFields = emptyText == .clear
    rules.ownTypes = ownTypes(in: before)
    var merge = try RowMerge(rules, into: table, at: position, of: source.name, in: transaction)
    // A property list contains the type of each value.
    let tableTypes = format.isPropertyList ? nil : TableTypes(of: before, matching: matching)
    let counter: Int64?
    var columns: [String] = []
    if case .delimited(let format, _) = self.format {
      counter = nil
      columns = try readDelimited(source, format, tableTypes, into: &merge, in: &transaction, progress)
    } else {
      counter = try read(source, tableTypes) { reading in
        if columns.isEmpty, case .success(let row) = reading { columns = row.names }
        try merge.take(identified(reading, file: source.name), in: &transaction, progress: progress)
      }
    }
    var report = try merge.finish(counter: former.exists ? nil : counter, in: &transaction)
    if !former.exists, columnOrder == .asInFile {
      try transaction.declareColumns(ownNames(of: columns, report), of: table)
    }
    report.tableTypes = tableTypes?.used ?? [:]
    report.newTypes = tableTypes?.new ?? [:]
    return report
  }

  /// Finds the types of the columns of delimited text. A column is integer, float, bool or date if every value in it
  /// has this type and would be written in the same way. So a column with `007` is text. ``types`` take precedence.
  /// - Returns: the types of the columns that are not strings; for other formats, ``types``.
  /// - Throws: for delimited text, as ``DelimitedReader/next()``; the disk's errors.
  /// - Complexity: O(*n*): it reads all of `source`.
  public func detectedTypes(of source: ImportSource) throws -> [String: FieldType] {
    guard case .delimited(let format, _) = format else { return types }
    let reader = try DelimitedReader(source, format: format)
    let detected = try delimitedImport.detection(reader, file: source.name)
    return detected.compactMapValues(\.type).merging(types) { $1 }
  }

  /// What the texts of each column could be; nothing for formats other than delimited text.
  /// - Complexity: O(*n*): it reads all of `source`.
  package func detection(of source: ImportSource) throws -> [String: ColumnDetection] {
    guard case .delimited(let format, _) = format else { return [:] }
    return try delimitedImport.detection(try DelimitedReader(source, format: format), file: source.name)
  }

  private func ownTypes(in table: TableSnapshot<Fields>) -> OwnTypes? {
    switch format {
    case .delimited: OwnTypes(.delimited, given: types, schema: table.knownSchema)
    case .json, .ndjson: OwnTypes(.json, given: types, schema: table.knownSchema)
    case .plist, .binaryPlist: nil
    }
  }

  /// The names that the columns of a file have in the table.
  private func ownNames(of columns: [String], _ report: ImportReport) -> [String] {
    columns.compactMap { name in
      if name == "id" { return report.storedIDs > 0 ? name : nil }
      return FieldName(besideID: name)?.text ?? name
    }
  }

  private var delimitedImport: DelimitedImport {
    let hasHeader = if case .delimited(_, hasHeader: false) = format { false } else { true }
    let names = hasHeader && fields.isEmpty ? nil : fields
    var delimited = DelimitedImport(fields: names, types: types, emptyText: emptyText)
    delimited.replacesHeader = hasHeader
    (delimited.tolerated, delimited.notation) = (tolerated, notation)
    delimited.fallbackTypes = fallbackTypes
    if case .key(let fields) = matching { delimited.key = fields }
    return delimited
  }

  /// - Returns: the names of the columns.
  private func readDelimited(
    _ source: ImportSource, _ format: DelimitedFormat, _ table: TableTypes?, into merge: inout RowMerge,
    in transaction: inout StoreTransaction, _ progress: (_ rows: Int) -> Void
  ) throws -> [String] {
    var reader = try DelimitedReader(source, format: format)
    let columns = try delimitedImport.columns(&reader, file: source.name, table: table)
    if try merge.takesEncodedRecords(withFields: columns.names, in: transaction) {
      try merge.take(&reader, columns, delimitedImport, in: &transaction, progress: progress)
    } else {
      try delimitedImport.forEachRow(&reader, columns, file: source.name) {
        try merge.take(identified($0, file: source.name), in: &transaction, progress: progress)
      }
    }
    return columns.names
  }

  /// - Returns: the counter, if the file is a whole table.
  private func read(
    _ source: ImportSource, _ table: TableTypes?, _ body: (ImportRow.Reading) throws -> Void
  ) throws -> Int64? {
    switch format {
    case .delimited: break
    case .json: try JSONRows.readObjects(source) { try body(typed($0, as: table, file: source.name)) }
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
        throw row.error(type.misfit(of: text), file: file, field: field)
      }
      row.fields[field] = typed
    }
    return row
  }
}

/// The numbers of records that an import added, changed and deleted, and its errors.
public struct ImportReport: Sendable {
  /// The number of rows that became new records.
  public internal(set) var added = 0
  /// The number of rows that changed a record.
  public internal(set) var changed = 0
  /// The number of records that were deleted, because no row matched them.
  public internal(set) var deleted = 0
  /// The number of rows whose record already had all of their values.
  public internal(set) var unchanged = 0
  /// The number of rows whose `id` was left out, because an export wrote it.
  public internal(set) var ignoredIDs = 0
  /// The number of rows whose `id` became a field of that name. If the import matches ids or keys, it is 0.
  public internal(set) var storedIDs = 0
  /// The fields, by their names in the file, that were read as the type that they have in the table instead of the type
  /// in the file.
  public internal(set) var tableTypes: [String: FieldType] = [:]
  /// The types from ``TableImport/fallbackTypes`` that were used, by the names in the file.
  public internal(set) var newTypes: [String: FieldType] = [:]
  /// The errors of the rows that were left out, in the order of the rows.
  public internal(set) var skipped: [StoreError] = []
}

extension StoreError.Code {
  /// Two rows of an import, or two records of its table, have the same key.
  public static let duplicateKey = Self(rawValue: "duplicateKey")
}
