import FileDBPlist

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
