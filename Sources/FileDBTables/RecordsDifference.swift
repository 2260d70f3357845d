/// The steps from one order of records to another: first the removals, then the moves and insertions, then the updates.
///
/// A record that keeps its place among the others that stay is in none of the lists. As few records as possible are in
/// ``moved``. A record that is moved and updated is in both lists.
package struct RecordsDifference: Sendable {
  package struct Removal: Sendable {
    package let record: EncodedRecord
    package let oldIndex: Int
  }

  package struct Insertion: Sendable {
    package let record: EncodedRecord
    package let newIndex: Int
  }

  package struct Update: Sendable {
    package let old: EncodedRecord
    package let new: EncodedRecord
    package let oldIndex: Int
    package let newIndex: Int
  }

  /// Sorted by old index.
  package private(set) var removed: [Removal] = []
  /// Sorted by new index, as are the following lists.
  package private(set) var inserted: [Insertion] = []
  package private(set) var updated: [Update] = []
  package private(set) var moved: [ListSteps.Passage] = []

  package var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && updated.isEmpty && moved.isEmpty }

  /// The records that are new or have changed fields.
  package var newRecords: [EncodedRecord] { inserted.map(\.record) + updated.map(\.new) }

  /// - Parameter movedIDs: records that are known to have been moved. If there is a choice, these are listed as moved.
  /// - Complexity: O(*m* log *m*), where *m* is the number of records in the chunks that the two do not share, and of
  ///   the chunks between these; O(*s*) in the sections if they share all.
  package init(from old: OrderedRecords, to new: OrderedRecords, moving movedIDs: Set<AnyRecordID> = []) {
    let chunks = ChunkPairs(old.sections, new.sections)
    var survivors = Survivors(of: chunks.unsharedOld)
    for chunk in chunks.new {
      if let oldIndex = chunks.oldIndex(sharedWith: chunk) {
        survivors.runs.join(IndexRun(oldIndex: oldIndex, newIndex: chunk.index, count: chunk.count))
        continue
      }
      for (offset, record) in chunk.records.enumerated() {
        let newIndex = chunk.index + offset
        if let former = survivors.take(record.id, newIndex: newIndex, isMoved: movedIDs.contains(record.id)) {
          if former.record.hasSameBytes(as: record) { continue }
          updated.append(
            Update(old: former.record, new: record, oldIndex: former.oldIndex, newIndex: newIndex))
        } else {
          inserted.append(Insertion(record: record, newIndex: newIndex))
        }
      }
    }
    removed = survivors.untaken
    moved = survivors.runs.outOfOrder().flatMap { run in
      (0..<run.count).map { offset in
        ListSteps.Passage(
          id: old[run.oldIndex + offset].id, oldIndex: run.oldIndex + offset, newIndex: run.newIndex + offset)
      }
    }
  }
}

extension RecordsDifference {
  /// Whether the records that differ have certainly more bytes than `limit`, counting the old and the new versions. It
  /// does not build the difference, which would take about as much memory as these records. Records that only moved do
  /// not count.
  /// - Complexity: O(*m*) in the records of the chunks that the two do not share, with a look-up for each if these have
  ///   more bytes than `limit`. It stops as soon as the answer is certain.
  package static func isLonger(than limit: Int, from old: OrderedRecords, to new: OrderedRecords) -> Bool {
    let chunks = ChunkPairs(old.sections, new.sections)
    let former = chunks.unsharedOld.lazy.flatMap(\.records)
    let present = chunks.new.lazy.filter { chunks.oldIndex(sharedWith: $0) == nil }.flatMap(\.records)
    func isLonger(_ bytes: (EncodedRecord) -> Int, _ rest: (EncodedRecord) -> Int) -> Bool {
      var count = 0
      return present.contains {
        count += bytes($0)
        return count > limit
      }
        || former.contains {
          count += rest($0)
          return count > limit
        }
    }
    guard isLonger(\.bytes.count, \.bytes.count) else { return false }
    return isLonger(
      { record in
        guard let index = old.index(of: record.id) else { return record.bytes.count }
        return old[index].hasSameBytes(as: record) ? 0 : old[index].bytes.count + record.bytes.count
      }, { new.contains($0.id) ? 0 : $0.bytes.count })
  }
}

