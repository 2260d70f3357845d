import FileDB
import Foundation
import Synchronization
import TestSupport
import Testing

/// Stores on one log, whose transactions overlap. The checker of histories must find out whether the log is correct.
@Suite struct StoreHistoryTests {
  /// The lists that each machine writes.
  private static let (shared, own) = (
    Array(repeating: ["a", "b", "c"], count: 4), [["a"], ["b"], ["c"], ["d"]]
  )

  @Test(arguments: [shared, own]) func correctLogHasNoViolation(lists: [[String]]) throws {
    let machines = OverlappingStores(checking: .readAndWritten, writing: lists)
    #expect(try machines.run(400).violations.isEmpty)
    #expect(machines.overlaps > 50)
  }

  /// Two transactions can each read the list that the other one writes. In a hundred operations, this does not always
  /// happen. So there are many runs of a hundred.
  @Test(arguments: [MemoryLog.Check.written, .nothing]) func carelessLogIsFound(check: MemoryLog.Check) throws
  {
    let machines = OverlappingStores(checking: check, writing: Self.own)
    let isFound = try (1...50).contains { _ in
      try machines.run(100).violations.contains { $0.contains("in a circle") }
    }
    #expect(isFound)
  }

  /// A commit has a checksum of each record that it replaces. So the stores notice it before the checker does.
  @Test func storesRefuseAnUpdateOverOneThatItDidNotSee() throws {
    let machines = OverlappingStores(checking: .nothing, writing: Self.shared)
    #expect(storeError { _ = try machines.run(400) }?.code == .damagedJournal)
  }

  /// The transaction of one store reads a table for the first time, and thereby takes in a commit of the other store to
  /// a table that it has read before. It must not commit as if it had seen that commit from the start.
  @Test func commitThatComesDuringATransactionIsNotOverwritten() throws {
    let log = MemoryLog()
    let (ours, theirs) = (store(log), store(log))
    try theirs.table("others").add(["n": 0])
    let id = try ours.table("counters").add(["n": 0])
    var runs = 0
    try ours.write { tx in
      runs += 1
      let counter = try tx["counters"].record(with: id).fields["n"]?.integer ?? -1
      if runs == 1 { try theirs.table("counters").set(["n": 10], of: id) }
      _ = try tx["others"].count
      try tx["counters"].set(["n": .integer(counter + 1)], of: id)
    }
    #expect(try runs == 2 && ours.table("counters").record(with: id).fields["n"] == 11)
  }

  private func store(_ log: MemoryLog) -> RecordStore {
    RecordStore(at: URL(fileURLWithPath: "/nowhere"), log: log, options: StoreOptions())
  }
}

/// Stores whose operations become a history.
///
/// Each list is a field of a single record.
private final class OverlappingStores: Sendable {
  private struct State {
    var random = SeededRandom.fromEnvironment("overlapping stores")
    var operations: [History.Operation] = []
    var clock: UInt64 = 0
    var stores: [RecordStore] = []
    /// The stores that are writing.
    var busy: Set<Int> = []
    var overlaps = 0
  }

  private let check: MemoryLog.Check
  private let written: [[String]]
  private let lists: [String]
  private let state = Mutex(State())

  /// - Parameter lists: the lists that each store writes. All stores read all lists.
  init(checking check: MemoryLog.Check, writing lists: [[String]]) {
    (self.check, written, self.lists) = (check, lists, Set(lists.joined()).sorted())
  }

  /// How many writes ran while another one was on its way.
  var overlaps: Int { state.withLock(\.overlaps) }

  /// - Parameter count: the number of operations. Those that run during others are not counted.
  func run(_ count: Int) throws -> History {
    let log = MemoryLog(checking: check, interlude: { [self] in overlap() })
    let stores = written.map { _ in
      RecordStore(at: URL(fileURLWithPath: "/nowhere"), log: log, options: StoreOptions())
    }
    try stores[0].write { tx in for list in lists { try tx[list].add(["marks": .array([])]) } }
    state.withLock { ($0.stores, $0.operations) = (stores, []) }
    for _ in 0..<count {
      let number = random(below: stores.count)
      if random(below: 3) == 0 { try read(number) } else { try write(number) }
    }
    for number in stores.indices { try read(number) }
    return History(state.withLock(\.operations))
  }

  private func overlap() {
    guard random(below: 3) == 0 else { return }
    let free = state.withLock { state in
      let free = state.stores.indices.filter { !state.busy.contains($0) }.randomElement(using: &state.random)
      if free != nil { state.overlaps += 1 }
      return free
    }
    if let free { try? write(free) }
  }

  private func read(_ number: Int) throws {
    let start = tick()
    let snapshot = try state.withLock { $0.stores[number] }.snapshot()
    let reads = Dictionary(uniqueKeysWithValues: lists.map { ($0, Self.marks(snapshot[$0])) })
    note(History.Operation("m\(number)", .fresh, start...tick(), reads: reads))
  }

  private func write(_ number: Int) throws {
    let start = tick()
    let list = written[number][random(below: written[number].count)]
    let other = lists[random(below: lists.count)]
    state.withLock { _ = $0.busy.insert(number) }
    defer { state.withLock { _ = $0.busy.remove(number) } }
    let mark = Int64(start)
    var reads: [String: [Int64]] = [:]
    try state.withLock { $0.stores[number] }.write { tx in
      for name in [list, other] { reads[name] = Self.marks(try tx[name].snapshot()) }
      let marks = reads[list, default: []] + [mark]
      try tx[list].set(["marks": .array(marks.map { .integer($0) })], of: 1)
    }
    note(History.Operation("m\(number)", .write, start...tick(), reads: reads, appends: [list: [mark]]))
  }

  private static func marks(_ table: TableSnapshot<Fields>) -> [Int64] {
    table[id: 1]?["marks"]?.array?.compactMap(\.integer) ?? []
  }

  private func random(below limit: Int) -> Int {
    state.withLock { .random(in: 0..<limit, using: &$0.random) }
  }

  private func tick() -> UInt64 {
    state.withLock { state in
      state.clock += 1
      return state.clock
    }
  }

  private func note(_ operation: History.Operation) { state.withLock { $0.operations.append(operation) } }
}
