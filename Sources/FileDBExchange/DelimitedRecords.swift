import FileDB
import FileDBPlist

/// Converts rows of delimited text to records in canonical bytes. The bytes of a row are converted directly. Only a
/// value that is not plain text is decoded on the way.
struct DelimitedRecords: ~Copyable {
  /// Records that come together share blocks of about this many bytes.
  private static let blockLength = 1 << 16
  /// The caller handles longer cells.
  private static let longestCell = 1 << 16

  private let columns: [DelimitedImport.Column]
  /// Sorted by key: those before the id, and those after it.
  private let fields: (beforeID: [Field], others: [Field])
  /// The lines of all keys, each with what comes before a string in the next line.
  private let keys: [UInt8]
  private let limits: PlistLimits
  private let table: String
  private var counter: Int64
  private var block = CanonicalBlock()
  private var places: [(id: AnyRecordID, range: Range<Int>)] = []
  private var records: [EncodedRecord] = []
  /// The size of the records that have not been taken yet.
  private(set) var byteCount = 0

  /// - Parameter table: the present table. The ids of the new records are above its counter.
  init(
    _ columns: [DelimitedImport.Column], _ emptyText: DelimitedImport.EmptyText, limits: PlistLimits,
    in table: TableSnapshot<Fields>
  ) {
    (self.columns, self.limits) = (columns, limits)
    (self.table, counter) = (table.table, table.counter)
    var keys: [UInt8] = []
    let sorted = columns.indices.sorted { compareUTF8(columns[$0].name, columns[$1].name) < 0 }
    let fields = sorted.map { Field(columns[$0], $0, emptyText, addingKeyTo: &keys) }
    let count = sorted.count { compareUTF8(columns[$0].name, TableFile.idKey) < 0 }
    self.fields = (Array(fields[..<count]), Array(fields[count...]))
    self.keys = keys
  }

  /// Adds a row.
  /// - Returns: false if the row is wrong or unusual. Then it is not added.
  mutating func append(
    _ row: UnsafeBufferPointer<UInt8>, _ cells: [DelimitedScanner.Cell]
  ) throws(StoreError) -> Bool {
    guard hasCellForEachColumn(cells) else { return false }
    let (start, id) = (block.count, try nextID())
    block.reserve(canonical: frameLength, text: row.count)
    block.append("\t\t<dict>\n" as StaticString)
    var isTaken = append(cells, fields.beforeID, row)
    block.append("\t\t\t<key>" as StaticString)
    block.append(TableFile.idName)
    block.append("</key>\n\t\t\t<string>" as StaticString)
    block.append(id.description)
    block.append("</string>\n" as StaticString)
    isTaken = isTaken && append(cells, fields.others, row)
    block.append("\t\t</dict>\n" as StaticString)
    if isTaken { addRecord(id, from: start) } else { block.cut(to: start) }
    return isTaken
  }

  /// A separator at the end of the line begins no column.
  private func hasCellForEachColumn(_ cells: [DelimitedScanner.Cell]) -> Bool {
    if cells.count == columns.count { return true }
    guard cells.count == columns.count + 1, let last = cells.last else { return false }
    return last.isEmpty && !last.isQuoted
  }

  /// Adds a record with these fields, which must be normalized.
  mutating func append(_ fields: Fields) throws(StoreError) {
    let (start, id) = (block.count, try nextID())
    let record = EncodedRecord(id: id, fields: fields)
    block.reserve(canonical: record.bytes.count, text: 0)
    record.bytes.withUnsafeBufferPointer { block.append(canonical: $0) }
    addRecord(id, from: start)
  }

  /// The records that were added, in order. They are removed from here.
  mutating func take() -> [EncodedRecord] {
    endBlock()
    byteCount = 0
    defer { records = [] }
    return records
  }

  /// The most bytes that a record may have without its values.
  private var frameLength: Int { keys.count + columns.count * 24 + 128 }

