import FileDBPlist

/// Converts a table to the bytes of its file, which <doc:Format> describes, and back.
package enum TableFile {
  package static let counterKey = "autoincrement"
  package static let recordsKey = "data"
  package static let indexKey = "index"
  /// The key of the schema.
  package static let schemaKey = "schema"
  /// The field that holds a record's id in the file. It is reserved for this.
  package static let idKey = "\(idName)"
  package static var idName: StaticString { "wgFileDbSecretId" }
  /// A record's fields are inside the root, its array, and the record.
  package static let depthOfFields = 3

  /// Reads the table from `bytes`.
  /// - Parameter file: the path that they are from, for errors.
  /// - Throws: ``StoreError/Code/notATable``, ``StoreError/Code/damagedTable`` or ``StoreError/Code/conflictMarkers``,
  ///   with the line.
  package static func decode(
    _ bytes: [UInt8], file: String, table: String, limits: PlistLimits,
    shape: OrderedRecords.Shape = .standard
  ) throws(StoreError) -> TableState {
    try decodeWithOffsets(bytes, file: file, table: table, limits: limits, shape: shape).state
  }

  /// Reads the table from `bytes`. If they are canonical and the counter is right, this also returns where the parts of
  /// the table are.
  /// - Throws: as ``decode(_:file:table:limits:shape:)``.
  package static func decodeWithOffsets(
    _ bytes: [UInt8], file: String, table: String, limits: PlistLimits,
    shape: OrderedRecords.Shape = .standard
  ) throws(StoreError) -> (state: TableState, offsets: TableOffsets?) {
    if let table = CanonicalTable.decode(bytes, limits: limits, shape: shape) {
      return (table.state, table.offsets)
    }
    let root: PlistValue
    do {
      root = try PlistParser.parse(bytes, limits: limits)
    } catch {
      throw StoreError(error, in: bytes, file: file, table: table)
    }
    do {
      return (try decode(consume root, shape: shape), nil)
    } catch {
      let code = error.isForeign ? StoreError.Code.notATable : StoreError.Code.damagedTable
      throw StoreError(
        code, error.message, file: file, line: PlistParser.line(of: error.path, in: bytes), table: table,
        record: error.record)
    }
  }

  /// Whether these bytes, which another program may have changed, are those of a root key's value.
  /// - Parameter depth: the depth of the deepest value.
  package static func isRootValue(_ bytes: [UInt8], depth: Int) -> Bool {
    bytes.withUnsafeBytes { all in
      let limits = PlistLimits(depth: depth, valueBytes: .max, fileBytes: .max)
      var scanner = CanonicalScanner(all, limits: limits)
      return scanner.scanValue(indentation: 1) != nil && scanner.isAtEnd
    }
  }

  /// The canonical bytes of a table.
  package static func encode(_ state: TableState) -> [UInt8] {
    var bytes: [UInt8] = []
    encode(state) { bytes += $0 }
    return bytes
  }

  /// Passes on the canonical bytes of a table piece by piece, so that a large table is never in memory as a whole.
  /// - Parameter visit: called with each record, in order.
  /// - Returns: where the parts of the table are.
  @discardableResult
  package static func encode<Failure>(
    _ state: TableState, visiting visit: (EncodedRecord) -> Void = { _ in },
    into sink: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) -> TableOffsets {
    var writer = PlistWriter()
    var handedOut = 0
    var chunks: [Int] = []
    var indexMap = 0..<0
    func handOnLongPiece(_ writer: inout PlistWriter) throws(Failure) {
      guard writer.bytes.count >= 1 << 20 else { return }
      try sink(writer.bytes)
      handedOut += writer.bytes.count
      writer.removeAll()
    }
    writer.append(PlistWriter.header)
    writer.append("<dict>\n" as StaticString)
    let ownKeys = [counterKey, recordsKey, indexKey]
    for key in (ownKeys + state.foreignKeys.keys).sorted(by: { compareUTF8($0, $1) < 0 }) {
      writer.append(key: key, indentation: 1)
      switch key {
      case counterKey: writer.append(.string(state.counter.description), indentation: 1)
      case recordsKey:
        var number = 0
        try append(state.records, to: &writer) {
          (writer: inout PlistWriter, record: EncodedRecord) throws(Failure) in
          visit(record)
          let end = handedOut + writer.bytes.count
          if number.isMultiple(of: state.records.shape.filledChunk) {
            chunks.append(end - record.bytes.count)
          }
          number += 1
          if number == state.records.count { chunks.append(end) }
          try handOnLongPiece(&writer)
        }
      case indexKey:
        let start = handedOut + writer.bytes.count + indexMapTag.utf8CodeUnitCount
        try appendIndexMap(of: state.records, to: &writer, afterEach: handOnLongPiece)
        let end = handedOut + writer.bytes.count - indexMapEndTag.utf8CodeUnitCount
        if !state.records.isEmpty { indexMap = start..<end }
      default: if let value = state.foreignKeys[key] { writer.append(value, indentation: 1) }
      }
    }
    writer.append("</dict>\n" as StaticString)
    writer.append(PlistWriter.footer)
    try sink(writer.bytes)
    return TableOffsets(
      count: state.records.count, chunkLength: state.records.shape.filledChunk, chunks: chunks,
      indexMap: indexMap)
  }

  private static var indexMapTag: StaticString { "\t<dict>\n" }
  private static var indexMapEndTag: StaticString { "\t</dict>\n" }

  /// Appends records as an array in a root dictionary.
  /// - Parameter afterEach: called after each record.
  private static func append<Failure>(
    _ records: OrderedRecords, to writer: inout PlistWriter,
    afterEach: (inout PlistWriter, EncodedRecord) throws(Failure) -> Void
  ) throws(Failure) {
    guard !records.isEmpty else {
      writer.append("\t<array/>\n" as StaticString)
      return
    }
    writer.append("\t<array>\n" as StaticString)
    for record in records {
      writer.append(record.bytes)
      try afterEach(&writer, record)
    }
    writer.append("\t</array>\n" as StaticString)
  }

  private static func appendIndexMap<Failure>(
    of records: OrderedRecords, to writer: inout PlistWriter,
    afterEach: (inout PlistWriter) throws(Failure) -> Void
  ) throws(Failure) {
    guard !records.isEmpty else {
      writer.append("\t<dict/>\n" as StaticString)
      return
    }
    writer.append(indexMapTag)
    var entries = records.enumerated().map { (id: DecimalOrder($1.id.rawValue), index: $0) }
    entries.sort { $0.id < $1.id }
    for (id, index) in entries {
      writer.append("\t\t<key>" as StaticString)
      writer.append(id.number)
      writer.append("</key>\n\t\t<string>" as StaticString)
      writer.append(UInt64(index))
      writer.append("</string>\n" as StaticString)
      try afterEach(&writer)
    }
    writer.append(indexMapEndTag)
  }
}

