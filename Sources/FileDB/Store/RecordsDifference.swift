/// What leads from one order of records to another: first the removals, then the moves and insertions, then the updates.
///
/// A record that stays in its place beside the others that stay is in none of the lists, and as few records as possible are
/// in ``moved``. One that is moved and updated is in both lists.
package struct RecordsDifference: Sendable {
  package struct Removal: Sendable {
    package let record: StoredRecord
    package let oldRow: Int
  }

  package struct Insertion: Sendable {
    package let record: StoredRecord
    package let newRow: Int
  }

  package struct Update: Sendable {
    package let old: StoredRecord
    package let new: StoredRecord
    package let oldRow: Int
    package let newRow: Int
  }

  package struct Move: Sendable {
    package let id: RecordID
    package let oldRow: Int
    package let newRow: Int
  }

  /// By old row.
  package private(set) var removed: [Removal] = []
  /// By new row, as are the others.
  package private(set) var inserted: [Insertion] = []
  package private(set) var updated: [Update] = []
  package private(set) var moved: [Move] = []

  package var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && updated.isEmpty && moved.isEmpty }

  /// - Parameter movedIDs: records that are known to have been moved, and are named where others might as well be.
  /// - Complexity: O(*m* log *m*), where *m* is the number of records in the chunks that the two do not share, and of the
  ///   chunks between these; O(*s*) in the sections where they share all.
  package init(from old: OrderedRecords, to new: OrderedRecords, moving movedIDs: Set<RecordID> = []) {
    let chunks = ChunkPairs(old.sections, new.sections)
    var survivors = Survivors(of: chunks.unsharedOld)
    for chunk in chunks.new {
      if let oldRow = chunks.oldRow(sharedWith: chunk) {
        survivors.runs.join(RowRun(oldRow: oldRow, newRow: chunk.row, count: chunk.records.count))
        continue
      }
      for (offset, record) in chunk.records.enumerated() {
        let newRow = chunk.row + offset
        if let former = survivors.take(record.id, newRow: newRow, isMoved: movedIDs.contains(record.id)) {
          if former.record.hasSameBytes(as: record) { continue }
          updated.append(Update(old: former.record, new: record, oldRow: former.row, newRow: newRow))
        } else {
          inserted.append(Insertion(record: record, newRow: newRow))
        }
      }
    }
    removed = survivors.untaken.map { Removal(record: $0.record, oldRow: $0.row) }
    moved = survivors.runs.outOfOrder().flatMap { run in
      (0..<run.count).map { offset in
        Move(id: old[run.oldRow + offset].id, oldRow: run.oldRow + offset, newRow: run.newRow + offset)
      }
    }
  }
}

extension RecordsDifference {
  /// Whether the records that differ, as they were and as they are, surely have more bytes than `limit`: told without
  /// making the difference, which would take about as much memory as they do. Records that only moved do not count.
  /// - Complexity: O(*m*) in the records of the chunks that the two do not share, with a look-up for each where these have
  ///   more bytes than `limit`; it ends as soon as it is sure.
  static func isLonger(than limit: Int, from old: OrderedRecords, to new: OrderedRecords) -> Bool {
    let chunks = ChunkPairs(old.sections, new.sections)
    let former = chunks.unsharedOld.lazy.flatMap(\.records)
    let present = chunks.new.lazy.filter { chunks.oldRow(sharedWith: $0) == nil }.flatMap(\.records)
    func isLonger(_ bytes: (StoredRecord) -> Int, _ rest: (StoredRecord) -> Int) -> Bool {
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
        guard let row = old.row(of: record.id) else { return record.bytes.count }
        return old[row].hasSameBytes(as: record) ? 0 : old[row].bytes.count + record.bytes.count
      }, { new.contains($0.id) ? 0 : $0.bytes.count })
  }
}

/// The chunks of two orders of records, but for the sections that both have at their beginning and at their end.
private struct ChunkPairs {
  struct Chunk {
    let row: Int
    let records: [StoredRecord]
  }

  let unsharedOld: [Chunk]
  let new: [Chunk]
  /// Where the chunks that both have were.
  private let sharedRows: [StorageIdentity: Int]

  init(_ old: [RecordSection], _ new: [RecordSection]) {
    let isSame = { (old: RecordSection, new: RecordSection) in
      StorageIdentity(old.chunks) == StorageIdentity(new.chunks)
    }
    let head = zip(old, new).prefix(while: isSame).count
    let shorter = min(old.count, new.count)
    let tail = zip(old.reversed(), new.reversed()).prefix(shorter - head).prefix(while: isSame).count
    let row = old.prefix(head).reduce(0) { $0 + $1.count }
    let oldChunks = Self.chunks(of: old[head..<old.count - tail], from: row)
    self.new = Self.chunks(of: new[head..<new.count - tail], from: row)
    let newChunks = Set(self.new.map { StorageIdentity($0.records) })
    unsharedOld = oldChunks.filter { !newChunks.contains(StorageIdentity($0.records)) }
    sharedRows = Dictionary(
      uniqueKeysWithValues: oldChunks.lazy.map { (StorageIdentity($0.records), $0.row) }
        .filter { newChunks.contains($0.0) })
  }

  private static func chunks(of sections: ArraySlice<RecordSection>, from firstRow: Int) -> [Chunk] {
    var row = firstRow
    return sections.lazy.flatMap(\.chunks).map { chunk in
      defer { row += chunk.count }
      return Chunk(row: row, records: chunk.records)
    }
  }

  func oldRow(sharedWith chunk: Chunk) -> Int? { sharedRows[StorageIdentity(chunk.records)] }
}

/// Tells whether two arrays have one memory. While both are alive, that proves them equal.
struct StorageIdentity: Hashable {
  private let base: UnsafeRawPointer?
  private let count: Int

  init<Element>(_ array: [Element]) {
    base = array.withUnsafeBufferPointer { UnsafeRawPointer($0.baseAddress) }
    count = array.count
  }
}

/// The records that both orders have, found by their ids in the chunks that they do not share.
private struct Survivors {
  private var waiting: [RecordID: (row: Int, record: StoredRecord)] = [:]
  /// In the order of their new rows.
  var runs: [RowRun] = []

  init(of old: [ChunkPairs.Chunk]) {
    waiting.reserveCapacity(old.reduce(0) { $0 + $1.records.count })
    for chunk in old {
      for (offset, record) in chunk.records.enumerated() { waiting[record.id] = (chunk.row + offset, record) }
    }
  }

  /// The record with this id as it was; `nil` where there was none.
  mutating func take(_ id: RecordID, newRow: Int, isMoved: Bool) -> (row: Int, record: StoredRecord)? {
    guard let former = waiting.removeValue(forKey: id) else { return nil }
    runs.join(
      isMoved
        ? RowRun(oldRow: former.row, newRowOfMoved: newRow)
        : RowRun(oldRow: former.row, newRow: newRow, count: 1))
    return former
  }

  /// Those that are gone, by row.
  var untaken: [(row: Int, record: StoredRecord)] { waiting.values.sorted { $0.row < $1.row } }
}
