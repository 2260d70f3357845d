import Synchronization

/// Knows where records are: the chunk of each record, and the section of each chunk.
package struct RecordHomes: Sendable {
  /// The numbers of the records' chunks. `nil` until a change needs them: a table that is only read may never need
  /// them.
  private var chunks: RecordMap?
  /// The same for readers. The first reader that needs it builds it for all copies of these records.
  private let shared = SharedMap()
  /// What is known about the records before they are read.
  package let unread: (any UnreadRecords)?
  /// With ``unread``: the chunks of the records that have moved to another chunk since; `nil` for records that are
  /// gone.
  private var changed: [AnyRecordID: UInt32?] = [:]
  /// The section of each chunk, by the chunk's number.
  private var sections: [UInt32] = []
  private var freeChunks: [UInt32] = []
  private var nextSection: UInt32 = 0

  /// - Parameter unread: records that are not read yet. Their source numbers the chunks, and these numbers are used
  ///   here.
  package init(_ unread: (any UnreadRecords)? = nil) { self.unread = unread }

  private final class SharedMap: Sendable {
    let map = Mutex<RecordMap?>(nil)
  }

  /// - Parameter all: the present records, to be searched if the chunk is not known yet.
  package func chunk(of id: AnyRecordID, in all: [RecordSection]) -> UInt32? {
    if let unread {
      if let change = changed[id] { return change }
      return unread.index(of: id).map { UInt32($0 / unread.chunkLength) }
    }
    if let chunks { return chunks[id] }
    return shared.map.withLock { map in
      let known = map ?? Self.map(of: all)
      map = known
      return known[id]
    }
  }

  package func section(ofChunk number: UInt32) -> UInt32 { sections[Int(number)] }

  /// Prepares for changes.
  package mutating func prepare(_ all: [RecordSection]) {
    if chunks == nil, unread == nil { chunks = shared.map.withLock { $0 } ?? Self.map(of: all) }
  }

  private static func map(of all: [RecordSection]) -> RecordMap {
    var map = RecordMap()
    for section in all {
      for chunk in section.chunks { for record in chunk.records { map.set(chunk.number, for: record.id) } }
    }
    return map
  }

  package mutating func put(_ id: AnyRecordID, inChunk number: UInt32) {
    if unread == nil { chunks?.set(number, for: id) } else { changed.updateValue(number, forKey: id) }
  }

  package mutating func put(_ records: [EncodedRecord], inChunk number: UInt32) {
    for record in records { put(record.id, inChunk: number) }
  }

  package mutating func remove(_ id: AnyRecordID) {
    if unread == nil { chunks?.remove(id) } else { changed.updateValue(nil, forKey: id) }
  }

  package mutating func put(_ chunks: [RecordChunk], inSection number: UInt32) {
    for chunk in chunks { sections[Int(chunk.number)] = number }
  }

  package mutating func newSection() -> UInt32 {
    nextSection += 1
    return nextSection
  }

  /// The number for a new chunk of a section.
  package mutating func newChunk(inSection section: UInt32) -> UInt32 {
    if let number = freeChunks.popLast() {
      sections[Int(number)] = section
      return number
    }
    sections.append(section)
    return UInt32(sections.count - 1)
  }

  /// Makes the number of a removed chunk available again.
  package mutating func free(_ chunk: UInt32) { freeChunks.append(chunk) }
}
