/// A run of records in row order.
struct RecordChunk: Sendable {
  let number: UInt32
  private(set) var records: [StoredRecord]
  /// Beside the records, so that counting rows does not look into each array.
  private(set) var count: Int

  init(number: UInt32, records: [StoredRecord]) {
    self.number = number
    self.records = records
    count = records.count
  }

  mutating func replace(_ offset: Int, with record: StoredRecord) { records[offset] = record }

  mutating func insert(_ record: StoredRecord, at offset: Int) {
    records.insert(record, at: offset)
    count += 1
  }

  mutating func remove(at offset: Int) -> StoredRecord {
    count -= 1
    return records.remove(at: offset)
  }

  mutating func append(_ more: [StoredRecord]) {
    records += more
    count = records.count
  }

  /// Cuts off what lies behind the first `length` records.
  mutating func cut(to length: Int) -> [StoredRecord] {
    let rest = Array(records[length...])
    records.removeSubrange(length...)
    count = length
    return rest
  }
}

/// Some chunks in row order.
struct RecordSection: Sendable {
  let number: UInt32
  private(set) var chunks: [RecordChunk] = []
  /// Of records.
  private(set) var count = 0

  init(number: UInt32, chunks: [RecordChunk] = []) {
    self.number = number
    self.chunks = chunks
    count = chunks.reduce(0) { $0 + $1.count }
  }

  /// The row in this section.
  func row(of id: RecordID, inChunk number: UInt32) -> Int? {
    var row = 0
    for chunk in chunks {
      if chunk.number == number { return chunk.records.firstIndex { $0.id == id }.map { row + $0 } }
      row += chunk.count
    }
    return nil
  }

  /// Where a row of this section is; behind the last record for the row after it.
  func place(of row: Int) -> (chunk: Int, offset: Int) {
    var offset = row
    var chunk = 0
    while chunk < chunks.count - 1, offset >= chunks[chunk].count {
      offset -= chunks[chunk].count
      chunk += 1
    }
    return (chunk, offset)
  }

  mutating func append(_ chunk: RecordChunk) {
    chunks.append(chunk)
    count += chunk.count
  }

  mutating func replace(_ chunk: Int, _ offset: Int, with record: StoredRecord) {
    chunks[chunk].replace(offset, with: record)
  }

  mutating func insert(_ record: StoredRecord, _ chunk: Int, _ offset: Int) {
    chunks[chunk].insert(record, at: offset)
    count += 1
  }

  mutating func remove(_ chunk: Int, _ offset: Int) -> StoredRecord {
    count -= 1
    return chunks[chunk].remove(at: offset)
  }

  /// Cuts a chunk in two.
  /// - Returns: the records of the second, which has this number.
  mutating func split(_ chunk: Int, at length: Int, number: UInt32) -> [StoredRecord] {
    let rest = chunks[chunk].cut(to: length)
    chunks.insert(RecordChunk(number: number, records: rest), at: chunk + 1)
    return rest
  }

  /// Adds a chunk's records to those of the one before it.
  mutating func join(_ chunk: Int) {
    chunks[chunk - 1].append(chunks[chunk].records)
    chunks.remove(at: chunk)
  }

  mutating func removeEmpty(_ chunk: Int) { chunks.remove(at: chunk) }

  /// Cuts off the second half.
  mutating func splitInHalf(number: UInt32) -> RecordSection {
    let half = Array(chunks[(chunks.count / 2)...])
    chunks.removeLast(half.count)
    let section = RecordSection(number: number, chunks: half)
    count -= section.count
    return section
  }
}
