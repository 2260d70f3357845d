import FileDB
import FileDBPlist

/// Turns the rows of delimited text into records.
public struct DelimitedImport: Sendable {
  /// What an empty field means.
  public enum EmptyText: String, Sendable, CaseIterable {
    /// The record does not have the field. If the empty text is in quotes and the type has an empty value, the field
    /// has that value: an empty string or empty data.
    case missing
    /// In a field of text, an empty string, with quotes or without. In other fields, as ``missing``.
    case text
    /// As ``missing``. If the row changes an existing record, the record also loses the field. In JSON, `null` does the
    /// same.
    case clear
  }

  /// What an import takes although it is not as it should be.
  public struct Tolerance: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Columns without a name, and with the name of another one. They get names of their own: `column_2`, `price_2`.
    public static let columnNames = Tolerance(rawValue: 1)
    /// Rows with fewer fields than there are columns, which lack the others; and rows with more, whose others become
    /// fields called `column_4`.
    public static let rowLengths = Tolerance(rawValue: 2)
  }

  /// The names of the fields, in the order of the columns; `nil` to take them from the first row.
  public var fields: [String]?
  /// Whether the first row has names, in whose place ``fields`` are used.
  var replacesHeader = false
  /// What an import takes although it is not as it should be.
  public var tolerated: Tolerance = []
  /// How numbers and dates are written.
  public var notation = TextNotation()
  /// The types of fields by name. All other fields are strings.
  public var types: [String: FieldType]
  /// What an empty field means.
  public var emptyText: EmptyText
  /// Fields that each row must have.
  var key: [String] = []
  /// The types of fields that neither ``types`` nor the table knows.
  var fallbackTypes: [String: FieldType] = [:]

  /// An import with these fields and types.
  public init(fields: [String]? = nil, types: [String: FieldType] = [:], emptyText: EmptyText = .missing) {
    self.fields = fields
    self.types = types
    self.emptyText = emptyText
  }

  /// Calls `body` with each record, and returns the number of records.
  /// - Throws: ``StoreError`` with the file, line and column if a string does not fit its type, a row has too many or
  ///   too few fields, a column has no name, two columns have the same name, or a type is given for a column that does
  ///   not exist; and what `body` throws.
  @discardableResult
  public func run(
    _ reader: consuming DelimitedReader, file: String, _ body: (Fields) throws -> Void
  ) throws -> Int {
    var count = 0
    try forEachRow(reader, file: file) { reading in
      try body(try reading.get().normalized(file: file))
      count += 1
    }
    return count
  }

  /// Passes each row, or the error in it, to `body`.
  func forEachRow(
    _ reader: consuming DelimitedReader, file: String, _ body: (ImportRow.Reading) throws -> Void
  ) throws {
    let columns = try columns(&reader, file: file, table: nil)
    try forEachRow(&reader, columns, file: file, body)
  }

  /// Passes each row after the header, or the error in it, to `body`.
  func forEachRow(
    _ reader: inout DelimitedReader, _ columns: Columns, file: String,
    _ body: (ImportRow.Reading) throws -> Void
  ) throws {
    while try reader.advance() { try body(row(reader.reading(), columns: columns, file: file)) }
  }

  /// The type of each column: the narrowest of integer, float, bool and date for which every text is written again
  /// exactly as it is, or is a number or a date in the ``notation``. This reads all rows that can be read.
  func detection(_ reader: consuming DelimitedReader, file: String) throws -> [String: ColumnDetection] {
    let columns = try columns(&reader, file: file, table: nil).named
    var candidates = columns.map { _ in TypeCandidates(notation) }
    while try reader.advance() {
      guard case .success(let row) = reader.reading() else { continue }
      for (position, cell) in row.cells.prefix(columns.count).enumerated() {
        candidates[position].see(cell, emptyText)
      }
    }
    return Dictionary(uniqueKeysWithValues: zip(columns.map(\.name), candidates.map(\.result)))
  }

  /// The columns that ``fields`` or the first row names.
  /// - Parameter table: the types to use if ``types`` has none.
  func columns(
    _ reader: inout DelimitedReader, file: String, table: TableTypes?
  ) throws -> Columns {
    if let fields {
      let header = replacesHeader ? try reader.next() : nil
      if let header, header.cellsOfHeader.count != fields.count {
        throw StoreError(
          StoreError.Code.rowLength,
          "the header has \(header.cellsOfHeader.count.counted("name")), and \(fields.count.grouped) are given",
          file: file,
          line: header.line)
      }
      return try columns(named: fields, file: file, header: nil, table: table)
    }
    guard let header = try reader.next() else {
      throw StoreError(
        .invalidText, "the file is empty; it should begin with the field names", file: file)
    }
    // If such columns get names, so does one after a separator at the end of the line.
    let cells = tolerated.contains(.columnNames) ? header.cells : header.cellsOfHeader
    var columns = try columns(named: cells.map(\.text), file: file, header: header, table: table)
    columns.lastHasNoName = cells.count < header.cells.count
    return columns
  }

  private func columns(
    named names: [String], file: String, header: DelimitedReader.Row?, table: TableTypes?
  ) throws -> Columns {
    let names = tolerated.contains(.columnNames) ? ColumnNames.unique(names) : names
    func fault(_ message: String, _ position: Int) -> StoreError {
      let cell = header?.cells[position]
      var error = StoreError(StoreError.Code.columnName, message, file: file, line: cell?.line)
      error.column = cell?.column
      return error
    }
    var seen: Set<[UInt8]> = []
    for (position, name) in names.enumerated() {
      if name.isEmpty { throw fault("column \(position + 1) has no name", position) }
      if !seen.insert(Array(name.utf8)).inserted { throw fault("two columns are named '\(name)'", position) }
    }
    if let stray = types.keys.sorted().first(where: { !names.contains($0) }) {
      throw StoreError(
        .invalidText, "a type is given for '\(stray)', but no column has that name", file: file)
    }
    if let stray = key.first(where: { !names.contains($0) }) {
      throw StoreError.noColumn(forKey: stray, file: file)
    }
    let others = ColumnNames(besides: names)
    return Columns(named: names.map { column(named: $0, table) }) { position in
      column(named: others.name(at: position), table)
    }
  }

  private func column(named name: String, _ table: TableTypes?) -> Column {
    if let type = types[name] { return column(name, type, held: nil) }
    let fallback = fallbackTypes[name]
    guard let held = table?[name], let type = held.textType else {
      if let fallback { table?.add(new: fallback, of: name) }
      return column(name, fallback ?? .string, held: nil)
    }
    if !held.agrees(with: fallback ?? .string) { table?.use(held, of: name) }
    return column(name, type, held: held)
  }

  private func column(_ name: String, _ type: FieldType, held: HeldType?) -> Column {
    Column(name: name, type: type, held: held, notation: notation.concerns(type) ? notation : nil)
  }

  func row(
    _ reading: DelimitedReader.Reading, columns: Columns, file: String
  ) -> ImportRow.Reading {
    reading.flatMap { texts in
      Result { () throws(StoreError) in try row(texts, columns: columns, file: file) }
    }
  }

  private func row(
    _ texts: DelimitedReader.Row, columns: Columns, file: String
  ) throws(StoreError) -> ImportRow {
    let (cells, names) = (texts.cells(of: columns.named.count), columns)
    let columns = columns.forRow(of: cells.count)
    var row = ImportRow(fields: Fields(), origin: .line(texts.line)) { field in
      let position = field.flatMap { field in columns.firstIndex { $0.name.utf8.elementsEqual(field.utf8) } }
      guard let position, position < cells.count else { return (texts.line, 1) }
      return (cells[position].line, cells[position].column)
    }
    if cells.count != names.named.count, !tolerated.contains(.rowLengths) {
      throw names.lengthFault(of: row, cells, file: file)
    }
    var entries: [PlistDictionary.Entry] = []
    for (column, cell) in zip(columns, cells) {
      if cell.isMissing(as: column.type, emptyText) {
        if emptyText == .clear { row.cleared.append(column.name) }
        continue
      }
      guard let value = column.value(of: cell.text) else {
        let code = TextNotation.fault(in: cell.text, of: column.type)
        if let held = column.held {
          throw row.misfit(cell.text, held, code: code, file: file, field: column.name)
        }
        throw row.error(column.type.misfit(of: cell.text), code: code, file: file, field: column.name)
      }
      entries.append(PlistDictionary.Entry(key: column.name, value: value))
    }
    row.fields.dictionary.set(entries)
    return row
  }
}

extension StoreError {
  package static func noColumn(forKey field: String, file: String, table: String? = nil) -> StoreError {
    StoreError(
      .invalidText, "it is in the key, but no column has this name", file: file, table: table,
      field: field)
  }
}

extension DelimitedReader.Cell {
  func isMissing(as type: FieldType, _ emptyText: DelimitedImport.EmptyText) -> Bool {
    guard text.isEmpty else { return false }
    // In quotes, it was written as a value, if the type has an empty value.
    if isQuoted { return type.value(of: "") == nil }
    return type != .string || emptyText != .text
  }
}
