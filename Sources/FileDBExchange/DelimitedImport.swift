import FileDB

/// Turns the rows of delimited text into records.
public struct DelimitedImport: Sendable {
  /// The field names in the order of the columns; `nil` takes them from the first row.
  public var fields: [String]?
  /// The type of a field by its name; a field that is not named is a string.
  public var types: [String: FieldType]

  public init(fields: [String]? = nil, types: [String: FieldType] = [:]) {
    self.fields = fields
    self.types = types
  }

  /// Hands each record to `body`, and returns how many there were.
  ///
  /// A text that is empty leaves its field out, unless the field is a string.
  /// - Throws: ``StoreError`` with the file and line: a text that does not fit its type, a row with too many or too few
  ///   fields, a column without a name, a name twice or a type for no column; and what `body` throws.
  @discardableResult
  public func run(
    _ reader: consuming DelimitedReader, file: String, _ body: (Record) throws -> Void
  ) throws -> Int {
    var count = 0
    let columns: [Column]
    if let fields {
      columns = try self.columns(named: fields, file: file, line: nil)
    } else {
      guard let header = try reader.next() else {
        throw StoreError(
          StoreError.invalidText, "the file is empty; it should begin with the field names", file: file)
      }
      columns = try self.columns(named: header.fields, file: file, line: header.line)
    }
    while let row = try reader.next() {
      try body(try record(of: row, columns: columns, file: file))
      count += 1
    }
    return count
  }

  private struct Column {
    let name: String
    let type: FieldType
  }

  private func columns(named names: [String], file: String, line: Int?) throws -> [Column] {
    var seen: Set<[UInt8]> = []
    for (position, name) in names.enumerated() {
      if name.isEmpty {
        throw StoreError(StoreError.invalidText, "column \(position + 1) has no name", file: file, line: line)
      }
      if !seen.insert(Array(name.utf8)).inserted {
        throw StoreError(StoreError.invalidText, "two columns are named '\(name)'", file: file, line: line)
      }
    }
    if let stray = types.keys.sorted().first(where: { !names.contains($0) }) {
      throw StoreError(
        StoreError.invalidText, "a type is given for '\(stray)', but no column has that name", file: file)
    }
    return names.map { Column(name: $0, type: types[$0] ?? .string) }
  }

  private func record(
    of row: DelimitedReader.Row, columns: [Column], file: String
  ) throws -> Record {
    guard row.fields.count == columns.count else {
      throw StoreError(
        StoreError.invalidText, "\(row.fields.count) fields where \(columns.count) are expected", file: file,
        line: row.line)
    }
    var record = Record()
    for (column, text) in zip(columns, row.fields) {
      if text.isEmpty, column.type != .string { continue }
      guard let value = column.type.value(of: text) else {
        throw StoreError(
          StoreError.invalidText, "'\(text)' is not \(column.type.expectation)", file: file, line: row.line,
          field: column.name)
      }
      record[column.name] = value
    }
    do {
      return try record.normalized(limits: PlistLimits())
    } catch {
      throw StoreError(error.code, error.message, file: file, line: row.line, field: error.field)
    }
  }
}
