import FileDBEssentials
import FileDBPlist

/// A record in the bytes that the table's file and the journal contain for it. It is decoded when somebody asks for it.
package struct EncodedRecord: Sendable, Equatable {
  package let id: AnyRecordID
  /// The canonical lines of its dictionary, including the id. Usually a slice of the file as it was read.
  package let bytes: ArraySlice<UInt8>

  package init(id: AnyRecordID, bytes: ArraySlice<UInt8>) {
    self.id = id
    self.bytes = bytes
  }

  /// A record that another program may have changed.
  /// - Parameter depth: the depth of the deepest record.
  /// - Returns: `nil` if the bytes are not those of a record with this id.
  /// - Complexity: O(*n*) in the bytes. They are checked, not decoded.
  package init?(id: AnyRecordID, checking bytes: [UInt8], depth: Int) {
    let isRecord = bytes.withUnsafeBytes { all in
      let limits = PlistLimits(depth: depth, valueBytes: .max, fileBytes: .max)
      var scanner = CanonicalScanner(all, limits: limits)
      let found = scanner.scanDict(indentation: TableFile.depthOfFields - 1, numberKey: TableFile.idName)
      return found?.number == id.rawValue && scanner.isAtEnd
    }
    guard isRecord else { return nil }
    self.init(id: id, bytes: bytes[...])
  }

  /// - Parameter fields: normalized.
  package init(id: AnyRecordID, fields: Fields) {
    var writer = PlistWriter()
    Self.append(id, fields.dictionary, to: &writer)
    self.init(id: id, bytes: writer.bytes[...])
  }

  package func hasSameBytes(as other: EncodedRecord) -> Bool {
    bytes.withUnsafeBytes { mine in
      other.bytes.withUnsafeBytes { theirs in
        guard mine.count == theirs.count, let start = mine.baseAddress, let theirStart = theirs.baseAddress
        else { return mine.count == theirs.count }
        return start == theirStart || memcmp(start, theirStart, mine.count) == 0
      }
    }
  }

  /// The fields without the id.
  /// - Complexity: O(*n*) in the size of the record.
  package var fields: Fields {
    bytes.withUnsafeBytes { all in
      let reader = CanonicalReader(all)
      var fields = reader.dictionary(reader.dict(indentation: TableFile.depthOfFields - 1))
      fields.removeValue(forKey: TableFile.idKey)
      return Fields(fields)
    }
  }

  /// Finds the fields whose values differ in another version of the record, in the order of their names.
  /// - Parameter body: called with the name and the two values; `nil` for a field that one of the versions lacks.
  /// - Complexity: O(*n*) in the sizes of the two. Only what differs is decoded.
  package func differences(
    to other: EncodedRecord, _ body: (_ name: String, _ before: PlistValue?, _ after: PlistValue?) -> Void
  ) {
    bytes.withUnsafeBytes { mine in
      other.bytes.withUnsafeBytes { theirs in
        let (reader, otherReader) = (CanonicalReader(mine), CanonicalReader(theirs))
        reader.forEachDifference(
          reader.dict(indentation: TableFile.depthOfFields - 1),
          to: otherReader.dict(indentation: TableFile.depthOfFields - 1), of: otherReader, body)
      }
    }
  }

  /// Appends the lines of a record.
  package static func append(_ id: AnyRecordID, _ fields: PlistDictionary, to writer: inout PlistWriter) {
    writer.append("\t\t<dict>\n" as StaticString)
    var idIsWritten = false
    for field in fields {
      if !idIsWritten, compareUTF8(TableFile.idKey, field.key) < 0 {
        append(id, to: &writer)
        idIsWritten = true
      }
      writer.append(key: field.key, indentation: TableFile.depthOfFields)
      writer.append(field.value, indentation: TableFile.depthOfFields)
    }
    if !idIsWritten { append(id, to: &writer) }
    writer.append("\t\t</dict>\n" as StaticString)
  }

  private static func append(_ id: AnyRecordID, to writer: inout PlistWriter) {
    writer.append("\t\t\t<key>" as StaticString)
    writer.append(TableFile.idName)
    writer.append("</key>\n\t\t\t<string>" as StaticString)
    writer.append(id.description)
    writer.append("</string>\n" as StaticString)
  }
}

extension EncodedRecord {
  /// - Complexity: O(*n*) in the size of the record up to this field.
  package func field(_ name: String) -> PlistValue? {
    guard compareUTF8(name, TableFile.idKey) != 0 else { return nil }
    return bytes.withUnsafeBytes { all in
      let reader = CanonicalReader(all)
      var entries = reader.entries(of: reader.dict(indentation: TableFile.depthOfFields - 1))
      while let (key, element) = entries.next() {
        if reader.isText(key, name) { return reader.value(of: element) }
      }
      return nil
    }
  }

  /// The fields with these names that the record has.
  /// - Complexity: O(*n*) in the names and the record's fields.
  package func fields(_ names: [String]) -> PlistDictionary {
    // A few names are compared sooner than they are hashed.
    let wanted = names.count > 8 ? Set(names.map(TableKey.init)) : nil
    return bytes.withUnsafeBytes { all in
      let reader = CanonicalReader(all)
      var found = PlistDictionary()
      var entries = reader.entries(of: reader.dict(indentation: TableFile.depthOfFields - 1))
      while let (key, element) = entries.next() {
        guard let wanted else {
          if let name = names.first(where: { reader.isText(key, $0) }) {
            found[name] = reader.value(of: element)
          }
          continue
        }
        let name = reader.text(key)
        if wanted.contains(TableKey(name)) { found[name] = reader.value(of: element) }
      }
      return found
    }
  }
}

/// Encodes the records of a transaction into memory of exactly their size.
///
/// An array that grows while it is written is up to twice as long as its content. With a million records, this would
/// take as much memory again as the table. Records that are encoded together share a block. The block is so short that
/// it matters little if a single record keeps it alive.
package struct RecordEncoder {
  private static let blockLength = 1 << 16
  private static let usualLength = 1 << 10

  /// Reused from one record to the next.
  private var writer = PlistWriter()

  package init() {}

  /// - Parameter fields: normalized.
  package mutating func encode(_ fields: Fields, id: AnyRecordID) -> EncodedRecord {
    writer.reserve(Self.usualLength)
    EncodedRecord.append(id, fields.dictionary, to: &writer)
    return EncodedRecord(id: id, bytes: takeBlock()[...])
  }

  /// - Parameter identified: the fields of each record, normalized.
  package mutating func encode(_ identified: [(id: AnyRecordID, fields: Fields)]) -> [EncodedRecord] {
    var records: [EncodedRecord] = []
    records.reserveCapacity(identified.count)
    var places: [(id: AnyRecordID, range: Range<Int>)] = []
    writer.reserve(Self.usualLength)
    for (number, (id, fields)) in identified.enumerated() {
      let start = writer.bytes.count
      EncodedRecord.append(id, fields.dictionary, to: &writer)
      places.append((id, start..<writer.bytes.count))
      guard writer.bytes.count >= Self.blockLength || number == identified.count - 1 else { continue }
      let block = takeBlock()
      records += places.lazy.map { EncodedRecord(id: $0.id, bytes: block[$0.range]) }
      places.removeAll(keepingCapacity: true)
    }
    return records
  }

  private mutating func takeBlock() -> [UInt8] {
    defer { writer.removeAll() }
    return writer.bytes.withUnsafeBytes { [UInt8]($0) }
  }
}
