import FileDBPlist

/// The records of three versions of a table, those that are the same record under one key.
struct MergeSides {
  let base: [EncodedRecord]
  let ours: MergeSide
  let theirs: MergeSide
  private let overlays: OverlayRecords

  init(base: TableState, ours: TableState, theirs: TableState) {
    self.base = Array(base.records)
    overlays = OverlayRecords(base: base, sides: [ours, theirs])
    self.ours = MergeSide(ours, since: base, newKeys: base.records.count, overlays: overlays)
    self.theirs = MergeSide(
      theirs, since: base, newKeys: base.records.count + ours.records.count, overlays: overlays,
      sharing: self.ours)
  }

  /// What becomes of each record, by its key.
  func contents() -> [Int: MergedContent] {
    var contents: [Int: MergedContent] = [:]
    let added = theirs.keys.lazy.filter { $0 >= base.count && ours[$0] == nil }
    for key in Array(base.indices) + ours.keys.filter({ $0 >= base.count }) + added {
      let (base, ours, theirs) = (baseRecord(key), ours[key], theirs[key])
      contents[key] =
        isOverlay(key)
        ? MergedOverlay(base: base, ours: ours, theirs: theirs).content
        : MergedContent(base: base, ours: ours, theirs: theirs)
    }
    for key in doubtful(in: ours, changedBy: theirs).union(doubtful(in: theirs, changedBy: ours)) {
      guard let ours = ours[key], let theirs = theirs[key] else { continue }
      contents[key] = MergedContent(base: base[key], ours: ours, doubtful: theirs)
    }
    return contents
  }

  /// Conflicts about attached records of which the merged table says nothing.
  func conflictsOfNone(_ contents: [Int: MergedContent]) -> [MergeConflict] {
    contents.filter { $0.value.record == nil && !$0.value.conflicts.isEmpty }.sorted { $0.key < $1.key }
      .flatMap { key, content in content.conflicts.map { MergeConflict(record: id(of: key), kind: $0) } }
  }

  private func isOverlay(_ key: Int) -> Bool { id(of: key).map(overlays.contains) ?? false }

  /// The id of a record before it may get another one.
  private func id(of key: Int) -> AnyRecordID? { (baseRecord(key) ?? ours[key] ?? theirs[key])?.id }

  /// The keys under which a side may have another record than the base and the other side: where little is as it was,
  /// and a new record is more like the former one. An earlier merge may have given that one its new id; but it was
  /// edited since, so that nobody can tell, and what the other side changed must not be done to the wrong one.
  private func doubtful(in side: MergeSide, changedBy other: MergeSide) -> Set<Int> {
    let rewritten = base.indices.filter { key in
      guard let now = side[key], let changed = other[key], !isOverlay(key),
        !changed.hasSameContent(as: base[key])
      else { return false }
      return !now.hasSameContent(as: base[key]) && !AlikeRecords.isAlike(now.content, base[key].content)
    }
    if rewritten.isEmpty { return [] }
    let new = AlikeRecords(side.new(since: base.count).filter { !overlays.contains($0.id) })
    return Set(rewritten.filter { new.contains(alike: base[$0].content) })
  }

  func baseRecord(_ key: Int) -> EncodedRecord? { key < base.count ? base[key] : nil }

