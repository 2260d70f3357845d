import FileDBPlist

/// The records of three versions of a table, those that are the same record under one key.
struct MergeSides {
  let base: [StoredRecord]
  let ours: MergeSide
  let theirs: MergeSide

  init(base: TableState, ours: TableState, theirs: TableState) {
    self.base = Array(base.records)
    self.ours = MergeSide(ours, since: base, newKeys: base.records.count)
    self.theirs = MergeSide(
      theirs, since: base, newKeys: base.records.count + ours.records.count, sharing: self.ours)
  }

  /// What becomes of each record that is not deleted, by its key.
  func contents() -> [Int: MergedContent] {
    var contents: [Int: MergedContent] = [:]
    let added = theirs.keys.lazy.filter { $0 >= base.count && ours[$0] == nil }
    for key in Array(base.indices) + ours.keys.filter({ $0 >= base.count }) + added {
      contents[key] = MergedContent(base: baseRecord(key), ours: ours[key], theirs: theirs[key])
    }
    for key in doubtful(in: ours, changedBy: theirs).union(doubtful(in: theirs, changedBy: ours)) {
      guard let ours = ours[key], let theirs = theirs[key] else { continue }
      contents[key] = MergedContent(base: base[key], ours: ours, doubtful: theirs)
    }
    return contents
  }

  /// The keys under which a side may have another record than the base and the other side: where little is as it was, and
  /// a new record is more like the former one. An earlier merge may have given that one its new id; but it was edited since, so
  /// that nobody can tell, and what the other side changed must not be done to the wrong one.
  private func doubtful(in side: MergeSide, changedBy other: MergeSide) -> Set<Int> {
    let rewritten = base.indices.filter { key in
      guard let now = side[key], let changed = other[key], !changed.hasSameFields(as: base[key]) else {
        return false
      }
      return !now.hasSameFields(as: base[key])
        && !AlikeRecords.isAlike(now.record.fields, base[key].record.fields)
    }
    if rewritten.isEmpty { return [] }
    let new = AlikeRecords(side.new(since: base.count))
    return Set(rewritten.filter { new.contains(alike: base[$0].record.fields) })
  }

  func baseRecord(_ key: Int) -> StoredRecord? { key < base.count ? base[key] : nil }

  /// The sides that had a record under another id.
  func renumberings(of key: Int, to id: RecordID) -> [MergeRenumbering] {
    var renumberings: [MergeRenumbering] = []
    if let old = ours[key]?.id, old != id { renumberings.append(.init(side: .ours, oldID: old, newID: id)) }
    if let old = theirs[key]?.id, old != id {
      renumberings.append(.init(side: .theirs, oldID: old, newID: id))
    }
    return renumberings
  }
}

/// One side's records, and which of the base's they are.
struct MergeSide {
  /// By row: the base's row for a record that was there, a number of its own for a new one.
  let keys: [Int]
  /// The keys of the records that are new, or in another order to those that stay.
  let placed: Set<Int>
  private let records: [Int: StoredRecord]

  /// - Parameters:
  ///   - newKeys: where the keys of new records begin.
  ///   - other: the other side, which may have added the very same record.
  init(_ table: TableState, since base: TableState, newKeys: Int, sharing other: MergeSide? = nil) {
    let added = other.map { Dictionary(uniqueKeysWithValues: $0.added(since: base)) } ?? [:]
    let renumbered = Self.renumbered(in: table, since: base)
    let isRenumbered = Set(renumbered.values)
    var keys: [Int] = []
    var records: [Int: StoredRecord] = [:]
    records.reserveCapacity(table.records.count)
    for (row, record) in table.records.enumerated() {
      let former = base.records.row(of: record.id).flatMap { isRenumbered.contains($0) ? nil : $0 }
      let twin = added[record.id].flatMap { $0.record.hasSameBytes(as: record) ? $0.key : nil }
      let key = renumbered[record.id] ?? former ?? twin ?? newKeys + row
      keys.append(key)
      records[key] = record
    }
    self.keys = keys
    self.records = records
    placed = Self.placed(keys, baseCount: base.records.count)
  }

  subscript(key: Int) -> StoredRecord? { records[key] }

  /// The records whose keys are none of the base's rows.
  func new(since baseCount: Int) -> [StoredRecord] { keys.filter { $0 >= baseCount }.compactMap { self[$0] } }

  private func added(since base: TableState) -> [(RecordID, (key: Int, record: StoredRecord))] {
    keys.lazy.filter { $0 >= base.records.count }.compactMap { key in
      self[key].map { ($0.id, (key, $0)) }
    }
  }

  private static func placed(_ keys: [Int], baseCount: Int) -> Set<Int> {
    var runs: [RowRun] = []
    let survivors = keys.filter { $0 < baseCount }
    for (row, key) in survivors.enumerated() { runs.join(RowRun(oldRow: key, newRow: row, count: 1)) }
    var placed = Set(keys.lazy.filter { $0 >= baseCount })
    for run in runs.outOfOrder() { placed.formUnion(run.oldRow..<run.oldRow + run.count) }
    return placed
  }
}

extension MergeSide {
  /// The base's rows of records that an earlier merge gave the side under a new id, by that id.
  ///
  /// The old id may be another record's there, and then what happened to the one must not be done to the other. A record counts
  /// as one of the base's under a new id where it has the very fields, and neither id has the same record on both sides.
  private static func renumbered(in side: TableState, since base: TableState) -> [RecordID: Int] {
    let strange = side.records.filter { !isSame($0.id, in: side, and: base) }
    guard !strange.isEmpty else { return [:] }
    var gone: [PlistDictionary: [Int]] = [:]
    for (row, record) in base.records.enumerated().reversed()
    where !isSame(record.id, in: side, and: base) {
      gone[record.record.fields, default: []].append(row)
    }
    var renumbered: [RecordID: Int] = [:]
    for record in strange {
      if let row = gone[record.record.fields]?.popLast() { renumbered[record.id] = row }
    }
    return renumbered
  }

  /// Whether an id has the same record in both, though perhaps edited: with more than half of its fields as they were.
  private static func isSame(_ id: RecordID, in side: TableState, and base: TableState) -> Bool {
    guard let row = side.records.row(of: id), let baseRow = base.records.row(of: id) else { return false }
    let (now, former) = (side.records[row], base.records[baseRow])
    if now.hasSameBytes(as: former) { return true }
    return AlikeRecords.isAlike(now.record.fields, former.record.fields)
  }
}
