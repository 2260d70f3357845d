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

  /// The names of the fields, in the order of the columns; `nil` to take them from the first row.
  public var fields: [String]?
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
    _ reader: inout DelimitedReader, _ columns: [Column], file: String,
    _ body: (ImportRow.Reading) throws -> Void
  ) throws {
    while try reader.advance() { try body(row(reader.reading(), columns: columns, file: file)) }
  }

  /// The type of each column: the narrowest of integer, float, bool and date for which every text is written again
  /// exactly as it is. This reads all rows that can be read. Columns of strings are left out.
  func detectedTypes(_ reader: consuming DelimitedReader, file: String) throws -> [String: FieldType] {
    let columns = try columns(&reader, file: file, table: nil)
    var candidates = columns.map { _ in TypeCandidates() }
    while try reader.advance() {
      guard case .success(let row) = reader.reading() else { continue }
      for (position, cell) in row.cells.prefix(columns.count).enumerated() {
        candidates[position].see(cell, emptyText)
      }
    }
    var types: [String: FieldType] = [:]
    for (column, candidates) in zip(columns, candidates) { types[column.name] = candidates.type }
    return types
  }

  /// The columns that ``fields`` or the first row names.
  /// - Parameter table: the types to use if ``types`` has none.
  func columns(
    _ reader: inout DelimitedReader, file: String, table: TableTypes?
  ) throws -> [Column] {
    if let fields { return try columns(named: fields, file: file, header: nil, table: table) }
    guard let header = try reader.next() else {
      throw StoreError(
        .invalidText, "the file is empty; it should begin with the field names", file: file)
    }
    return try columns(named: header.fields, file: file, header: header, table: table)
  }

  struct Column {
    let name: String
    let type: FieldType
    /// The type of the field in the table, if that is the one to use.
    let held: HeldType?

    /// The types whose plain text is written as it is, the first that fits.
    var plainTypes: (FieldType, other: FieldType?) {
      if case .numbers? = held { (.integer, .float) } else { (type, nil) }
    }

    func value(of text: String) -> PlistValue? {
      held.map { $0.value(of: .string(text)) } ?? type.value(of: text)
    }
  }

  private func columns(
    named names: [String], file: String, header: DelimitedReader.Row?, table: TableTypes?
  ) throws -> [Column] {
    func fault(_ message: String, _ position: Int) -> StoreError {
      let cell = header?.cells[position]
      return StoreError(invalidText: message, file: file, line: cell?.line, column: cell?.column)
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
    return names.map { column(named: $0, table) }
  }

  private func column(named name: String, _ table: TableTypes?) -> Column {
    if let type = types[name] { return Column(name: name, type: type, held: nil) }
    let fallback = fallbackTypes[name] ?? .string
    guard let held = table?[name], let type = held.textType else {
      if fallback != .string { table?.note(new: fallback, of: name) }
      return Column(name: name, type: fallback, held: nil)
    }
    if !held.agrees(with: fallback) { table?.note(held, of: name) }
    return Column(name: name, type: type, held: held)
  }

  func row(
    _ reading: DelimitedReader.Reading, columns: [Column], file: String
  ) -> ImportRow.Reading {
    reading.flatMap { texts in
      Result { () throws(StoreError) in try row(texts, columns: columns, file: file) }
    }
  }

  private func row(
    _ texts: DelimitedReader.Row, columns: [Column], file: String
  ) throws(StoreError) -> ImportRow {
    var row = ImportRow(fields: Fields(), origin: .line(texts.line)) { field in
      let position = field.flatMap { field in columns.firstIndex { $0.name.utf8.elementsEqual(field.utf8) } }
      guard let position, position < texts.cells.count else { return (texts.line, 1) }
      return (texts.cells[position].line, texts.cells[position].column)
    }
    guard texts.cells.count == columns.count else {
      throw row.error("expected \(columns.count) fields, found \(texts.cells.count)", file: file)
    }
    var entries: [PlistDictionary.Entry] = []
    for (column, cell) in zip(columns, texts.cells) {
      if cell.isMissing(as: column.type, emptyText) {
        if emptyText == .clear { row.cleared.append(column.name) }
        continue
      }
      guard let value = column.value(of: cell.text) else {
        if let held = column.held { throw row.misfit(cell.text, held, file: file, field: column.name) }
        throw row.error("'\(cell.text)' is not \(column.type.expectation)", file: file, field: column.name)
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

/// The types that are still possible for the strings of a column.
private struct TypeCandidates {
  private var types: [FieldType] = [.integer, .float, .bool, .date]
  private var hasText = false

  /// `nil` if only `string` fits all of them.
  var type: FieldType? { hasText ? types.first : nil }

  mutating func see(_ cell: DelimitedReader.Cell, _ emptyText: DelimitedImport.EmptyText) {
    guard !types.isEmpty, !cell.isMissing(as: .string, emptyText) else { return }
    hasText = true
    types.removeAll { type in
      type.value(of: cell.text).map { DelimitedWriter.text(of: $0).utf8.elementsEqual(cell.text.utf8) }
        != true
    }
  }
}
