/// Stands for the records of a chunk as they are: whoever has found something out about them can tell by it whether
/// that still counts.
package final class ChunkVersion: Sendable {
  fileprivate init() {}
}

/// A run of records in order.
package struct RecordChunk: Sendable {
  package let number: UInt32
  /// The records, unless they are ``unread``.
  private var loaded: [EncodedRecord]
  /// The records that are still in their file; a change reads them.
  private var unread: UnreadChunk?
  /// Beside the records, so that counting does not look into each array.
  package private(set) var count: Int
  package private(set) var version = ChunkVersion()

  package init(number: UInt32, records: [EncodedRecord]) {
    self.number = number
    loaded = records
    count = records.count
  }

  package init(number: UInt32, unread: UnreadChunk, count: Int) {
    (self.number, self.unread, self.count) = (number, unread, count)
    loaded = []
  }

  package var records: [EncodedRecord] { unread?.records ?? loaded }

  /// Of the memory that the records are in, or of their place in the file.
  package var identity: StorageIdentity { unread.map { StorageIdentity($0) } ?? StorageIdentity(loaded) }

  /// Makes ready for a change: reads the records, and takes another version, unless nobody else has this one, which
  /// stands for nothing yet.
  private mutating func prepare() {
    if let unread {
      loaded = unread.records
      self.unread = nil
    }
    if !isKnownUniquelyReferenced(&version) { version = ChunkVersion() }
  }

  package mutating func replace(_ offset: Int, with record: EncodedRecord) {
    prepare()
    loaded[offset] = record
  }

  package mutating func insert(_ record: EncodedRecord, at offset: Int) {
    prepare()
    loaded.insert(record, at: offset)
    count += 1
  }

  package mutating func remove(at offset: Int) -> EncodedRecord {
    prepare()
    count -= 1
    return loaded.remove(at: offset)
  }

  package mutating func append(_ more: [EncodedRecord]) {
    prepare()
    loaded += more
    count = loaded.count
  }

  /// Cuts off what lies behind the first `length` records.
  package mutating func cut(to length: Int) -> [EncodedRecord] {
    prepare()
    let rest = Array(loaded[length...])
    loaded.removeSubrange(length...)
    count = length
    return rest
  }
}

/// Some chunks in order.
package struct RecordSection: Sendable {
  package let number: UInt32
  package private(set) var chunks: [RecordChunk] = []
  /// Of records.
  package private(set) var count = 0

  package init(number: UInt32, chunks: [RecordChunk] = []) {
    self.number = number
    self.chunks = chunks
    count = chunks.reduce(0) { $0 + $1.count }
  }

  /// The index in this section of the record with this id.
  package func index(of id: AnyRecordID, inChunk number: UInt32) -> Int? {
    var index = 0
    for chunk in chunks {
      if chunk.number == number { return chunk.records.firstIndex { $0.id == id }.map { index + $0 } }
      index += chunk.count
    }
    return nil
  }

  /// Where the record at an index in this section is; behind the last record for the index after it.
  package func place(of index: Int) -> (chunk: Int, offset: Int) {
    var offset = index
    var chunk = 0
    while chunk < chunks.count - 1, offset >= chunks[chunk].count {
      offset -= chunks[chunk].count
      chunk += 1
    }
    return (chunk, offset)
  }

  package mutating func append(_ chunk: RecordChunk) {
    chunks.append(chunk)
    count += chunk.count
  }

  package mutating func replace(_ chunk: Int, _ offset: Int, with record: EncodedRecord) {
    chunks[chunk].replace(offset, with: record)
  }

  package mutating func insert(_ record: EncodedRecord, _ chunk: Int, _ offset: Int) {
    chunks[chunk].insert(record, at: offset)
    count += 1
  }

  package mutating func remove(_ chunk: Int, _ offset: Int) -> EncodedRecord {
    count -= 1
    return chunks[chunk].remove(at: offset)
  }

  /// Cuts a chunk in two.
  /// - Returns: the records of the second, which has this number.
  package mutating func split(_ chunk: Int, at length: Int, number: UInt32) -> [EncodedRecord] {
    let rest = chunks[chunk].cut(to: length)
    chunks.insert(RecordChunk(number: number, records: rest), at: chunk + 1)
    return rest
  }

  /// Adds a chunk's records to those of the one before it.
  package mutating func join(_ chunk: Int) {
    chunks[chunk - 1].append(chunks[chunk].records)
    chunks.remove(at: chunk)
  }

  package mutating func removeEmpty(_ chunk: Int) { chunks.remove(at: chunk) }

  /// Cuts off the second half.
  package mutating func splitInHalf(number: UInt32) -> RecordSection {
    let half = Array(chunks[(chunks.count / 2)...])
    chunks.removeLast(half.count)
    let section = RecordSection(number: number, chunks: half)
    count -= section.count
    return section
  }
}
