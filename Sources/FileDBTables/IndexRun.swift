/// Some records that follow one another in both an old and a new order.
package struct IndexRun: Sendable {
  package let oldIndex: Int
  package let newIndex: Int
  package private(set) var count: Int
  /// The more weight, the more it pays to leave these records in their places.
  package private(set) var weight: Int

  package init(oldIndex: Int, newIndex: Int, count: Int) {
    (self.oldIndex, self.newIndex, self.count, weight) = (oldIndex, newIndex, count, 2 * count)
  }

  /// A record that somebody moved. If two records changed places, the list names this one as moved.
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
  /// Adds a run at the end. If it continues the last run, the two become one.
  package mutating func join(_ run: IndexRun) {
    if let last = indices.last, self[last].isFollowed(by: run) { self[last].join(run) } else { append(run) }
  }

  /// The runs to move, so that as many records as possible stay. The runs that stay are the increasing subsequence of
  /// the old indices with the most weight. A subsequence with one record of a run can contain the whole run, so runs
  /// are never cut.
  /// - Precondition: the runs are in the order of the new indices.
  /// - Complexity: O(*n* log *n*) in the number of runs.
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
