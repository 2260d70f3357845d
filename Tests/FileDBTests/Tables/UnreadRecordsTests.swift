import FileDB
import FileDBPlist
import FileDBTables
import Synchronization
import TestSupport
import Testing

/// Records that stay in their file until somebody looks at them.
@Suite struct UnreadRecordsTests {
  /// Records that are handed out when they are asked for.
  private final class Source: UnreadRecords {
    let all: [EncodedRecord]
    let chunkLength: Int
    let read = Mutex<Set<Int>>([])

    init(_ all: [EncodedRecord], chunkLength: Int) { (self.all, self.chunkLength) = (all, chunkLength) }

    var count: Int { all.count }

    func records(ofChunk number: Int) -> [EncodedRecord] {
      _ = read.withLock { $0.insert(number) }
      return Array(all[(number * chunkLength)...].prefix(chunkLength))
    }

    func index(of id: AnyRecordID) -> Int? { all.firstIndex { $0.id == id } }

    func ids(where names: [String], are values: [PlistValue], atMost limit: Int) -> [AnyRecordID] {
      all.filter { record in names.map { record.field($0) } == values }.prefix(limit).map(\.id)
    }
  }

  private static func records(_ count: Int64) -> [EncodedRecord] {
    (0..<count).map { EncodedRecord(id: AnyRecordID(rawValue: 3 * $0 + 1)!, fields: ["n": .integer($0)]) }
  }

  @Test func changesAgreeWithThoseOfReadRecords() throws {
    var random = SeededRandom.fromEnvironment("unread records")
    for _ in 0..<200 {
      let all = Self.records(Int64.random(in: 0...40, using: &random))
      let shape = OrderedRecords.Shape(chunk: 4, section: 3)
      let unread = OrderedRecords(
        Source(all, chunkLength: Int.random(in: 1...4, using: &random)), shape: shape)
      var (changing, model) = (unread, OrderedRecords(all, shape: shape))
      var nextID: Int64 = 1_000
      for _ in 0..<30 {
        change(&changing, &model, &nextID, &random)
        try #require(Array(changing) == Array(model))
        for record in model {
          try #require(changing.index(of: record.id) == model.index(of: record.id))
        }
        for record in all where model.index(of: record.id) == nil {
          try #require(!changing.contains(record.id))
        }
      }
      let difference = RecordsDifference(from: unread, to: changing)
      let expected = RecordsDifference(from: OrderedRecords(all, shape: shape), to: model)
      #expect(Set(difference.removed.map(\.record.id)) == Set(expected.removed.map(\.record.id)))
      #expect(difference.inserted.map(\.record) == expected.inserted.map(\.record))
      #expect(Set(difference.updated.map(\.new.id)) == Set(expected.updated.map(\.new.id)))
      #expect(Array(unread) == all)
    }
  }

  private func change(
    _ changing: inout OrderedRecords, _ model: inout OrderedRecords, _ nextID: inout Int64,
    _ random: inout SeededRandom
  ) {
    let index = model.indices.randomElement(using: &random)
    switch (Int.random(in: 0..<12, using: &random), index) {
    case (0..<4, _), (_, nil):
      let place = Int.random(in: 0...model.count, using: &random)
      let new = [EncodedRecord(id: AnyRecordID(rawValue: nextID)!, fields: ["new": 1])]
      nextID += 1
      changing.insert(new, at: place)
      model.insert(new, at: place)
    case (4..<7, let index?): #expect(changing.remove(index: index) == model.remove(index: index))
    case (7..<9, let index?):
      let newIndex = Int.random(in: model.indices, using: &random)
      changing.move(index: index, to: newIndex)
      model.move(index: index, to: newIndex)
    case (9..<11, let index?):
      let new = EncodedRecord(id: model[index].id, fields: ["changed": .integer(nextID)])
      changing.replace(index: index, with: new)
      model.replace(index: index, with: new)
    default:
      let ids = Set(model.ids.filter { _ in Int.random(in: 0..<9, using: &random) == 0 })
      changing.remove(ids)
      model.remove(ids)
    }
  }

  @Test func changeOfOneRecordReadsItsChunkAlone() throws {
    let source = Source(Self.records(10_000), chunkLength: 192)
    let before = OrderedRecords(source)
    var after = before
    let record = EncodedRecord(id: AnyRecordID(rawValue: 3 * 500 + 1)!, fields: ["n": "new"])
    after.replace(index: try #require(after.index(of: record.id)), with: record)
    let difference = RecordsDifference(from: before, to: after)
    #expect(
      difference.updated.map(\.new) == [record] && difference.inserted.isEmpty && difference.removed.isEmpty)
    #expect(source.read.withLock { $0 } == [500 / 192])
  }
}
