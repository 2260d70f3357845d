import FileDB
import Foundation
import Synchronization
import TestSupport
import Testing

private struct Sketch: Codable, Sendable, Equatable {
  static let decodedCount = Mutex(0)

  var title: String
  var size: Int

  init(title: String, size: Int) { (self.title, self.size) = (title, size) }

  init(from decoder: any Decoder) throws {
    Self.decodedCount.withLock { $0 += 1 }
    let container = try decoder.container(keyedBy: CodingKeys.self)
    title = try container.decode(String.self, forKey: .title)
    size = try container.decode(Int.self, forKey: .size)
  }

  enum CodingKeys: CodingKey { case title, size }
}

extension TableName<Sketch> {
  fileprivate static var sketches: Self { "sketches" }
}

/// `observe` and `ObservableTable`: lists of decoded records.
@Suite(.serialized) struct ObservedListTests {
  /// A list as a view shows it: the ids, moved about by steps alone.
  private struct ShownList {
    var ids: [RecordID<Sketch>] = []

    mutating func apply(_ change: ListChange<Sketch>) {
      for step in change.steps.sequence {
        switch step {
        case .delete(_, let index): ids.remove(at: index)
        case .insert(let id, let index): ids.insert(RecordID(id), at: index)
        case .move(_, let old, let index): ids.insert(ids.remove(at: old), at: index)
        case .update: break
        }
      }
      #expect(ids == change.records.map(\.id))
    }
  }

  @MainActor @Test func stepsLeadFromListToListWhateverItsFilterAndOrder() async throws {
    var random = SeededRandom.fromEnvironment("observed lists")
    let store = RecordStore.inMemory()
    let notes = try await store.table(.sketches)
    try await notes.add(contentsOf: (0..<20).map { Sketch(title: "\($0)", size: $0 % 5) })
    let (changes, continuation) = AsyncStream<ListChange<Sketch>>.makeStream()
    let observation = notes.observe { continuation.yield($0) }
    var received = changes.makeAsyncIterator()
    var shown = ShownList()
    shown.apply(try await received.nextInTime())
    for round in 0..<60 {
      let limit = Int.random(in: 1...4, using: &random)
      let isFiltered = Bool.random(using: &random)
      let order: [SortKey] = Bool.random(using: &random) ? [SortKey(\Sketch.size, .reverse)] : []
      if isFiltered {
        observation.show(where: { $0.size < limit }, sortedBy: order)
      } else {
        observation.show(sortedBy: order)
      }
      let id = try #require(notes.snapshot().ids.randomElement(using: &random))
      try await notes.update(id) { $0.title += "!" }
      try await notes.move(id, to: .index(Int.random(in: 0..<20, using: &random)))
      let marker = try await notes.add(Sketch(title: "last of \(round)", size: 0), at: .top)
      let all = try notes.snapshot().values().get()
      let kept = all.filter { !isFiltered || $0.size < limit }
      // The newest state arrives, in one change or in several.
      var records: [Sketch] = []
      repeat {
        let change = try await received.nextInTime()
        shown.apply(change)
        records = change.records.map(\.value)
      } while records != (order.isEmpty ? kept : sorted(kept))
      try await notes.delete(marker)
    }
    observation.cancel()
    try store.checkInvariants()
  }

  private func sorted(_ notes: [Sketch]) -> [Sketch] {
    notes.enumerated().sorted { ($1.element.size, $0.offset) < ($0.element.size, $1.offset) }.map(\.element)
  }

  /// The thread that looks for changes may not have started yet.
  @MainActor @Test func anotherSelectionIsShownHoweverSoonItComes() async throws {
    let store = RecordStore.inMemory()
    let notes = try await store.table(.sketches)
    try await notes.add(contentsOf: (0..<3).map { Sketch(title: "\($0)", size: $0) })
    let lists = (0..<200).map { _ in
      let list = ObservableTable(notes) { $0.size > 0 }
      list.show { $0.size > 1 }
      return list
    }
    for list in lists { try await wait(for: "the new selection") { list.records.map(\.id) == [3] } }
    try store.checkInvariants()
  }

  @MainActor @Test func recordIsDecodedOnceUntilItChanges() async throws {
    let store = RecordStore.inMemory()
    let notes = try await store.table(.sketches)
    try await notes.add(contentsOf: (0..<100).map { Sketch(title: "\($0)", size: $0) })
    let start = Sketch.decodedCount.withLock(\.self)
    let (changes, continuation) = AsyncStream<ListChange<Sketch>>.makeStream()
    let observation = notes.observe { continuation.yield($0) }
    var received = changes.makeAsyncIterator()
    #expect(try await received.nextInTime().records.count == 100)
    observation.show { $0.size < 10 }
    #expect(try await received.nextInTime().records.count == 10)
    observation.show(where: try RecordPredicate("size >= 95"))
    #expect(try await received.nextInTime().records.count == 5)
    #expect(Sketch.decodedCount.withLock(\.self) == start + 100)
    try await notes.move(100, to: .top)
    #expect(try await received.nextInTime().records.first?.id == 100)
    #expect(Sketch.decodedCount.withLock(\.self) == start + 100)
  }

