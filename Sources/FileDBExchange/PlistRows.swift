import FileDB
import FileDBPlist

/// Reads the dictionaries of a property list, XML or binary, as the rows of an import. The list is an array of
/// dictionaries, or a whole table.
final class PlistRows {
  private static let idKey = "wgFileDbSecretId"

  private let file: String
  private let bytes: [UInt8]
  private let elements: [PlistValue]
  /// The path of the records in the list.
  private let path: [PlistStep]
  /// The highest id ever given; `nil` if the list is not a table.
  let counter: Int64?
  /// Found for all rows at the first error, because a file may have many errors. `nil` for a binary list, which has no
  /// lines.
  private lazy var lines = isBinary ? nil : PlistParser.elementLines(of: path, in: bytes)

  init(_ source: ImportSource) throws {
    file = source.name
    bytes = try source.readAll()
    let root = try Self.root(of: bytes, file: file)
    if case .array(let elements) = root {
      (self.elements, path, counter) = (elements, [], nil)
    } else if case .dict(let table) = root, case .array(let elements)? = table["data"] {
      (self.elements, path) = (elements, [.key("data")])
      counter = table["autoincrement"]?.string.flatMap { RecordID<Fields>($0) }?.rawValue ?? 0
    } else {
      throw StoreError(
        .invalidText, "the property list should be an array of dictionaries, or a table", file: file
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
    var row = ImportRow(fields: Fields(), origin: .row(number)) { [self] field in
      (line(of: field, in: number), nil)
    }
    guard case .dict(var fields) = elements[number] else {
      throw row.error("a dictionary should be here", file: file)
    }
    if let value = fields.removeValue(forKey: Self.idKey) {
      row.id = RecordID<Fields>(importing: value)
      if row.id == nil { throw row.error("the id is not a whole number", file: file, field: Self.idKey) }
    }
    row.fields.dictionary = fields
    return row
  }

  private var isBinary: Bool { bytes.starts(with: BinaryPlistReader.signature) }

  private func line(of field: String?, in row: Int) -> Int? {
    field.flatMap { lines?.line(of: $0, inElement: row) } ?? lines?.line(ofElement: row)
  }
}
