import FileDBEssentials

/// A step from one list to the next; see ``ListSteps/sequence``.
public enum ListStep: Sendable, Hashable {
  /// The record at `index` is removed.
  case delete(AnyRecordID, index: Int)
  /// The record is inserted at `index`.
  case insert(AnyRecordID, index: Int)
  /// The record is removed from `fromIndex` and then inserted at `index`.
  case move(AnyRecordID, fromIndex: Int, index: Int)
  /// The fields of the record at `index` changed.
  case update(AnyRecordID, index: Int)
}

extension ListSteps {
  /// The same changes as single steps, to carry out one after another. Each step's indices refer to the list that the
  /// steps before it left.
  ///
  ///     for step in change.steps.sequence {
  ///       switch step {
  ///       case .delete(_, let index): list.remove(at: index)
  ///       case .insert(_, let index): list.insert(change.after[index], at: index)
  ///       case .move(_, let oldIndex, let index): list.insert(list.remove(at: oldIndex), at: index)
  ///       case .update(_, let index): list[index] = change.after[index]
  ///       }
  ///     }
  ///
  /// The deletions come first, from the bottom up. Then come the moves, then the insertions from the top down, and then
  /// the updates. Insertions and updates have the indices that the records have afterwards.
  /// - Complexity: O(*n* log *n*) in the number of steps.
  public var sequence: [ListStep] {
    var sequence = deletions.reversed().map { ListStep.delete($0.id, index: $0.index) }
    var moving = MovingRecords(moves, deletions: deletions)
    for (number, move) in moves.enumerated() {
      let oldIndex = moving.take(move)
      // Records that are inserted later are not in the way yet.
      let staying = move.newIndex - number - insertions.partitioningIndex { $0.index >= move.newIndex }
      let index = moving.put(behind: staying)
      if index != oldIndex { sequence.append(.move(move.id, fromIndex: oldIndex, index: index)) }
    }
    sequence += insertions.map { .insert($0.id, index: $0.index) }
    return sequence + updates.map { .update($0.id, index: $0.newIndex) }
  }
}

/// The records of a list during its steps. Some of them still wait for their move.
///
/// Between two records that stay, the list has first the records that have arrived, and then those that wait.
private struct MovingRecords {
  /// For each record that will move, by old index: how many staying records are before it.
  private let staying: [Int]
  private let numbers: [AnyRecordID: Int]
  private var waiting: SumTree
  /// For each record that has arrived: how many staying records are before it.
  private var arrived: [Int] = []

  init(_ moves: [ListSteps.Passage], deletions: [ListSteps.Place]) {
    let moves = moves.sorted { $0.oldIndex < $1.oldIndex }
    staying = moves.enumerated().map { number, move in
      move.oldIndex - number - deletions.partitioningIndex { $0.index >= move.oldIndex }
    }
    numbers = Dictionary(uniqueKeysWithValues: moves.enumerated().map { ($1.id, $0) })
    waiting = SumTree(ones: moves.count)
  }

  /// Takes a record out of the list.
  /// - Returns: its index until now.
  mutating func take(_ move: ListSteps.Passage) -> Int {
    guard let number = numbers[move.id] else { preconditionFailure("the record is not among the moves") }
    let before = staying[number]
    let index = before + arrived.partitioningIndex { $0 > before } + waiting.sum(before: number)
    waiting.clear(number)
    return index
  }

  /// Puts a record after all that have arrived.
  /// - Parameter count: how many staying records are before it.
  /// - Returns: its index now.
  mutating func put(behind count: Int) -> Int {
    defer { arrived.append(count) }
    return count + arrived.count + waiting.sum(before: staying.partitioningIndex { $0 >= count })
  }
}

/// A list of ones and zeros that knows the sums of its beginnings: a Fenwick tree.
private struct SumTree {
  private var tree: [Int]

  init(ones count: Int) { tree = (0...count).map { $0 & -$0 } }

  func sum(before end: Int) -> Int {
    var sum = 0
    var node = end
    while node > 0 {
      sum += tree[node]
      node &= node - 1
    }
    return sum
  }

  mutating func clear(_ number: Int) {
    var node = number + 1
    while node < tree.count {
      tree[node] -= 1
      node += node & -node
    }
  }
}
