import TestSupport
import Testing

/// The checker of histories must find every violation, and report nothing else.
@Suite struct HistoryTests {
  private typealias Operation = History.Operation

  private func violations(_ operations: [Operation]) -> [String] { History(operations).violations }

  @Test func lineDescribesTheWholeOperation() throws {
    let operation = Operation(
      "w1", .write, 3...8, .unknown, reads: ["a": [1, 2], "b": []], appends: ["a": [3]])
    #expect(operation.description == "w1 write 3 8 unknown a=1,2;b= a=3")
    let read = try #require(Operation(operation.description))
    #expect(read.reads == operation.reads && read.appends == operation.appends)
    #expect(read.description == operation.description)
    #expect(try #require(Operation("w2 read 1 2 done - -")).reads.isEmpty)
    for line in ["", "w1 write 3", "w1 jump 3 8 done - -", "w1 write 8 3 done - -"] {
      #expect(Operation(line) == nil)
    }
  }

  // MARK: Allowed histories

  @Test func localReadMayBeOld() {
    let found = violations([
      Operation("a", .write, 0...1, appends: ["x": [1]]),
      Operation("a", .write, 2...3, reads: ["x": [1]], appends: ["x": [2]]),
      Operation("b", .read, 4...5, reads: ["x": []]),
      Operation("b", .read, 6...7, reads: ["x": [1]]),
      Operation("c", .fresh, 8...9, reads: ["x": [1, 2]]),
    ])
    #expect(found.isEmpty)
  }

  @Test func unknownMayBeDoneLaterOrNever() {
    let found = violations([
      Operation("a", .write, 0...1, .unknown, appends: ["x": [1]]),
      Operation("b", .write, 2...3, .unknown, appends: ["x": [2]]),
      Operation("a", .read, 4...5, reads: ["x": []]),
      Operation("c", .fresh, 8...9, reads: ["x": [1]]),
    ])
    #expect(found.isEmpty)
  }

  @Test func writesAtTheSameTimeMayHaveAnyOrder() {
    let found = violations([
      Operation("a", .write, 0...9, appends: ["x": [1]]),
      Operation("b", .write, 1...8, appends: ["x": [2]]),
      Operation("c", .fresh, 10...11, reads: ["x": [2, 1]]),
    ])
    #expect(found.isEmpty)
  }

  // MARK: Violations

