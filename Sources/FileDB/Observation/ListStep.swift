/// A step from one list to the next; see ``ListSteps/sequence``.
public enum ListStep: Sendable, Hashable {
  case delete(RecordID, row: Int)
  case insert(RecordID, row: Int)
  /// `row` is where the record is afterwards: it is taken out, and put in there.
  case move(RecordID, fromRow: Int, row: Int)
  /// Other fields in the same row.
  case update(RecordID, row: Int)
}

extension ListSteps {
  /// The same as single steps, one after another: each names rows of the list as the former steps left it.
  ///
  ///     for step in change.steps.sequence {
  ///       switch step {
  ///       case .delete(_, let row): list.remove(at: row)
  ///       case .insert(_, let row): list.insert(change.after[row], at: row)
  ///       case .move(_, let oldRow, let row): list.insert(list.remove(at: oldRow), at: row)
  ///       case .update(_, let row): list[row] = change.after[row]
  ///       }
  ///     }
  ///
  /// The deletions come first, from the bottom up; then the moves; then the insertions from the top down, and the updates,
  /// both with the rows that they have in the end.
  /// - Complexity: O(*n* log *n*) in the steps.
  public var sequence: [ListStep] {
    var sequence = deletions.reversed().map { ListStep.delete($0.id, row: $0.row) }
    var moving = MovingRows(moves, deletions: deletions)
    for (number, move) in moves.enumerated() {
      let oldRow = moving.take(move)
      // Those that are not inserted yet are not in the way.
      let staying = move.newRow - number - insertions.partitioningIndex { $0.row >= move.newRow }
      let row = moving.put(behind: staying)
      if row != oldRow { sequence.append(.move(move.id, fromRow: oldRow, row: row)) }
    }
    sequence += insertions.map { .insert($0.id, row: $0.row) }
    return sequence + updates.map { .update($0.id, row: $0.newRow) }
  }
}

/// The rows of a list in which some records still wait for their move.
///
/// Between two records that stay, first come those that have arrived, and then those that wait.
private struct MovingRows {
  /// How many of those that stay are before each that is to move, by its old row.
  private let staying: [Int]
  private let numbers: [RecordID: Int]
  private var waiting: SumTree
  /// How many of those that stay are before each that has arrived.
  private var arrived: [Int] = []

  init(_ moves: [ListSteps.Passage], deletions: [ListSteps.Place]) {
    let moves = moves.sorted { $0.oldRow < $1.oldRow }
    staying = moves.enumerated().map { number, move in
      move.oldRow - number - deletions.partitioningIndex { $0.row >= move.oldRow }
    }
    numbers = Dictionary(uniqueKeysWithValues: moves.enumerated().map { ($1.id, $0) })
    waiting = SumTree(ones: moves.count)
  }

  /// Takes a record out of the list.
  /// - Returns: the row where it was.
  mutating func take(_ move: ListSteps.Passage) -> Int {
    guard let number = numbers[move.id] else { preconditionFailure("the record is not among the moves") }
    let before = staying[number]
    let row = before + arrived.partitioningIndex { $0 > before } + waiting.sum(before: number)
    waiting.clear(number)
    return row
  }

  /// Puts a record behind all that have arrived.
  /// - Parameter count: how many of those that stay are before it.
  /// - Returns: the row where it is now.
  mutating func put(behind count: Int) -> Int {
    defer { arrived.append(count) }
    return count + arrived.count + waiting.sum(before: staying.partitioningIndex { $0 >= count })
  }
}

/// Ones and zeros whose sums are known at once: a Fenwick tree.
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

extension Array {
  /// The first index whose element belongs to the second part; those before it must all belong to the first.
  fileprivate func partitioningIndex(where isInSecondPart: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isInSecondPart(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
