/// Some records that follow each other both in an old order and in a new one.
struct RowRun: Sendable {
  let oldRow: Int
  let newRow: Int
  private(set) var count: Int
  /// How much is to be said for leaving these in their places.
  private(set) var weight: Int

  init(oldRow: Int, newRow: Int, count: Int) {
    (self.oldRow, self.newRow, self.count, weight) = (oldRow, newRow, count, 2 * count)
  }

  /// A record that somebody moved: between two that changed places, it is the one to name.
  init(oldRow: Int, newRowOfMoved newRow: Int) {
    (self.oldRow, self.newRow, count, weight) = (oldRow, newRow, 1, 1)
  }

  fileprivate func isFollowed(by run: RowRun) -> Bool {
    oldRow + count == run.oldRow && newRow + count == run.newRow
  }

  fileprivate mutating func join(_ run: RowRun) {
    count += run.count
    weight += run.weight
  }
}

extension [RowRun] {
  /// Adds a run at the end, as part of the last one where it goes on from there.
  mutating func join(_ run: RowRun) {
    if let last = indices.last, self[last].isFollowed(by: run) { self[last].join(run) } else { append(run) }
  }

  /// The runs to move, so that as many records as possible stay: all but an increasing subsequence of the old rows with
  /// the most weight. A subsequence that has one record of a run can have the whole run, so that runs are not cut.
  /// - Precondition: in the order of the new rows.
  /// - Complexity: O(*n* log *n*) in the runs.
  func outOfOrder() -> [RowRun] {
    var rank = [Int](repeating: 0, count: count)
    for (place, run) in indices.sorted(by: { self[$0].oldRow < self[$1].oldRow }).enumerated() {
      rank[run] = place
    }
    var heaviest = HeaviestBefore(count: count)
    let former = indices.map { run in
      let best = heaviest.end(before: rank[run])
      heaviest.put(.init(weight: best.weight + self[run].weight, run: run), at: rank[run])
      return best.run
    }
    var stays = [Bool](repeating: false, count: count)
    var next = heaviest.end(before: count).run
    while let run = next {
      stays[run] = true
      next = former[run]
    }
    return indices.lazy.filter { !stays[$0] }.map { self[$0] }
  }
}

/// For each rank, the heaviest subsequence that ends there: a Fenwick tree of maxima.
private struct HeaviestBefore {
  struct End {
    var weight: Int
    var run: Int?
  }

  private var tree: [End]

  init(count: Int) { tree = Array(repeating: End(weight: 0, run: nil), count: count + 1) }

  func end(before rank: Int) -> End {
    var best = tree[0]
    var node = rank
    while node > 0 {
      if tree[node].weight > best.weight { best = tree[node] }
      node &= node - 1
    }
    return best
  }

  mutating func put(_ end: End, at rank: Int) {
    var node = rank + 1
    while node < tree.count {
      if tree[node].weight < end.weight { tree[node] = end }
      node += node & -node
    }
  }
}
