extension MergeSides {
  /// The records of the base that both sides still have, in the order of one side.
  private func shared(by side: MergeSide) -> [Int] {
    side.keys.filter { $0 < base.count && ours[$0] != nil && theirs[$0] != nil }
  }

  /// A table does not tell whether somebody sorted it or moved single records. It counts as sorted if at least a third
  /// of the records moved.
  /// - Parameter wereInConflict: whether the base has no order, because its own sides sorted it differently.
  func areOrdersDifferent(wereInConflict: Bool) -> Bool {
    let orders = [shared(by: ours), shared(by: theirs)]
    if orders[0] == orders[1] { return false }
    if wereInConflict { return true }
    let fewest = min(ours.movedCount(below: base.count), theirs.movedCount(below: base.count))
    guard fewest >= 2, fewest * 3 >= orders[0].count else { return false }
    // Each side may have sorted a part of its own.
    let former = orders[0].sorted()
    let parts = orders.map { order in former.indices.filter { order[$0] != former[$0] } }
    guard let first = parts[0].first, let last = parts[0].last, let otherFirst = parts[1].first,
      let otherLast = parts[1].last
    else { return false }
    return first <= otherLast && otherFirst <= last
  }

  func orderConflict(_ numbers: MergedIDs) -> MergeConflict.Kind? {
    guard areOrdersInConflict else { return nil }
    let orders = [ours, theirs].map { shared(by: $0).compactMap { numbers.ids[$0] } }
    return .order(ours: orders[0], theirs: orders[1])
  }

  /// The keys of the merged records in order: the order of ours, with the records that theirs moved or added below the
  /// record that is above them in theirs.
  func order(where isKept: (Int) -> Bool) -> [Int] {
    let incoming = incoming(where: isKept)
    let moving = Set(incoming.values.joined())
    var order: [Int] = []
    var waiting = incoming[nil] ?? []
    for key in ours.keys where isKept(key) && !moving.contains(key) {
      // What ours put below the same record comes first.
      if !ours.placed.contains(key) {
        order += waiting
        waiting = incoming[key] ?? []
      }
      order.append(key)
    }
    return order + waiting
  }

  /// The records whose places come from theirs, by the last record above them that stays on both sides; `nil` for the
  /// top.
  private func incoming(where isKept: (Int) -> Bool) -> [Int?: [Int]] {
    var incoming: [Int?: [Int]] = [:]
    var anchor: Int?
    for key in theirs.keys where isKept(key) {
      if ours[key] == nil || isPlacedByTheirs(key) {
        incoming[anchor, default: []].append(key)
      } else if !ours.placed.contains(key) {
        anchor = key
      }
    }
    return incoming
  }

  /// A position among attached records is useless without the order of the records with the same position. So if only
  /// one side has a new position, both come from that side.
  private func isPlacedByTheirs(_ key: Int) -> Bool {
    let isRepositioned = theirs.repositioned.contains(key)
    if isRepositioned != ours.repositioned.contains(key) { return isRepositioned }
    return theirs.placed.contains(key) && !ours.placed.contains(key)
  }
}

/// The ids of the merged records.
struct MergedIDs {
  /// By the records' keys.
  private(set) var ids: [Int: AnyRecordID] = [:]
  /// The highest new id; 0 if none was given.
  private(set) var lastNew: Int64 = 0
  private var taken: Set<AnyRecordID> = []

  /// - Parameter counter: ids up to this one may have been given.
  init(_ sides: MergeSides, order: [Int], above counter: Int64) throws(StoreError) {
    ids.reserveCapacity(order.count)
    // Ours first, because records of theirs can get other ids.
    for key in order where sides.adoptedID(key) == nil {
      if let own = sides.ours[key] { take(own.id, for: key) }
    }
    // The ids of records that ours has and the merge deletes. New records do not get them.
    let kept = Set(order)
    let gone = Set(sides.ours.keys.lazy.filter { !kept.contains($0) }.compactMap { sides.ours[$0]?.id })
    for key in order where ids[key] == nil {
      let own = sides.theirs[key]?.id
      let wanted = [sides.adoptedID(key), sides.ours[key]?.id, own.flatMap { gone.contains($0) ? nil : $0 }]
      if let id = wanted.lazy.compactMap(\.self).first(where: { !taken.contains($0) }) {
        take(id, for: key)
        continue
      }
      let last = max(lastNew, counter)
      guard last < .max else { throw StoreError(.counterExhausted, "there are no more ids") }
      lastNew = last + 1
      take(AnyRecordID(counted: lastNew), for: key)
    }
  }

  private mutating func take(_ id: AnyRecordID, for key: Int) {
    ids[key] = id
    taken.insert(id)
  }
}

extension MergeSides {
  /// The new id that theirs gave to a record that still has its old id in ours.
  fileprivate func adoptedID(_ key: Int) -> AnyRecordID? {
    guard let old = baseRecord(key)?.id, ours[key]?.id == old, let new = theirs[key]?.id, new != old else {
      return nil
    }
    return new
  }
}

extension [AnyRecordID] {
  /// These ids, with those that are also in `order` in that order. All others keep their indices.
  package func ordered(as order: [AnyRecordID]) -> [AnyRecordID] {
    let (present, ordered) = (Set(self), Set(order))
    var next = order.filter(present.contains).makeIterator()
    return map { ordered.contains($0) ? next.next() ?? $0 : $0 }
  }
}
