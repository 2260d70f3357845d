/// Identifies one version of a chunk's records. Whoever has derived something from them can tell by it whether that is
/// still valid.
package final class ChunkVersion: Sendable {
  fileprivate init() {}
}

/// Some consecutive records.
///
/// A table has thousands of these, and a change copies the list of a section's chunks. So a chunk has one reference,
/// not one for each of its parts.
package struct RecordChunk: Sendable {
  package let number: UInt32
  /// Kept here, too, so that counting need not visit each content.
  private var length: UInt32
  private var content: Content

  /// What is in a chunk. Only a chunk that has it alone changes it.
  private final class Content: @unchecked Sendable {
    /// The records, unless they are ``unread``.
    var loaded: [EncodedRecord]
    /// The records that are still in their file. A change reads them.
    var unread: UnreadChunk?
    var version = ChunkVersion()

    init(_ loaded: [EncodedRecord], unread: UnreadChunk? = nil) {
      (self.loaded, self.unread) = (loaded, unread)
    }

    var records: [EncodedRecord] { unread?.records ?? loaded }
  }

  package init(number: UInt32, records: [EncodedRecord]) {
    (self.number, length, content) = (number, UInt32(records.count), Content(records))
  }

  package init(number: UInt32, unread: UnreadChunk, count: Int) {
    (self.number, length, content) = (number, UInt32(count), Content([], unread: unread))
  }

  package var count: Int { Int(length) }

  package var records: [EncodedRecord] { content.records }

  package var version: ChunkVersion { content.version }

  /// The identity of the memory that holds the records, or of their place in the file.
  package var identity: StorageIdentity {
    content.unread.map { StorageIdentity($0) } ?? StorageIdentity(content.loaded)
  }

  /// Changes the records, in place if no other chunk has them. They get a new version. They keep the version if nobody
  /// else has it, because then nothing has been derived from it.
  fileprivate mutating func change<Result>(_ body: (inout [EncodedRecord]) -> Result) -> Result {
    if !isKnownUniquelyReferenced(&content) || content.unread != nil {
      content = Content(content.records)
    } else if !isKnownUniquelyReferenced(&content.version) {
      content.version = ChunkVersion()
    }
    defer { length = UInt32(content.loaded.count) }
    return body(&content.loaded)
  }
}

/// Some consecutive chunks.
package struct RecordSection: Sendable {
  package let number: UInt32
  package private(set) var chunks: [RecordChunk] = []
  /// The number of records.
  package private(set) var count = 0

  package init(number: UInt32, chunks: [RecordChunk] = []) {
    self.number = number
    self.chunks = chunks
    count = chunks.reduce(0) { $0 + $1.count }
  }

  /// The index of the record with this id, counted in this section.
  package func index(of id: AnyRecordID, inChunk number: UInt32) -> Int? {
    var index = 0
    for chunk in chunks {
      if chunk.number == number { return chunk.records.firstIndex { $0.id == id }.map { index + $0 } }
      index += chunk.count
    }
    return nil
  }

  /// The position of the record at an index of this section; for the index after the last record, the position after
  /// it.
  package func position(of index: Int) -> (chunk: Int, offset: Int) {
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

  /// Changes the records of a chunk.
  package mutating func change<Result>(
    _ chunk: Int, _ body: (inout [EncodedRecord]) -> Result
  ) -> Result {
    let former = chunks[chunk].count
    defer { count += chunks[chunk].count - former }
    return chunks[chunk].change(body)
  }

  /// Cuts a chunk in two.
  /// - Returns: the records of the second chunk, which has this number.
  package mutating func split(_ chunk: Int, at length: Int, number: UInt32) -> [EncodedRecord] {
    let rest = chunks[chunk].change { records in
      defer { records.removeSubrange(length...) }
      return Array(records[length...])
    }
    chunks.insert(RecordChunk(number: number, records: rest), at: chunk + 1)
    return rest
  }

  /// Appends a chunk's records to those of the chunk before it.
  package mutating func join(_ chunk: Int) {
    let records = chunks.remove(at: chunk).records
    chunks[chunk - 1].change { $0 += records }
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