/// Orders numbers as their decimal digits sort as text: 1, 10, 2.
package struct DecimalOrder: Comparable {
  /// The digits, padded with zeros to nineteen, which is the most that an `Int64` may have.
  private let digits: UInt64
  package let number: UInt64

  package init(_ number: Int64) {
    self.number = UInt64(number)
    var digits = UInt64(number)
    while digits != 0, digits < 1_000_000_000_000_000_000 { digits *= 10 }
    self.digits = digits
  }

  package static func < (left: DecimalOrder, right: DecimalOrder) -> Bool {
    left.digits == right.digits ? left.number < right.number : left.digits < right.digits
  }
}

/// Why a property list is not a valid table, and the value that shows it.
private struct TableFault: Error {
  var message: String
  var path: [PlistStep]
  var record: AnyRecordID?
  /// True if nothing suggests that the file was ever a table.
  var isForeign = false
}

extension TableFile {
  /// Takes `value` apart, so that no record is copied.
  private static func decode(
    _ value: consuming PlistValue, shape: OrderedRecords.Shape
  ) throws(TableFault) -> TableState {
    let typeName = value.typeName
    guard case .dict(var root) = consume value else {
      throw TableFault(
        message: "this property list is not a table: its root is <\(typeName)>, not <dict>", path: [],
        isForeign: true)
    }
    guard let data = root.removeValue(forKey: recordsKey) else {
      throw TableFault(
        message: "this property list is not a table: it has no '\(recordsKey)' key", path: [],
        isForeign: true)
    }
    guard case .array(let elements) = consume data else {
      throw TableFault(message: "'\(recordsKey)' must be an array of records", path: [.key(recordsKey)])
    }
    guard let counter = root[counterKey] else {
      throw TableFault(message: "the table has no '\(counterKey)' key", path: [])
    }
    guard let highest = number(counter) else {
      throw TableFault(message: "'\(counterKey)' must be a whole number", path: [.key(counterKey)])
    }
    for key in [counterKey, indexKey] { root.removeValue(forKey: key) }
    return TableState(
      counter: highest.rawValue, records: try records(consume elements), foreignKeys: root,
      shape: shape)
  }