  private func nextID() throws(StoreError) -> AnyRecordID {
    guard counter < .max else {
      throw StoreError(.counterExhausted, "the table has given its highest possible id", table: table)
    }
    return AnyRecordID(counted: counter + 1)
  }

  private mutating func addRecord(_ id: AnyRecordID, from start: Int) {
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
}

// MARK: - Fields

extension DelimitedRecords {
  /// How a column becomes a field of a record. It contains no references, so that reading one is cheap.
  fileprivate struct Field {
    let column: Int
    let type: FieldType
    let plainTypes: (FieldType, other: FieldType?)?
    /// Whether an empty cell means a missing field, without quotes and in quotes.
    let isMissing: (plain: Bool, quoted: Bool)
    /// Ranges in ``keys``: the key's line; the line with what comes before a value in the next line; the line with what
    /// comes before a string.
    let key: Range<Int>
    let untilValue: Range<Int>
    let untilText: Range<Int>

    init(
      _ column: DelimitedImport.Column, _ index: Int, _ emptyText: DelimitedImport.EmptyText,
      addingKeyTo keys: inout [UInt8]
    ) {
      self.column = index
      (type, plainTypes) = (column.type, column.plainTypes)
      let empty = [false, true].map {
        DelimitedReader.Cell(text: "", isQuoted: $0, line: 1, column: 1).isMissing(
          as: column.type, emptyText)
      }
      isMissing = (plain: empty[0], quoted: empty[1])
      var writer = PlistWriter()
      writer.append(key: column.name, indentation: TableFile.depthOfFields)
      key = keys.count..<keys.count + writer.bytes.count
      writer.indent(TableFile.depthOfFields)
      untilValue = key.lowerBound..<keys.count + writer.bytes.count
      writer.append("<string>" as StaticString)
      keys += writer.bytes
      untilText = key.lowerBound..<keys.count
    }
  }

  /// - Returns: false if a cell is wrong or unusual.
  private mutating func append(
    _ cells: [DelimitedScanner.Cell], _ fields: [Field], _ row: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    for field in fields {
      let cell = cells[field.column]
      if cell.isEmpty, cell.isQuoted ? field.isMissing.quoted : field.isMissing.plain { continue }
      guard cell.end - cell.start <= min(Self.longestCell, limits.valueBytes),
        field.type == .string ? appendText(cell, field, row) : appendValue(cell, field, row)
      else { return false }
    }
    return true
  }

  private mutating func appendText(
    _ cell: DelimitedScanner.Cell, _ field: Field, _ row: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    block.append(keys, field.untilText)
    let text = UnsafeBufferPointer(rebasing: row[cell.start..<cell.end])
    let isText =
      if cell.hasQuotes {
        cell.withoutDoubledQuotes(text, quote: row[cell.outerStart])
          .withUnsafeBufferPointer { block.append(text: $0) }
      } else {
        block.append(text: text)
      }
    block.append("</string>\n" as StaticString)
    return isText
  }

  private mutating func appendValue(
    _ cell: DelimitedScanner.Cell, _ field: Field, _ row: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    let bytes = UnsafeBufferPointer(rebasing: row[cell.start..<cell.end])
    let plain = field.plainTypes.flatMap { first, other in
      PlainValue(bytes, first) ?? other.flatMap { PlainValue(bytes, $0) }
    }
    if let plain {
      block.append(keys, field.untilValue)
      switch plain {
      case .tag(let tag): block.append(tag)
      case .element(let start, let end):
        block.append(start)
        block.append(canonical: bytes)
        block.append(end)
      }
      return true
    }
    guard let text = cell.text(in: row), let value = columns[field.column].value(of: text),
      let normal = try? value.normalized(depth: TableFile.depthOfFields, limits: limits)
    else { return false }
    var writer = PlistWriter()
    writer.append(normal, indentation: TableFile.depthOfFields)
    // A date or JSON may be longer than its text.
    block.reserve(canonical: frameLength + writer.bytes.count, text: row.count)
    block.append(keys, field.key)
    block.append(writer.bytes, writer.bytes.indices)
    return true
  }
}
