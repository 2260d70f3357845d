import Synchronization

/// Where records are: the chunk of each, and the section of each chunk.
package struct RecordHomes: Sendable {
  /// The numbers of the records' chunks. `nil` until a change needs them: a table that is only read may never do.
  private var chunks: RecordMap?
  /// The same for readers: whoever needs them first builds them for all copies of these records.
  private let shared = SharedMap()
  /// What is known of the records before they were read.
  package let unread: (any UnreadRecords)?
  /// With ``unread``: the chunks of the records that are in another one since, `nil` for those that are gone.
  private var changed: [AnyRecordID: UInt32?] = [:]
  /// By the number of the chunk.
  private var sections: [UInt32] = []
  private var freeChunks: [UInt32] = []
  private var nextSection: UInt32 = 0

  /// - Parameter unread: records that are not read yet. The numbers of their chunks are theirs here.
  package init(_ unread: (any UnreadRecords)? = nil) { self.unread = unread }

  private final class SharedMap: Sendable {
    let map = Mutex<RecordMap?>(nil)
  }

  /// - Parameter all: the records as they are, to look through if it is not yet known.
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

  /// Makes ready for changes.
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

  /// Takes back the number of a chunk that is gone.
  package mutating func free(_ chunk: UInt32) { freeChunks.append(chunk) }
}
