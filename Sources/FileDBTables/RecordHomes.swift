import Synchronization

/// Knows where records are: the chunk of each record, and the section of each chunk.
///
/// A transaction copies a table many times, so these homes have one reference, not one for each of their parts.
package struct RecordHomes: Sendable {
  private var content: Content

  /// Only homes that have it alone change it.
  private final class Content: @unchecked Sendable {
    /// The numbers of the records' chunks. `nil` until a change needs them: a table that is only read may never need
    /// them.
    var chunks: RecordMap?
    /// The same for readers. The first reader that needs it builds it for all copies of these records.
    let shared: SharedMap
    /// What is known about the records before they are read.
    let unread: (any UnreadRecords)?
    /// With ``unread``: the chunks of the records that have moved to another chunk since; `nil` for records that are
    /// gone.
    var changed: [AnyRecordID: UInt32?] = [:]
    /// The section of each chunk, by the chunk's number.
    var sections: [UInt32] = []
    var freeChunks: [UInt32] = []
    var nextSection: UInt32 = 0

    init(_ unread: (any UnreadRecords)?) { (self.unread, shared) = (unread, SharedMap()) }

    init(copying other: Content) {
      (chunks, shared, unread, changed) = (other.chunks, other.shared, other.unread, other.changed)
      (sections, freeChunks, nextSection) = (other.sections, other.freeChunks, other.nextSection)
    }
  }

  /// - Parameter unread: records that are not read yet. Their source numbers the chunks, and these numbers are used
  ///   here.
  package init(_ unread: (any UnreadRecords)? = nil) { content = Content(unread) }

  package var unread: (any UnreadRecords)? { content.unread }

  /// The content, to be changed.
  private var own: Content {
    mutating get {
      if !isKnownUniquelyReferenced(&content) { content = Content(copying: content) }
      return content
    }
  }

  private final class SharedMap: Sendable {
    let map = Mutex<RecordMap?>(nil)
  }

  /// - Parameter all: the present records, to be searched if the chunk is not known yet.
  package func chunk(of id: AnyRecordID, in all: [RecordSection]) -> UInt32? {
    if let unread {
      if let change = content.changed[id] { return change }
      return unread.index(of: id).map { UInt32($0 / unread.chunkLength) }
    }
    if let chunks = content.chunks { return chunks[id] }
    return content.shared.map.withLock { map in
      let known = map ?? Self.map(of: all)
      map = known
      return known[id]
    }
  }

  package func section(ofChunk number: UInt32) -> UInt32 { content.sections[Int(number)] }

  /// Prepares for changes.
  package mutating func prepare(_ all: [RecordSection]) {
    if content.chunks == nil, unread == nil {
      own.chunks = content.shared.map.withLock { $0 } ?? Self.map(of: all)
    }
  }

  private static func map(of all: [RecordSection]) -> RecordMap {
    var map = RecordMap()
    for section in all {
      for chunk in section.chunks { for record in chunk.records { map.set(chunk.number, for: record.id) } }
    }
    return map
  }

  package mutating func put(_ id: AnyRecordID, inChunk number: UInt32) {
    if unread == nil { own.chunks?.set(number, for: id) } else { own.changed.updateValue(number, forKey: id) }
  }

  package mutating func put(_ records: [EncodedRecord], inChunk number: UInt32) {
    for record in records { put(record.id, inChunk: number) }
  }

  package mutating func remove(_ id: AnyRecordID) {
    if unread == nil { own.chunks?.remove(id) } else { own.changed.updateValue(nil, forKey: id) }
  }

  package mutating func put(_ chunks: [RecordChunk], inSection number: UInt32) {
    let content = own
    for chunk in chunks { content.sections[Int(chunk.number)] = number }
  }

  package mutating func newSection() -> UInt32 {
    let content = own
    content.nextSection += 1
    return content.nextSection
  }

  /// The number for a new chunk of a section.
  package mutating func newChunk(inSection section: UInt32) -> UInt32 {
    let content = own
    if let number = content.freeChunks.popLast() {
      content.sections[Int(number)] = section
      return number
    }
    content.sections.append(section)
    return UInt32(content.sections.count - 1)
  }

  /// Makes the number of a removed chunk available again.
  package mutating func free(_ chunk: UInt32) { own.freeChunks.append(chunk) }
}