  private static let planted: [(name: String, message: String, operations: [History.Operation])] = [
    (
      "lost update", "lost",
      [
        Operation("a", .write, 0...5, reads: ["x": []], appends: ["x": [1]]),
        Operation("b", .write, 1...6, reads: ["x": []], appends: ["x": [2]]),
        Operation("c", .fresh, 7...8, reads: ["x": [2]]),
      ]
    ),
    (
      "update over one that it did not see", "in a circle",
      [
        Operation("a", .write, 0...5, reads: ["x": []], appends: ["x": [1]]),
        Operation("b", .write, 1...6, reads: ["x": []], appends: ["x": [2]]),
        Operation("c", .fresh, 7...8, reads: ["x": [1, 2]]),
      ]
    ),
    (
      "read that goes back", "in the same process",
      [
        Operation("a", .write, 0...1, appends: ["x": [1]]),
        Operation("a", .write, 2...3, appends: ["x": [2]]),
        Operation("b", .read, 4...5, reads: ["x": [1, 2]]),
        Operation("b", .read, 6...7, reads: ["x": [1]]),
      ]
    ),
    (
      "own write that is not read", "in the same process",
      [
        Operation("a", .write, 0...1, appends: ["x": [1]]),
        Operation("a", .read, 2...3, reads: ["x": []]),
        Operation("b", .fresh, 4...5, reads: ["x": [1]]),
      ]
    ),
    (
      "done twice", "done twice",
      [
        Operation("a", .write, 0...1, appends: ["x": [1]]),
        Operation("b", .fresh, 2...3, reads: ["x": [1, 1]]),
      ]
    ),
    (
      "acknowledged and lost", "acknowledged and lost",
      [
        Operation("a", .write, 0...1, appends: ["x": [1]]), Operation("b", .fresh, 2...3, reads: ["x": []]),
      ]
    ),
    (
      "seen, and lost", "lost",
      [
        Operation("a", .write, 0...1, .unknown, appends: ["x": [1]]),
        Operation("b", .read, 2...3, reads: ["x": [1]]),
        Operation("a", .write, 4...5, appends: ["x": [2]]), Operation("c", .fresh, 6...7, reads: ["x": [2]]),
      ]
    ),
    (
      "failed, and done", "failed, and done",
      [
        Operation("a", .write, 0...1, .failed, appends: ["x": [1]]),
        Operation("b", .fresh, 2...3, reads: ["x": [1]]),
      ]
    ),
    ("out of nowhere", "out of nowhere", [Operation("b", .fresh, 2...3, reads: ["x": [7]])]),
    (
      "write skew over tables that were read", "in a circle",
      [
        Operation("a", .write, 0...5, reads: ["x": []], appends: ["y": [1]]),
        Operation("b", .write, 1...6, reads: ["y": []], appends: ["x": [2]]),
        Operation("c", .fresh, 7...8, reads: ["x": [2], "y": [1]]),
      ]
    ),
    (
      "half of a commit", "in a circle",
      [
        Operation("a", .write, 0...1, appends: ["x": [1], "y": [2]]),
        Operation("b", .read, 2...3, reads: ["x": [1], "y": []]),
        Operation("b", .fresh, 4...5, reads: ["x": [1], "y": [2]]),
      ]
    ),
    (
      "two tables of two moments", "in a circle",
      [
        Operation("a", .write, 0...1, appends: ["x": [1]]),
        Operation("a", .write, 2...3, appends: ["y": [2]]),
        Operation("b", .read, 4...5, reads: ["x": [], "y": [2]]),
        Operation("c", .fresh, 6...7, reads: ["x": [1], "y": [2]]),
      ]
    ),
    (
      "order against the clock", "had ended before",
      [
        Operation("a", .write, 0...1, appends: ["x": [1]]),
        Operation("b", .write, 2...3, appends: ["x": [2]]),
        Operation("c", .fresh, 4...5, reads: ["x": [2, 1]]),
      ]
    ),
    (
      "read of what came later", "had ended before",
      [
        Operation("a", .read, 0...1, reads: ["x": [1]]), Operation("b", .write, 2...3, appends: ["x": [1]]),
        Operation("c", .fresh, 4...5, reads: ["x": [1]]),
      ]
    ),
    (
      "fresh read that is old", "had ended before",
      [
        Operation("a", .write, 0...1, appends: ["x": [1]]), Operation("b", .fresh, 2...3, reads: ["x": [1]]),
        Operation("c", .fresh, 4...5, reads: ["x": []]),
      ]
    ),
  ]

  @Test(arguments: planted.indices) func plantedViolationIsFound(index: Int) {
    let planted = Self.planted[index]
    let found = violations(planted.operations)
    #expect(found.contains { $0.contains(planted.message) }, "\(planted.name): \(found)")
  }

  // MARK: Random histories

  /// Compares a correct store with one whose every *n*-th write is based on an older commit.
  @Test(arguments: [0, 50]) func correctHistoryHasNoViolationAndOneWithOldReadsHas(oldEvery: Int) {
    var random = SeededRandom.fromEnvironment("history")
    var operations: [Operation] = []
    var (commits, seen, clock): ([[String: [Int64]]], [Int], UInt64) = ([[:]], [0, 0, 0, 0], 0)
    for number in 1...2_000 {
      let process = Int.random(in: 0..<4, using: &random)
      let list = "l\(Int.random(in: 0..<5, using: &random))-\(number / 100)"
      let other = "l\(Int.random(in: 0..<5, using: &random))-\(number / 100)"
      let start = clock
      clock += 10
      func lists(_ commit: Int) -> [String: [Int64]] {
        Dictionary([list, other].map { ($0, commits[commit][$0] ?? []) }) { first, _ in first }
      }
      if Int.random(in: 0..<3, using: &random) == 0 {
        seen[process] = Int.random(in: seen[process]..<commits.count, using: &random)
        operations.append(Operation("p\(process)", .read, start...start + 5, reads: lists(seen[process])))
        continue
      }
      let isOld = oldEvery > 0 && number % oldEvery == 0
      let base = isOld ? max(commits.count - 6, 0) : commits.count - 1
      let operation = Operation(
        "p\(process)", .write, start...start + 15, Bool.random(using: &random) ? .done : .unknown,
        reads: lists(base), appends: [list: [Int64(number)]])
      operations.append(operation)
      if operation.outcome == .unknown, Bool.random(using: &random) { continue }
      commits.append(commits[commits.count - 1].merging([list: [Int64(number)]]) { $0 + $1 })
      if operation.outcome == .done { seen[process] = commits.count - 1 }
    }
    let all = commits[commits.count - 1]
    operations.append(Operation("last", .fresh, clock + 20...clock + 21, reads: all))
    #expect(violations(operations).isEmpty == (oldEvery == 0))
  }
}
