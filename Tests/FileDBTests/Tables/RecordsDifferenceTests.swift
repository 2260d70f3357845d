import FileDB
import TestSupport
import Testing

/// The difference of two orders of records, compared with a plain comparison of all records.
@Suite struct RecordsDifferenceTests {
  private static let shape = OrderedRecords.Shape(chunk: 3, section: 3)

  @Test func differenceAgreesWithFullComparison() throws {
    var random = SeededRandom.fromEnvironment("records difference")
    for _ in 0..<400 {
      let old = OrderedRecords(records(1...random.int(1...40)), shape: Self.shape)
      var new = old
      var nextID: Int64 = 100
      for _ in 0..<random.int(0...6) { edit(&new, nextID: &nextID, &random) }
      try check(from: old, to: new)
    }
  }

  @Test func differenceAgreesForRebuiltTables() throws {
    var random = SeededRandom.fromEnvironment("records difference of all")
    for _ in 0..<400 {
      let ids = records(1...random.int(1...12))
      let old = OrderedRecords(ids.filter { _ in Bool.random(using: &random) }, shape: Self.shape)
      let new = ids.filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
      try check(from: old, to: OrderedRecords(new, shape: Self.shape))
    }
  }

  @Test func equalRecordsInSeparateMemoryAreUnchanged() {
    let old = OrderedRecords(records(1...50), shape: Self.shape)
    let new = OrderedRecords(records(1...50), shape: .init(chunk: 7, section: 2))
    #expect(RecordsDifference(from: old, to: new).isEmpty)
  }

  @Test func sharedChunksAreNotCompared() {
    // After the first records, all have the same id. No table is like that, so comparing two of them finds differences.
    let old = OrderedRecords(
      records(1...9) + (0..<2_000).map { _ in record(0, value: 0) } + records(10...19), shape: Self.shape)
    var new = old
    new.replace(index: 1, with: record(2, value: 1))
    new.replace(index: 2_010, with: record(11, value: 1))
    let difference = RecordsDifference(from: old, to: new)
    #expect(difference.updated.map(\.newIndex) == [1, 2_010])
    #expect(difference.moved.isEmpty && difference.removed.isEmpty && difference.inserted.isEmpty)
  }

  // MARK: - The plain comparison

  private func check(from old: OrderedRecords, to new: OrderedRecords) throws {
    let difference = RecordsDifference(from: old, to: new)
    let (oldIndices, newIndices) = (indices(old), indices(new))
    try #require(difference.removed.map(\.record) == old.filter { newIndices[$0.id] == nil })
    try #require(difference.removed.map(\.oldIndex) == difference.removed.map { oldIndices[$0.record.id] })
    try #require(difference.inserted.map(\.record) == new.filter { oldIndices[$0.id] == nil })
    try #require(difference.inserted.map(\.newIndex) == difference.inserted.map { newIndices[$0.record.id] })
    let updated = new.filter { record in oldIndices[record.id].map { old[$0] != record } ?? false }
    try #require(difference.updated.map(\.new) == updated)
    for update in difference.updated {
      try #require(old[update.oldIndex] == update.old && new[update.newIndex] == update.new)
    }
    for move in difference.moved {
      try #require(old[move.oldIndex].id == move.id && new[move.newIndex].id == move.id)
    }
    try #require(difference.moved.map(\.newIndex) == difference.moved.map(\.newIndex).sorted())
    try #require(applied(difference, to: old.ids) == new.ids)
    let survivors = new.compactMap { oldIndices[$0.id] }
    try #require(difference.moved.count == survivors.count - longestIncrease(survivors))
  }

  private func indices(_ records: OrderedRecords) -> [AnyRecordID: Int] {
    Dictionary(uniqueKeysWithValues: records.enumerated().map { ($1.id, $0) })
  }

  private func applied(_ difference: RecordsDifference, to old: [AnyRecordID]) -> [AnyRecordID] {
    let gone = Set(difference.removed.map(\.record.id) + difference.moved.map(\.id))
    var ids = old.filter { !gone.contains($0) }
    let put =
      difference.inserted.map { ($0.newIndex, $0.record.id) } + difference.moved.map { ($0.newIndex, $0.id) }
    for (index, id) in put.sorted(by: { $0.0 < $1.0 }) { ids.insert(id, at: min(index, ids.count)) }
    return ids
  }

  /// Quadratic, but obviously right.
  private func longestIncrease(_ numbers: [Int]) -> Int {
    var lengths: [Int] = []
    for (index, number) in numbers.enumerated() {
      let before = (0..<index).filter { numbers[$0] < number }.map { lengths[$0] }
      lengths.append((before.max() ?? 0) + 1)
    }
    return lengths.max() ?? 0
  }

  // MARK: - Records

  private func edit(_ records: inout OrderedRecords, nextID: inout Int64, _ random: inout SeededRandom) {
    guard let index = records.indices.randomElement(using: &random) else { return }
    switch random.int(0...9) {
    case 0..<3: records.move(index: index, to: random.int(0...records.count - 1))
    case 3..<5:
      records.replace(index: index, with: record(records[index].id.rawValue, value: Int64(random.int(0...2))))
    case 5..<7: records.remove(index: index)
    case 7: records.reorder(records.indices.shuffled(using: &random))
    default:
      records.insert([record(nextID, value: 0)], at: index)
      nextID += 1
    }
  }

  private func records(_ ids: ClosedRange<Int>) -> [EncodedRecord] { ids.map { record(Int64($0), value: 0) } }

  private func record(_ id: Int64, value: Int64) -> EncodedRecord {
    EncodedRecord(id: AnyRecordID(rawValue: id)!, fields: ["n": .integer(value)])
  }
}

extension SeededRandom {
  fileprivate mutating func int(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &self) }
}
