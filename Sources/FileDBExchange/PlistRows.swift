import FileDB

/// The dictionaries of a property list, XML or binary, as the rows of an import: an array of them, or a whole table.
struct PlistRows {
  private static let idKey = "wgFileDbSecretId"

  private let file: String
  private let bytes: [UInt8]
  private let elements: [PlistValue]
  private let isBinary: Bool
  /// Where in the list the records are.
  private let path: [PlistStep]
  /// The highest id that was given; `nil` where the list is no table.
  let counter: Int64?

  init(_ source: ImportSource) throws {
    file = source.name
    bytes = try source.readAll()
    isBinary = bytes.starts(with: BinaryPlistReader.signature)
    let root = try Self.root(of: bytes, file: file)
    if case .array(let elements) = root {
      (self.elements, path, counter) = (elements, [], nil)
    } else if case .dict(let table) = root, case .array(let elements)? = table["data"] {
      (self.elements, path) = (elements, [.key("data")])
      counter = table["autoincrement"]?.string.flatMap { RecordID($0) }?.rawValue ?? 0
    } else {
      throw StoreError(
        StoreError.invalidText, "the property list should be an array of dictionaries, or a table", file: file
      )
    }
  }

  private static func root(of bytes: [UInt8], file: String) throws -> PlistValue {
    if bytes.starts(with: BinaryPlistReader.signature) {
      return try BinaryPlistReader.parse(bytes, file: file)
    }
    do {
      return try PlistParser.parse(bytes)
    } catch {
      throw StoreError(invalidText: error.message, file: file, line: error.line, column: error.column)
    }
  }

  func forEachRow(_ body: (ImportRow.Reading) throws -> Void) throws {
    for number in elements.indices {
      try body(Result { () throws(StoreError) in try row(number) })
    }
  }

  private func row(_ number: Int) throws(StoreError) -> ImportRow {
    var row = ImportRow(fields: Fields(), origin: .row(number)) { field in (line(of: field, in: number), nil)
    }
    guard case .dict(var fields) = elements[number] else {
      throw row.error("a dictionary should be here", file: file)
    }
    if let value = fields.removeValue(forKey: Self.idKey) {
      row.id = RecordID(importing: value)
      if row.id == nil { throw row.error("the id is no whole number", file: file, field: Self.idKey) }
    }
    row.fields.dictionary = fields
    return row
  }

  private func line(of field: String?, in row: Int) -> Int? {
    if isBinary { return nil }
    return PlistParser.line(of: path + [.index(row)] + (field.map { [.key($0)] } ?? []), in: bytes)
      ?? PlistParser.line(of: path + [.index(row)], in: bytes)
  }
}