  /// The sides that had a record under another id.
  func renumberings(of key: Int, to id: AnyRecordID) -> [MergeRenumbering] {
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
  /// By index: the index in the base for a record that was there, a number of its own for a new one.
  let keys: [Int]
  /// The keys of the records that are new, in another order to those that stay, or ``marked``.
  let placed: Set<Int>
  /// The keys of the records of which a mark says another place among attached ones than in the base.
  let marked: Set<Int>
  private let records: [Int: EncodedRecord]

  /// - Parameters:
  ///   - newKeys: where the keys of new records begin.
  ///   - overlays: the records that are known by their ids alone.
  ///   - other: the other side, which may have added the very same record.
  init(
    _ table: TableState, since base: TableState, newKeys: Int, overlays: OverlayRecords,
    sharing other: MergeSide? = nil
  ) {
    let added = other.map { Dictionary(uniqueKeysWithValues: $0.added(since: base)) } ?? [:]
    let renumbered = Self.renumbered(in: table, since: base, except: overlays)
    let isRenumbered = Set(renumbered.values)
    var keys: [Int] = []
    var records: [Int: EncodedRecord] = [:]
    records.reserveCapacity(table.records.count)
    for (index, record) in table.records.enumerated() {
      let former = base.records.index(of: record.id).flatMap { isRenumbered.contains($0) ? nil : $0 }
      let twin = added[record.id].flatMap {
        overlays.contains(record.id) || $0.record.hasSameContent(as: record) ? $0.key : nil
      }
      let key = renumbered[record.id] ?? former ?? twin ?? newKeys + index
      keys.append(key)
      records[key] = record
    }
    self.keys = keys
    self.records = records
    let marked = Self.marked(records, since: base, overlays)
    // Where two have changed places, the marked one is that which was moved.
    let unmarked = keys.filter { !marked.contains($0) }
    placed = Self.placed(unmarked, baseCount: base.records.count).union(marked)
    self.marked = marked
  }

  subscript(key: Int) -> EncodedRecord? { records[key] }

  /// The records whose keys are none of the base's indices.
  func new(since baseCount: Int) -> [EncodedRecord] {
    keys.filter { $0 >= baseCount }.compactMap { self[$0] }
  }

  private func added(since base: TableState) -> [(AnyRecordID, (key: Int, record: EncodedRecord))] {
    keys.lazy.filter { $0 >= base.records.count }.compactMap { key in
      self[key].map { ($0.id, (key, $0)) }
    }
  }

  private static func placed(_ keys: [Int], baseCount: Int) -> Set<Int> {
    var runs: [IndexRun] = []
    let survivors = keys.filter { $0 < baseCount }
    for (index, key) in survivors.enumerated() {
      runs.join(IndexRun(oldIndex: key, newIndex: index, count: 1))
    }
    var placed = Set(keys.lazy.filter { $0 >= baseCount })
    for run in runs.outOfOrder() { placed.formUnion(run.oldIndex..<run.oldIndex + run.count) }
    return placed
  }
}

extension MergeSide {
  private static func marked(
    _ records: [Int: EncodedRecord], since base: TableState, _ overlays: OverlayRecords
  ) -> Set<Int> {
    let marked = records.lazy.filter { key, record in
      guard overlays.hasPlace(record.id) else { return false }
      let former = key < base.records.count ? base.records[key] : nil
      return former != record && former.map(OverlayMarks.init)?.place != OverlayMarks(of: record).place
    }
    return Set(marked.map(\.key))
  }

  /// The indices in the base of records that an earlier merge gave the side under a new id, by that id.
  ///
  /// The old id may be another record's there, and then what happened to the one must not be done to the other. A
  /// record counts as one of the base's under a new id if it has the very fields, and neither id has the same record
  /// on both sides.
  private static func renumbered(
    in side: TableState, since base: TableState, except overlays: OverlayRecords
  ) -> [AnyRecordID: Int] {
    let strange = side.records.filter { !overlays.contains($0.id) && !isSame($0.id, in: side, and: base) }
    guard !strange.isEmpty else { return [:] }
    var gone: [PlistDictionary: [Int]] = [:]
    for (index, record) in base.records.enumerated().reversed()
    where !overlays.contains(record.id) && !isSame(record.id, in: side, and: base) {
      gone[record.content, default: []].append(index)
    }
    var renumbered: [AnyRecordID: Int] = [:]
    for record in strange {
      if let index = gone[record.content]?.popLast() { renumbered[record.id] = index }
    }
    return renumbered
  }

  /// Whether an id has the same record in both, though perhaps edited: with more than half of its fields as they were.
  private static func isSame(_ id: AnyRecordID, in side: TableState, and base: TableState) -> Bool {
    guard let index = side.records.index(of: id), let baseIndex = base.records.index(of: id) else {
      return false
    }
    let (now, former) = (side.records[index], base.records[baseIndex])
    if now.hasSameBytes(as: former) { return true }
    return AlikeRecords.isAlike(now.content, former.content)
  }
}
