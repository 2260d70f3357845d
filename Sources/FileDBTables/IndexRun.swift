/// Some records that follow each other both in an old order and in a new one.
package struct IndexRun: Sendable {
  package let oldIndex: Int
  package let newIndex: Int
  package private(set) var count: Int
  /// How much is to be said for leaving these in their places.
  package private(set) var weight: Int

  package init(oldIndex: Int, newIndex: Int, count: Int) {
    (self.oldIndex, self.newIndex, self.count, weight) = (oldIndex, newIndex, count, 2 * count)
  }

  /// A record that somebody moved: of two that changed places, it is the one to name.
  package init(oldIndex: Int, newIndexOfMoved newIndex: Int) {
    (self.oldIndex, self.newIndex, count, weight) = (oldIndex, newIndex, 1, 1)
  }

  fileprivate func isFollowed(by run: IndexRun) -> Bool {
    oldIndex + count == run.oldIndex && newIndex + count == run.newIndex
  }

  fileprivate mutating func join(_ run: IndexRun) {
    count += run.count
    weight += run.weight
  }
}

extension [IndexRun] {
  /// Adds a run at the end, as part of the last one if it goes on from there.
  package mutating func join(_ run: IndexRun) {
    if let last = indices.last, self[last].isFollowed(by: run) { self[last].join(run) } else { append(run) }
  }

  /// The runs to move, so that as many records as possible stay: all but an increasing subsequence of the old indices
  /// with the most weight. A subsequence that has one record of a run can have the whole run, so that runs are not cut.
  /// - Precondition: in the order of the new indices.
  /// - Complexity: O(*n* log *n*) in the runs.
  package func outOfOrder() -> [IndexRun] {
    var rank = [Int](repeating: 0, count: count)
    for (place, run) in indices.sorted(by: { self[$0].oldIndex < self[$1].oldIndex }).enumerated() {
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
