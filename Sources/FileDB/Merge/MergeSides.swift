import FileDBPlist

/// The records of three versions of a table. The versions of one record have the same key.
struct MergeSides {
  let base: [EncodedRecord]
  private(set) var ours: MergeSide
  private(set) var theirs: MergeSide
  private let overlays: Set<AnyRecordID>
  /// Whether both sides put the records into new orders, which differ. Then our order stays.
  private(set) var areOrdersInConflict = false

  init(base: TableState, ours: TableState, theirs: TableState) {
    self.base = Array(base.records)
    overlays = Set(ofOverlayRecordsIn: base, sides: [ours, theirs])
    self.ours = MergeSide(ours, since: base, newKeys: base.records.count, overlays: overlays)
    self.theirs = MergeSide(
      theirs, since: base, newKeys: base.records.count + ours.records.count, overlays: overlays,
      sharing: self.ours)
    areOrdersInConflict = areOrdersDifferent(
      wereInConflict: base.foreignKeys[ConflictPlaceholder.orderKey] != nil)
    if areOrdersInConflict {
      self.ours.keepMoved(below: self.base.count)
      self.theirs.keepMoved(below: self.base.count)
    }
  }

  /// The merged content of each record, by its key.
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

  /// Conflicts about attached records that have no record in the merged table.
  func conflictsOfNone(_ contents: [Int: MergedContent]) -> [MergeConflict] {
    contents.filter { $0.value.record == nil && !$0.value.conflicts.isEmpty }.sorted { $0.key < $1.key }
      .flatMap { key, content in content.conflicts.map { MergeConflict(record: id(of: key), kind: $0) } }
  }

  private func isOverlay(_ key: Int) -> Bool { id(of: key).map(overlays.contains) ?? false }

  /// The id of a record before the merge may give it another one.
  private func id(of key: Int) -> AnyRecordID? { (baseRecord(key) ?? ours[key] ?? theirs[key])?.id }

  /// The keys for which a side may have a different record than the base and the other side: few fields are as they
  /// were, and a new record is more similar to the former one. An earlier merge may have given that record its new id,
  /// but it was edited since, so nobody can tell. The other side's changes must not be applied to the wrong record.
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

/// One side's records, and the records of the base that they correspond to.
struct MergeSide {
  /// By index: the index in the base for a record that was there, or a new number for a new record.
  let keys: [Int]
  /// The keys of the records that are new, that changed their order relative to those that stay, or that are
  /// ``repositioned``.
  private(set) var placed: Set<Int>
  /// The keys of the records that name another position among attached ones than in the base.
  let repositioned: Set<Int>
  private let records: [Int: EncodedRecord]

  /// - Parameters:
  ///   - newKeys: the first key for new records.
  ///   - overlays: the records that are identified only by their ids.
  ///   - other: the other side, which may have added exactly the same record.
  init(
    _ table: TableState, since base: TableState, newKeys: Int, overlays: Set<AnyRecordID>,
    sharing other: MergeSide? = nil
  ) {
    let added = other.map { Dictionary(uniqueKeysWithValues: $0.added(since: base)) } ?? [:]
    let renumbered = Self.renumbered(in: table, since: base, except: overlays)
    let isRenumbered = Set(renumbered.values)
    let copied = Self.copied(
      table.records.filter { base.records.index(of: $0.id) == nil }, of: added, overlays)
    var keys: [Int] = []
    var records: [Int: EncodedRecord] = [:]
    records.reserveCapacity(table.records.count)
    for (index, record) in table.records.enumerated() {
      let former = base.records.index(of: record.id).flatMap { isRenumbered.contains($0) ? nil : $0 }
      let twin = added[record.id].flatMap {
        overlays.contains(record.id) || $0.record.hasSameContent(as: record) ? $0.key : nil
      }
      let key = renumbered[record.id] ?? former ?? twin ?? copied[record.id] ?? newKeys + index
      keys.append(key)
      records[key] = record
    }
    self.keys = keys
    self.records = records
    let repositioned = Self.repositioned(records, since: base, overlays)
    // If two records have changed places, the repositioned one is the one that was moved.
    let others = keys.filter { !repositioned.contains($0) }
    placed = Self.placed(others, baseCount: base.records.count).union(repositioned)
    self.repositioned = repositioned
  }

  subscript(key: Int) -> EncodedRecord? { records[key] }

  /// How many records of the base have moved, without the repositioned ones.
  func movedCount(below baseCount: Int) -> Int {
    placed.count { $0 < baseCount && !repositioned.contains($0) }
  }

  /// Makes the records that moved ordinary ones, which the others are placed by.
  mutating func keepMoved(below baseCount: Int) {
    placed = placed.filter { $0 >= baseCount || repositioned.contains($0) }
  }

  /// The records that are not in the base.
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
  private static func repositioned(
    _ records: [Int: EncodedRecord], since base: TableState, _ overlays: Set<AnyRecordID>
  ) -> Set<Int> {
    let repositioned = records.lazy.filter { key, record in
      // In other records, the field for the position is an ordinary one.
      guard Overlay.isOwn(record.id) || overlays.contains(record.id) else { return false }
      let former = key < base.records.count ? base.records[key] : nil
      return former != record
        && former.map(OverlayMetadata.init)?.position != OverlayMetadata(of: record).position
    }
    return Set(repositioned.map(\.key))
  }

  /// The indices in the base of records that an earlier merge gave the side under new ids, by these ids.
  ///
  /// The side may use the old id for another record. What happened to one must then not be applied to the other. A
  /// record counts as a base record under a new id if its fields are the same, and if neither id has the same record on
  /// both sides.
  private static func renumbered(
    in side: TableState, since base: TableState, except overlays: Set<AnyRecordID>
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

  /// The records that the other side has under other ids, by their ids here. A `cherry-pick` copies a record, and gives
  /// it a new id if its own is taken. So one of the two ids must stand for different records on the two sides.
  private static func copied(
    _ new: [EncodedRecord], of added: [AnyRecordID: (key: Int, record: EncodedRecord)],
    _ overlays: Set<AnyRecordID>
  ) -> [AnyRecordID: Int] {
    let unequal = new.filter { record in
      !overlays.contains(record.id) && added[record.id]?.record.hasSameContent(as: record) != true
    }
    let contested = Set(unequal.lazy.map(\.id).filter { added[$0] != nil })
    guard !contested.isEmpty else { return [:] }
    let equal = Set(new.lazy.map(\.id)).subtracting(unequal.lazy.map(\.id))
    let others = added.values.filter { !equal.contains($0.record.id) && !overlays.contains($0.record.id) }
    var originals = Dictionary(grouping: others.sorted { $0.key < $1.key }, by: \.record.content)
    var copied: [AnyRecordID: Int] = [:]
    for record in unequal {
      let isContested = contested.contains(record.id)
      guard
        let place = originals[record.content]?.firstIndex(where: {
          isContested || contested.contains($0.record.id)
        })
      else { continue }
      copied[record.id] = originals[record.content]?.remove(at: place).key
    }
    return copied
  }

  /// Whether an id has the same record in both. The record may be edited, but more than half of its fields are as they
  /// were.
  private static func isSame(_ id: AnyRecordID, in side: TableState, and base: TableState) -> Bool {
    guard let now = side.record(id), let former = base.record(id) else { return false }
    return now.hasSameBytes(as: former) || AlikeRecords.isAlike(now.content, former.content)
  }
}
