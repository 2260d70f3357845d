/// A graph of which operation came before which. It has a node for each operation, and one for each moment when an
/// operation ended. With these, the clock needs only few edges.
struct HistoryGraph {
  private enum Reason: String {
    case wroteBefore = "added to the list before"
    case wroteWhatWasRead = "added what was read by"
    case readBefore = "did not see what was added by"
    case sameProcess = "was followed, in the same process, by"
    case clock = "had ended before the start of"
  }

  private struct Edge {
    let target: Int
    let reason: Reason
  }

  private let operations: [History.Operation]
  private var edges: [[Edge]]

  init(_ operations: [History.Operation], _ lists: ObservedLists) {
    self.operations = operations
    edges = Array(repeating: [], count: operations.count)
    // Leave out failed operations, and those with an unknown outcome that nobody has seen.
    let there = operations.indices.filter { index in
      switch operations[index].outcome {
      case .done: true
      case .failed: false
      case .unknown: lists.isSeen(operations[index])
      }
    }
    addLists(there, lists)
    addProcesses(there)
    addClock(there)
  }

  private mutating func add(_ source: Int, _ reason: Reason, _ target: Int) {
    if source != target { edges[source].append(Edge(target: target, reason: reason)) }
  }

  private mutating func addLists(_ there: [Int], _ lists: ObservedLists) {
    for numbers in lists.longest.values {
      for (first, second) in zip(numbers, numbers.dropFirst()) {
        guard let first = lists.writers[first], let second = lists.writers[second] else { continue }
        add(first, .wroteBefore, second)
      }
    }
    for reader in there {
      for (list, numbers) in operations[reader].reads {
        if let writer = numbers.last.flatMap({ lists.writers[$0] }) { add(writer, .wroteWhatWasRead, reader) }
        let rest = lists.longest[list, default: []].dropFirst(numbers.count)
        if let writer = rest.first.flatMap({ lists.writers[$0] }) { add(reader, .readBefore, writer) }
      }
    }
  }

  private mutating func addProcesses(_ there: [Int]) {
    var last: [String: Int] = [:]
    for index in there.sorted(by: { operations[$0].start < operations[$1].start }) {
      let operation = operations[index]
      if let before = last[operation.process] { add(before, .sameProcess, index) }
      // If its outcome is unknown, the operation may have been done later than the following ones.
      if operation.outcome == .done { last[operation.process] = index }
    }
  }

  private mutating func addClock(_ there: [Int]) {
    let ended = there.filter { operations[$0].outcome == .done }
      .sorted { operations[$0].end < operations[$1].end }
    let ends = ended.map { operations[$0].end }
    let first = operations.count
    edges += Array(repeating: [], count: ended.count)
    for (moment, index) in ended.enumerated() {
      add(index, .clock, first + moment)
      if moment + 1 < ended.count { add(first + moment, .clock, first + moment + 1) }
    }
    // A local read may be older than what others have written, so the clock says nothing about it.
    for index in there where operations[index].kind != .read {
      let count = ends.partitioningIndex { $0 >= operations[index].start }
      if count > 0 { add(first + count - 1, .clock, index) }
    }
  }

  // MARK: Circles

  /// For each group of operations that all came before each other, a circle among them. It is empty if an order of all
  /// operations exists.
  var circles: [String] {
    components.filter { $0.count > 1 }.map { component in
      let circle = shortestCircle(in: Set(component))
      return "in a circle: " + circle.map { "\(operations[$0.node])\n  \($0.reason.rawValue) " }.joined()
        + (circle.first.map { "\(operations[$0.node])" } ?? "")
    }
  }

  /// The shortest circle through the first operation of the group, without the nodes of the clock.
  private func shortestCircle(in component: Set<Int>) -> [(node: Int, reason: Reason)] {
    guard let start = component.min() else { return [] }
    var cameFrom: [Int: (node: Int, reason: Reason)] = [:]
    var queue = [start]
    search: while !queue.isEmpty {
      var next: [Int] = []
      for node in queue {
        for edge in edges[node] where component.contains(edge.target) && cameFrom[edge.target] == nil {
          cameFrom[edge.target] = (node, edge.reason)
          if edge.target == start { break search }
          next.append(edge.target)
        }
      }
      queue = next
    }
    var (circle, node): ([(node: Int, reason: Reason)], Int) = ([], start)
    while let step = cameFrom[node] {
      circle.insert(step, at: 0)
      node = step.node
      if node == start { break }
    }
    return circle.filter { $0.node < operations.count }
  }

  /// The strongly connected components, with Tarjan's algorithm. It does not use recursion, because paths are as long
  /// as the history.
  private var components: [[Int]] {
    var (found, stack, components): (Int, [Int], [[Int]]) = (0, [], [])
    var number = Array(repeating: 0, count: edges.count)
    var low = number
    var isOnStack = Array(repeating: false, count: edges.count)
    for root in edges.indices where number[root] == 0 {
      var path = [(node: root, next: 0)]
      while let (node, next) = path.last {
        if next == 0 {
          found += 1
          (number[node], low[node], isOnStack[node]) = (found, found, true)
          stack.append(node)
        }
        if next < edges[node].count {
          path[path.count - 1].next += 1
          let target = edges[node][next].target
          if number[target] == 0 {
            path.append((target, 0))
          } else if isOnStack[target] {
            low[node] = min(low[node], number[target])
          }
          continue
        }
        path.removeLast()
        if let parent = path.last?.node { low[parent] = min(low[parent], low[node]) }
        guard low[node] == number[node], let start = stack.lastIndex(of: node) else { continue }
        for member in stack[start...] { isOnStack[member] = false }
        components.append(Array(stack[start...]))
        stack.removeSubrange(start...)
      }
    }
    return components
  }
}

extension Array {
  /// The first index whose element satisfies `belongs`, if all elements after it do, too.
  fileprivate func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if belongs(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
