import FileDBStorage
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Listeners of a table, a record or a store get each commit once.
@Suite struct ChangesTests {
  private let store = RecordStore.inMemory()
  private let table: RecordTable<Fields>

  init() throws { table = try store.table("list") }

  @Test func firstChangeIsTheWholeTable() async throws {
    let ids = try await table.add(contentsOf: [["n": 1], ["n": 2]])
    var changes = table.changes().makeAsyncIterator()
    let first = try await changes.nextInTime()
    #expect(first.before.isEmpty && first.after.ids == ids)
    #expect(first.steps.insertions.map { RecordID($0.id) } == ids)

    var ofNone = try await store.table("none").changes().makeAsyncIterator()
    let none = try await ofNone.nextInTime()
    #expect(none.after.isEmpty && !none.after.exists && none.steps.isEmpty)
  }

  @Test func changesSinceSnapshotBeginWithTheDifference() async throws {
    try await table.add(["n": 1])
    let shown = table.lastSnapshot
    let id = try await table.add(["n": 2])
    var changes = table.changes(since: shown).makeAsyncIterator()
    let first = try await changes.nextInTime()
    #expect(first.before.ids == shown.ids && first.steps.sequence == [.insert(AnyRecordID(id), index: 1)])
  }

  @Test func slowListenerGetsOneCombinedChange() async throws {
    var changes = table.changes().makeAsyncIterator()
    _ = try await changes.nextInTime()
    let gone = try await table.add(["n": 0])
    for n in 1...100 { try await table.add(["n": .integer(Int64(n))]) }
    try await table.delete(gone)
    let change = try await changes.nextInTime()
    #expect(change.steps.insertions.count == 100 && change.steps.deletions.isEmpty)
    try await store.close()
    #expect(try await changes.endsInTime())  // And no second one.
  }

  @Test func revertedWritesSendNoChange() async throws {
    let id = try await table.add(["n": 1])
    var changes = table.changes(since: table.lastSnapshot).makeAsyncIterator()
    try await table.set(["n": 2], of: id)
    try await table.set(["n": 1], of: id)
    try await store.table("another").add(["n": 1])
    _ = try? await store.write { tx in
      try tx[table.name].deleteAll()
      throw CancellationError()
    }
    try await store.close()
    #expect(try await changes.endsInTime())
  }

  @Test func creatingAndDroppingEmptyTableAreChanges() async throws {
    var changes = table.changes(since: table.lastSnapshot).makeAsyncIterator()
    try await table.create()
    let made = try await changes.nextInTime()
    #expect(!made.before.exists && made.after.exists && made.steps.isEmpty)
    try await table.drop()
    #expect(try await changes.nextInTime().after.exists == false)
  }

  @Test func listenersFollowConcurrentWriters() async throws {
    let (store, table) = (store, table)
    let writers = (0..<4).map { (writer: Int64) in
      Task {
        for n in Int64(0)..<50 {
          _ = try await store.write { tx in
            try tx[table.name].add(["by": .integer(writer), "n": .integer(n)], at: .top)
          }
        }
      }
    }
    try await withThrowingTaskGroup { group in
      for _ in 0..<3 {
        group.addTask {
          var (view, changes) = (StrictTableView(), table.changes().makeAsyncIterator())
          repeat {
            let change = try await changes.nextInTime()
            try view.show(change)
            #expect(view.shows(change.after))
          } while view.ids.count < 200
        }
      }
      try await group.waitForAll()
    }
    for writer in writers { try await writer.value }
  }

  // MARK: - Parts of a table

  @Test(arguments: ["a closure", "a predicate"])
  func filteredAndSortedListFollowsTheTable(condition: String) async throws {
    var random = SeededRandom.fromEnvironment("a condition and an order make a list of their own")
    let ids = try await table.add(
      contentsOf: (0..<40).map { ["n": .integer($0 % 7), "isDone": .bool($0 % 3 == 0)] })
    let list =
      condition == "a closure"
      ? table.changes(where: { $0["isDone"] == true }, sortedBy: [.descending("n")])
      : table.changes(where: try RecordPredicate("isDone == TRUE"), sortedBy: [.descending("n")])
    var changes = list.makeAsyncIterator()
    var view = StrictTableView()
    let first = try await changes.nextInTime()
    try view.show(first)
    for _ in 0..<60 {
      let (one, other) = (ids.randomElement(using: &random)!, ids.randomElement(using: &random)!)
      try await table.move(one, to: .top)
      try await table.set(["n": .integer(.random(in: 0...9, using: &random))], of: one)
      // Into the list or out of it, so that there is something to report.
      try await table.set(["isDone": .bool(!view.ids.contains(other))], of: other)
      let change = try await changes.nextInTime()
      try view.show(change)
      let expected = try table.lastSnapshot.sorted(by: [.descending("n")]).filter {
        $0.fields["isDone"] == true
      }
      try #require(change.after.ids == expected.map(\.id))
      try #require(view.shows(change.after))
    }
  }

