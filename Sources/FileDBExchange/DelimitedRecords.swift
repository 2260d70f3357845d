import FileDB
import FileDBPlist

/// Rows of delimited text as records in canonical bytes. A row goes there straight from the bytes of the file; only a
/// value that is not plain text is built on the way.
struct DelimitedRecords: ~Copyable {
  /// Records that come together share so many bytes of memory, or somewhat more.
  private static let blockLength = 1 << 16
  /// A longer cell is left to the caller.
  private static let longestCell = 1 << 16

  private static let beginning = Array("\t\t<dict>\n".utf8)
  private static let end = Array("\t\t</dict>\n".utf8)
  private static let beforeID = Array("\t\t\t<key>\(TableFile.idKey)</key>\n\t\t\t<string>".utf8)
  private static let afterText = Array("</string>\n".utf8)

  private enum Part {
    case id
    case field(Field)
  }

  /// A column, as it is in a record.
  fileprivate struct Field {
    let column: DelimitedImport.Column
    let index: Int
    /// The line of the key, and what is before a text in the next one.
    let keyLine: [UInt8]
    let beforeText: [UInt8]
    /// Whether an empty cell is no field, without quotes and in quotes.
    let isMissing: (plain: Bool, quoted: Bool)
  }

  /// In the order of their keys.
  private let parts: [Part]
  private let columnCount: Int
  private let limits: PlistLimits
  /// How long a record is without its values.
  private let frameLength: Int
  private var block = CanonicalBlock()
  private var places: [(id: RecordID, range: Range<Int>)] = []
  private var records: [EncodedRecord] = []
  private let table: String
  private var counter: Int64
  /// How long all records are that have not been taken.
  private(set) var byteCount = 0

  /// - Parameter table: as it is. The ids of the records are above its counter.
  init(
    _ columns: [DelimitedImport.Column], _ emptyText: DelimitedImport.EmptyText, limits: PlistLimits,
    in table: TableSnapshot<Fields>
  ) {
    (self.table, counter) = (table.table, table.counter)
    self.limits = limits
    columnCount = columns.count
    let fields = columns.enumerated().map { Field($1, $0, emptyText) }
    let sorted = fields.sorted { compareUTF8($0.column.name, $1.column.name) < 0 }
    let above = sorted.prefix { compareUTF8($0.column.name, TableFile.idKey) < 0 }
    parts = above.map(Part.field) + [.id] + sorted.dropFirst(above.count).map(Part.field)
    frameLength = fields.reduce(256) { $0 + $1.keyLine.count + $1.beforeText.count + Self.afterText.count }
  }

  /// Adds a row.
  /// - Returns: false, and the row is not added, where it is wrong or unusual.
  mutating func append(
    _ row: UnsafeBufferPointer<UInt8>, _ cells: [DelimitedScanner.Cell]
  ) throws(StoreError) -> Bool {
    guard cells.count == columnCount else { return false }
    let (start, id) = (block.count, try nextID())
    block.reserve(canonical: frameLength, text: row.count)
    block.append(Self.beginning)
    for part in parts {
      switch part {
      case .id:
        block.append(Self.beforeID)
        block.append(id.description)
        block.append(Self.afterText)
      case .field(let field):
        guard append(cells[field.index], of: field, row) else {
          block.cut(to: start)
          return false
        }
      }
    }
    block.append(Self.end)
    note(id, from: start)
    return true
  }

  /// Adds a record with these fields, which are normalized.
  mutating func append(_ fields: Fields) throws(StoreError) {
    let (start, id) = (block.count, try nextID())
    let record = EncodedRecord(id: id, fields: fields)
    block.reserve(canonical: record.bytes.count, text: 0)
    record.bytes.withUnsafeBufferPointer { block.append(canonical: $0) }
    note(id, from: start)
  }

  /// The records that were added, in order, which are forgotten here.
  mutating func take() -> [EncodedRecord] {
    endBlock()
    byteCount = 0
    defer { records = [] }
    return records
  }

  private func nextID() throws(StoreError) -> RecordID {
    guard counter < .max else {
      throw StoreError(.counterExhausted, "every id has been given", table: table)
    }
    return RecordID(counted: counter + 1)
  }

  private mutating func note(_ id: RecordID, from start: Int) {
    counter = id.rawValue
    places.append((id, start..<block.count))
    if block.count >= Self.blockLength { endBlock() }
  }

  private mutating func endBlock() {
    let bytes = block.bytes
    records += places.lazy.map { EncodedRecord(id: $0.id, bytes: bytes[$0.range]) }
    byteCount += bytes.count
    places.removeAll(keepingCapacity: true)
    block.cut(to: 0)
  }

  private mutating func append(
    _ cell: DelimitedScanner.Cell, of field: Field, _ row: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    if cell.isEmpty, cell.isQuoted ? field.isMissing.quoted : field.isMissing.plain { return true }
    let length = cell.end - cell.start
    guard length <= Self.longestCell, length <= limits.valueBytes else { return false }
    let text = UnsafeBufferPointer(rebasing: row[cell.start..<cell.end])
    switch field.column.type {
    case .string:
      block.append(field.keyLine)
      block.append(field.beforeText)
      let isText =
        if cell.hasQuotes {
          cell.withoutDoubledQuotes(text, quote: row[cell.outerStart])
            .withUnsafeBufferPointer { block.append(text: $0) }
        } else {
          block.append(text: text)
        }
      block.append(Self.afterText)
      return isText
    default:
      guard let text = cell.text(in: row), let value = field.column.value(of: text),
        let normal = try? value.normalized(depth: TableFile.depthOfFields, limits: limits)
      else { return false }
      append(normal, of: field, besides: row.count)
      return true
    }
  }

  private mutating func append(_ value: PlistValue, of field: Field, besides rowLength: Int) {
    var writer = PlistWriter()
    writer.append(value, indentation: TableFile.depthOfFields)
    // A value may be longer than its text, as dates and JSON are.
    block.reserve(canonical: frameLength + writer.bytes.count, text: rowLength)
    block.append(field.keyLine)
    block.append(writer.bytes)
  }
}

extension DelimitedRecords.Field {
  fileprivate init(_ column: DelimitedImport.Column, _ index: Int, _ emptyText: DelimitedImport.EmptyText) {
    (self.column, self.index) = (column, index)
    var writer = PlistWriter()
    writer.append(key: column.name, indentation: TableFile.depthOfFields)
    keyLine = writer.bytes
    beforeText = Array(String(repeating: "\t", count: TableFile.depthOfFields).utf8) + Array("<string>".utf8)
    let empty = [false, true].map {
      DelimitedReader.Cell(text: "", isQuoted: $0, line: 1, column: 1).isMissing(as: column.type, emptyText)
    }
    isMissing = (plain: empty[0], quoted: empty[1])
  }
}
