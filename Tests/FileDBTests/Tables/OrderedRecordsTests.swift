import FileDB
import TestSupport
import Testing

/// Records in chunks, compared with a plain array.
@Suite struct OrderedRecordsTests {
  /// Small, so that a few records fill many chunks.
  private static let shapes = [
    OrderedRecords.Shape(chunk: 2, section: 2), OrderedRecords.Shape(chunk: 4, section: 3),
    OrderedRecords.Shape(chunk: 7, section: 5),
  ]

  @Test(arguments: shapes.indices)
  func changesAgreeWithPlainArray(shape: Int) throws {
    var random = SeededRandom.fromEnvironment("ordered records \(shape)")
    for _ in 0..<20 {
      var pair = Pair(shape: Self.shapes[shape])
      for _ in 0..<200 {
        let before = pair
        pair.change(&random)
        try pair.check()
        try before.check()  // The old value has not changed.
      }
    }
  }

  @Test func bulkInsertAgreesWithPlainArray() throws {
    for shape in Self.shapes {
      for count in 0..<40 {
        var pair = Pair(shape: shape)
        pair.insert(count, at: 0)
        try pair.check()
        pair.insert(3, at: count / 2)
        try pair.check()
      }
    }
  }

  @Test func tableIsLikeNewAfterRemovingAllRecords() throws {
    for shape in Self.shapes {
      var pair = Pair(shape: shape)
      pair.insert(50, at: 0)
      while !pair.model.isEmpty {
        pair.remove(index: pair.model.count / 3)
        try pair.check()
      }
      pair.insert(50, at: 0)
      try pair.check()
    }
  }
}

/// The same records in both forms.
private struct Pair {
  var records: OrderedRecords
  var model: [EncodedRecord] = []
  var nextID: Int64 = 1

  init(shape: OrderedRecords.Shape) { records = OrderedRecords(shape: shape) }

  mutating func insert(_ count: Int, at index: Int) {
    let new = (0..<Int64(count)).map { stored(nextID + $0, value: 0) }
    nextID += Int64(count)
    records.insert(new, at: index)
    model.insert(contentsOf: new, at: index)
  }

  mutating func remove(index: Int) {
    records.remove(index: index)
    model.remove(at: index)
  }

  mutating func change(_ random: inout SeededRandom) {
    let index = model.indices.randomElement(using: &random)
    switch (Int.random(in: 0..<16, using: &random), index) {
    case (0..<6, _), (_, nil):
      insert(.random(in: 1...3, using: &random), at: .random(in: 0...model.count, using: &random))
    case (6..<9, let index?): remove(index: index)
    case (9..<12, let index?):
      let newIndex = Int.random(in: model.indices, using: &random)
      records.move(index: index, to: newIndex)
      model.insert(model.remove(at: index), at: newIndex)
    case (12..<14, let index?):
      let new = stored(model[index].id.rawValue, value: .random(in: 1...9, using: &random))
      records.replace(index: index, with: new)
      model[index] = new
    case (14, _):
      let ids = Set(model.map(\.id).filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
      records.remove(ids)
      model.removeAll { ids.contains($0.id) }
    default:
      let oldIndices = model.indices.shuffled(using: &random)
      records.reorder(oldIndices)
      model = oldIndices.map { model[$0] }
    }
  }

  private func stored(_ id: Int64, value: Int64) -> EncodedRecord {
    EncodedRecord(id: AnyRecordID(rawValue: id)!, fields: ["n": .integer(value)])
  }

  func check() throws {
    try #require(records.count == model.count)
    try #require(Array(records) == model)
    try #require(records.ids == model.map(\.id))
    for index in [0, model.count / 2, max(0, model.count - 1), model.count] {
      try #require(Array(IteratorSequence(records.makeIterator(from: index))) == Array(model[index...]))
      var rest = records.makeIterator()
      rest.skip(index)
      try #require(Array(IteratorSequence(rest)) == Array(model[index...]))
    }
    for (index, record) in model.enumerated() {
      try #require(records[index] == record)
      try #require(records.index(of: record.id) == index)
    }
    try #require(records.index(of: AnyRecordID(rawValue: nextID)!) == nil)
  }
}