  @Test func changesOutsideTheFilterAreNotSent() async throws {
    struct Item: Codable, Sendable { var isDone: Bool }
    let ids = try await table.add(contentsOf: [["isDone": true], ["isDone": false], ["isDone": "no item"]])
    let items = try await store.table(TableName<Item>("list"))
    var changes = items.changes(where: \.isDone).makeAsyncIterator()
    #expect(try await changes.nextInTime().after.ids == [RecordID(ids[0])])
    try await table.set(["isDone": "no item either"], of: ids[1])
    try await table.move(ids[2], to: .top)
    try await store.close()
    #expect(try await changes.endsInTime())
  }

  @Test func changesOfRecordReportItsFieldsOnly() async throws {
    let ids = try await table.add(contentsOf: [["n": 1], ["n": 2]])
    var changes = table.changes(of: ids[0]).makeAsyncIterator()
    let first = try await changes.nextInTime()
    #expect(first.before == nil && first.after?.fields == ["n": 1])
    try await table.set(["n": 3], of: ids[1])
    try await table.move(ids[0], to: .bottom)
    try await table.set(["n": 4], of: ids[0])
    let second = try await changes.nextInTime()
    #expect(second.before?.fields == ["n": 1] && second.after?.fields == ["n": 4])
    try await table.delete(ids[0])
    let third = try await changes.nextInTime()
    #expect(third.before?.fields == ["n": 4] && third.after == nil)
  }

  @Test func storeChangesNameTheChangedTables() async throws {
    let other = try await store.table("other")
    try await other.add(["n": 1])
    var changes = store.changes().makeAsyncIterator()
    try await store.write { tx in
      try tx[table.name].add(["n": 1])
      try tx["new"].add(["n": 2])
    }
    let change = try await changes.nextInTime()
    #expect(change.tables == ["list", "new"])
    #expect(change.change(of: table.name)?.steps.insertions.count == 1)
    #expect(change.change(of: other.name) == nil)
    try await other.drop()
    #expect(try await changes.nextInTime().tables == ["other"])
  }

  /// A sequence leads on from the moment when it was made.
  @Test func commitsBeforeIterationBeginsAreNotMissed() async throws {
    // Nobody watches a disk in memory, so nothing wakes the iteration later.
    let disk = MemoryDisk()
    func open() throws -> RecordStore {
      try RecordStore(
        at: URL(fileURLWithPath: "/store"), disk: disk, options: StoreOptions(checkpoints: .manual))
    }
    let (store, other) = (try open(), try open())
    let old = try await store.table("old")
    let changes = store.changes()
    for name in ["new", "old"] { try await other.table(name).add(["n": 1]) }
    try await store.refresh()
    #expect(old.lastSnapshot.count == 1)
    var iterator = changes.makeAsyncIterator()
    #expect(try await iterator.nextInTime().tables == ["new", "old"])
  }

  // MARK: - The end

  @Test func closingStoreEndsChangesAfterLastCommit() async throws {
    var changes = table.changes().makeAsyncIterator()
    _ = try await changes.nextInTime()
    try await table.add(["n": 1])
    try await store.close()
    #expect(try await changes.nextInTime().after.count == 1)
    #expect(try await changes.endsInTime())
    var late = table.changes().makeAsyncIterator()
    #expect(try await late.nextInTime().after.count == 1)
    #expect(try await late.endsInTime())
  }

  @Test func cancelledTaskStopsObserving() async throws {
    let (started, start) = AsyncStream<Void>.makeStream()
    let task = Task { [table] in
      var count = 0
      for await _ in table.changes() {
        count += 1
        start.yield()
      }
      return count
    }
    var starts = started.makeAsyncIterator()
    try await starts.nextInTime()
    task.cancel()
    #expect(await task.value == 1)
    #expect(!store.signals.haveListeners)
  }
}