  private static func records(_ values: consuming [PlistValue]) throws(TableFault) -> [EncodedRecord] {
    var elements = consume values
    var writer = PlistWriter()
    var places: [(id: AnyRecordID, start: Int)] = []
    places.reserveCapacity(elements.count)
    var indices = [AnyRecordID: Int](minimumCapacity: elements.count)
    for index in elements.indices {
      var place: [PlistStep] { [.key(recordsKey), .index(index)] }
      // Move it out of the array, so that removing its id does not copy the record.
      let element = exchange(&elements[index], with: false)
      let typeName = element.typeName
      guard case .dict(var fields) = consume element else {
        throw TableFault(message: "the element at index \(index) is <\(typeName)>, not a record", path: place)
      }
      guard let idValue = fields.removeValue(forKey: idKey) else {
        throw TableFault(message: "the record at index \(index) has no id ('\(idKey)')", path: place)
      }
      guard let id = number(idValue) else {
        throw TableFault(
          message: "the id of the record at index \(index) must be a whole number", path: place)
      }
      if let first = indices.updateValue(index, forKey: id) {
        throw TableFault(
          message: "the records at indices \(first) and \(index) have the same id", path: place, record: id)
      }
      places.append((id, writer.bytes.count))
      EncodedRecord.append(id, fields, to: &writer)
    }
    // All records are slices of one array.
    let bytes = writer.bytes
    let ends = places.dropFirst().map(\.start) + [bytes.count]
    return zip(places, ends).map { EncodedRecord(id: $0.id, bytes: bytes[$0.start..<$1]) }
  }

  /// The number in decimal digits, as the format has it, or in the integer that a person or another tool may have
  /// written.
  package static func number(_ value: PlistValue) -> AnyRecordID? {
    switch value {
    case .string(let digits): AnyRecordID(digits)
    case .integer(let number): AnyRecordID(rawValue: number)
    default: nil
    }
  }
}

/// Where the parts of a table are in its canonical file. With this, some records can be read without the others.
package struct TableOffsets: Equatable, Sendable {
  /// The number of records.
  package let count: Int
  /// The number of records in each chunk.
  package let chunkLength: Int
  /// The beginning of each chunk of records, and the end of the last one. Empty for a table without records.
  package let chunks: [Int]
  /// The lines of the index map.
  package let indexMap: Range<Int>

  package init(count: Int, chunkLength: Int, chunks: [Int], indexMap: Range<Int>) {
    (self.count, self.chunkLength) = (count, chunkLength)
    (self.chunks, self.indexMap) = (chunks, indexMap)
  }

  /// The number of offsets that ``chunks`` has for a table with records.
  /// - Precondition: both numbers are at least 1.
  package static func chunkBoundCount(count: Int, chunkLength: Int) -> Int { (count - 1) / chunkLength + 2 }

  /// Whether a file of this size may have its parts there. If so, it has at least one record, and all parts follow one
  /// another in the file.
  package func fit(fileSize: Int) -> Bool {
    guard (1...max(fileSize, 1)).contains(count), chunkLength > 0,
      chunks.count == Self.chunkBoundCount(count: count, chunkLength: chunkLength)
    else { return false }
    let bounds = [0] + chunks + [indexMap.lowerBound, indexMap.upperBound, fileSize]
    return zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }
  }

  /// Everything in the file but the records and the entries of the index map, in three pieces.
  /// - Precondition: ``fit(fileSize:)``.
  package func rest(fileSize: Int) -> [Range<Int>] {
    [0..<chunks[0], chunks[chunks.count - 1]..<indexMap.lowerBound, indexMap.upperBound..<fileSize]
  }
}