/// The chunks of two orders of records, without the sections at the beginning and at the end that both share.
private struct ChunkPairs {
  struct Chunk {
    let index: Int
    private let chunk: RecordChunk

    init(_ chunk: RecordChunk, index: Int) { (self.chunk, self.index) = (chunk, index) }

    var records: [EncodedRecord] { chunk.records }
    var count: Int { chunk.count }
    var identity: StorageIdentity { chunk.identity }
  }

  let unsharedOld: [Chunk]
  let new: [Chunk]
  /// The old indices of the chunks that both have.
  private let sharedIndices: [StorageIdentity: Int]

  init(_ old: [RecordSection], _ new: [RecordSection]) {
    let isSame = { (old: RecordSection, new: RecordSection) in
      StorageIdentity(old.chunks) == StorageIdentity(new.chunks)
    }
    let head = zip(old, new).prefix(while: isSame).count
    let shorter = min(old.count, new.count)
    let tail = zip(old.reversed(), new.reversed()).prefix(shorter - head).prefix(while: isSame).count
    let index = old.prefix(head).reduce(0) { $0 + $1.count }
    let oldChunks = Self.chunks(of: old[head..<old.count - tail], from: index)
    self.new = Self.chunks(of: new[head..<new.count - tail], from: index)
    let newChunks = Set(self.new.map(\.identity))
    unsharedOld = oldChunks.filter { !newChunks.contains($0.identity) }
    sharedIndices = Dictionary(
      uniqueKeysWithValues: oldChunks.lazy.map { ($0.identity, $0.index) }
        .filter { newChunks.contains($0.0) })
  }

  private static func chunks(of sections: ArraySlice<RecordSection>, from firstIndex: Int) -> [Chunk] {
    var index = firstIndex
    return sections.lazy.flatMap(\.chunks).map { chunk in
      defer { index += chunk.count }
      return Chunk(chunk, index: index)
    }
  }

  func oldIndex(sharedWith chunk: Chunk) -> Int? { sharedIndices[chunk.identity] }
}

/// Tells whether two arrays have the same memory. While both are alive, this proves that they are equal.
package struct StorageIdentity: Hashable {
  private let base: UnsafeRawPointer?
  private let count: Int

  package init<Element>(_ array: [Element]) {
    base = array.withUnsafeBufferPointer { UnsafeRawPointer($0.baseAddress) }
    count = array.count
  }

  /// - Parameter chunk: a chunk of records whose source is alive. No array has its number as a count.
  package init(_ chunk: UnreadChunk) {
    base = UnsafeRawPointer(Unmanaged.passUnretained(chunk.all as AnyObject).toOpaque())
    count = -1 - chunk.number
  }
}

/// The records that both orders have. It finds them by their ids in the chunks that the two do not share.
private struct Survivors {
  private var waiting: [AnyRecordID: RecordsDifference.Removal] = [:]
  /// In the order of their new indices.
  var runs: [IndexRun] = []

  init(of old: [ChunkPairs.Chunk]) {
    waiting.reserveCapacity(old.reduce(0) { $0 + $1.records.count })
    for chunk in old {
      for (offset, record) in chunk.records.enumerated() {
        waiting[record.id] = .init(record: record, oldIndex: chunk.index + offset)
      }
    }
  }

  /// The old version of the record with this id; `nil` if there was none.
  mutating func take(_ id: AnyRecordID, newIndex: Int, isMoved: Bool) -> RecordsDifference.Removal? {
    guard let former = waiting.removeValue(forKey: id) else { return nil }
    runs.join(
      isMoved
        ? IndexRun(oldIndex: former.oldIndex, newIndexOfMoved: newIndex)
        : IndexRun(oldIndex: former.oldIndex, newIndex: newIndex, count: 1))
    return former
  }

  /// The records that are gone, by index.
  var untaken: [RecordsDifference.Removal] { waiting.values.sorted { $0.oldIndex < $1.oldIndex } }
}