  @MainActor @Test func badRecordIsAFaultAndStopsNoList() async throws {
    let store = RecordStore.inMemory()
    let notes = try await store.table(.sketches)
    try await notes.add(contentsOf: (0..<3).map { Sketch(title: "\($0)", size: $0) })
    let raw = try await store.table("sketches")
    try await raw.set(["size": "large"], of: 2)
    let list = ObservableTable(notes)
    #expect(list.records.map(\.id) == [1, 3])
    #expect(list.faults.map(\.record) == [2])
    #expect(list.faults.first?.code == .invalidValue)
    let read = try notes.snapshot().values()
    #expect(read.ids == [1, 3] && read.decoded.map(\.size) == [0, 2])
    #expect(read.faults.map(\.record) == [2])
    #expect(storeError { _ = try read.get() }?.record == 2)
    try await raw.set(["size": 7], of: 2)
    try await wait(for: "the repaired record") { list.faults.isEmpty && list.count == 3 }
    #expect(list.records.map(\.value.size) == [0, 7, 2])
    list.show(where: { $0.size > 0 }, sortedBy: [SortKey(\Sketch.size)])
    try await wait(for: "the filtered list") { list.count == 2 }
    #expect(list.records.map(\.id) == [3, 2])
    try store.checkInvariants()
  }

  @Test func manyBadRecordsAreReadInOneGo() throws {
    let store = RecordStore.inMemory()
    let raw = try store.table("sketches")
    try raw.add(
      contentsOf: (0..<20_000).map { n in
        ["title": "x", "size": n.isMultiple(of: 2) ? .integer(Int64(n)) : "bad"]
      })
    let before = Sketch.decodedCount.withLock(\.self)
    let read = try store.table(.sketches).snapshot().values()
    #expect(read.decoded.count == 10_000 && read.faults.count == 10_000)
    #expect(read.ids.allSatisfy { !$0.rawValue.isMultiple(of: 2) })
    // One decodes up to the first fault of each part, and one the rest.
    #expect(Sketch.decodedCount.withLock(\.self) - before < 40_000)
    let records = try store.table(.sketches).snapshot()
    let chosen = records.filter { $0.id.rawValue > 10 }.values()
    #expect(chosen.ids == read.ids.filter { $0.rawValue > 10 })
    #expect(chosen.faults.map(\.record) == read.faults.compactMap(\.record).filter { $0.rawValue > 10 })
  }

  /// `id` may be the record's, or the number that the type stores.
  @MainActor @Test func ambiguousIDMatchesNothingAndIsAFault() async throws {
    struct Numbered: Codable, Sendable { var id: Int }
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try RecordStore(at: folder)
    let table = try await store.table(TableName<Numbered>("t"))
    try await table.add(contentsOf: [Numbered(id: 20), Numbered(id: 10)])

    let list = ObservableTable(table, where: try RecordPredicate("id > 1"))
    #expect(list.records.isEmpty && list.faults.map(\.code) == [.invalidPredicate])
    #expect(list.faults.first?.table == "t" && list.faults.first?.message.contains("recordID") == true)
    let count = ObservableCount(table, where: try RecordPredicate("id > 1"))
    #expect(count.count == 0)

    list.show(where: try RecordPredicate("recordID > 1"))
    try await wait(for: "the record with the id 2") {
      list.records.map(\.value.id) == [10] && list.faults.isEmpty
    }
    list.show(where: try RecordPredicate("fields.id > 15"))
    try await wait(for: "the record with the number 20") { list.records.map(\.id) == [1] }
    list.show(where: try RecordPredicate("id > 100"))
    try await wait(for: "the fault") {
      list.records.isEmpty && list.faults.map(\.code) == [.invalidPredicate]
    }
    // A record that comes later decides it, too.
    try await table.deleteAll()
    list.show(where: try RecordPredicate("id > 0"))
    try await wait(for: "no fault in an empty table") { list.faults.isEmpty }
    try await table.add(Numbered(id: 30))
    try await wait(for: "the fault of a new record") { list.faults.map(\.code) == [.invalidPredicate] }
    #expect(list.records.isEmpty)
    try store.checkInvariants()
  }
}
