import FileDBPlist

/// Encodes the records of a transaction into memory of just their size.
///
/// An array that grows while it is written is up to twice as long as what is in it, and each has its own place among all the
/// others: with a million records that is as much as the table. Records that come together share a block, which is so short
/// that it matters little when a single one of them keeps it.
struct RecordEncoder {
  private static let blockLength = 1 << 16
  private static let usualLength = 1 << 10

  /// Kept from one record to the next.
  private var writer = PlistWriter()

  /// - Parameter record: normalized.
  mutating func encode(_ record: Record, id: RecordID) -> StoredRecord {
    writer.reserve(Self.usualLength)
    StoredRecord.append(id, record.fields, to: &writer)
    return StoredRecord(id: id, bytes: takeBlock()[...])
  }

  /// - Parameter records: normalized.
  mutating func encode(_ records: [(id: RecordID, record: Record)]) -> [StoredRecord] {
    var stored: [StoredRecord] = []
    stored.reserveCapacity(records.count)
    var places: [(id: RecordID, range: Range<Int>)] = []
    writer.reserve(Self.usualLength)
    for (number, (id, record)) in records.enumerated() {
      let start = writer.bytes.count
      StoredRecord.append(id, record.fields, to: &writer)
      places.append((id, start..<writer.bytes.count))
      guard writer.bytes.count >= Self.blockLength || number == records.count - 1 else { continue }
      let block = takeBlock()
      stored += places.lazy.map { StoredRecord(id: $0.id, bytes: block[$0.range]) }
      places.removeAll(keepingCapacity: true)
    }
    return stored
  }

  private mutating func takeBlock() -> [UInt8] {
    defer { writer.removeAll() }
    return writer.bytes.withUnsafeBytes { [UInt8]($0) }
  }
}
