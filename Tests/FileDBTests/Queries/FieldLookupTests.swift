import FileDB
import Foundation
import Synchronization
import TestSupport
import Testing

private enum Group: String, Codable, CaseIterable, Sendable { case dairy, fruit, meat }

private struct Food: Codable, Sendable, Equatable {
  var name: String
  var group: Group
  var origin: String?
  var kcal: Double
  var grams: Int?
}

private let foodsName = TableName<Food>("foods")

/// A lookup answers as a scan of all records does, for any snapshot, after any changes.
@Suite struct FieldLookupTests {
  private static let shapes = [
    OrderedRecords.Shape(chunk: 2, section: 2), OrderedRecords.Shape(chunk: 5, section: 3), .standard,
  ]

  @Test(arguments: shapes) func lookupAgreesWithScanAfterAnyChanges(shape: OrderedRecords.Shape) throws {
    var random = SeededRandom.fromEnvironment("FieldLookupTests")
    var options = StoreOptions()
    options.shape = shape
    try withStore(options: options) { store in
      let foods = try withLookups(store)
      var snapshots: [TableSnapshot<Food>] = []
      for round in 0..<60 {
        try random.change(foods)
        snapshots.append(foods.lastSnapshot)
        // Not after each change, so that there are several between two questions.
        guard round % 3 == 0 else { continue }
        try expectAgreement(foods.lastSnapshot, &random)
        try expectAgreement(snapshots.randomElement(using: &random)!, &random)
      }
    }
  }

  @Test func tableLookupAnswersForLatestCommit() throws {
    try withStore { store in
      let foods = try withLookups(store)
      let groups: [Group] = [.dairy, .fruit, .dairy]
      let ids = try foods.add(
        contentsOf: groups.enumerated().map { number, group in
          Food(
            name: "n", group: group, origin: number == 1 ? nil : "a", kcal: Double(number),
            grams: number == 0 ? nil : number)
        })
      #expect(try foods.records(where: \.group, equals: .dairy).map(\.id) == [ids[0], ids[2]])
      #expect(try foods.records(where: \.origin, equals: nil).map(\.id) == [ids[1]])
      #expect(try foods.records(where: \.kcal, in: 1...).map(\.id) == [ids[1], ids[2]])
      #expect(try foods.records(where: \.grams, in: ..<2).map(\.id) == [ids[1]])
      try foods.delete(ids[1])
      #expect(try foods.records(where: \.origin, equals: nil).isEmpty)
    }
  }

  @Test func lookupSeesCommitsOfAnotherStore() throws {
    var random = SeededRandom.fromEnvironment("FieldLookupTests.other")
    try withStore(.disk) { store in
      let foods = try withLookups(store)
      let other = try RecordStore(at: store.url).table(foodsName)
      for round in 0..<24 {
        // Records are chosen from what the table has by now.
        try other.store.refresh()
        try random.change(round % 2 == 0 ? other : foods)
        if round % 8 == 7 { try store.checkpoint() }
        try store.refresh()
        try expectAgreement(foods.lastSnapshot, &random)
      }
    }
  }

  @Test func lookupShowsUncommittedRecordsOnlyInsideTheWrite() throws {
    var random = SeededRandom.fromEnvironment("FieldLookupTests.write")
    try withStore { store in
      let foods = try withLookups(store)
      let id = try foods.add(random.food())
      let before = foods.lastSnapshot
      try? store.write { tx in
        try tx[foodsName].update(id) { $0.origin = "here" }
        let added = try tx[foodsName].add(random.food(origin: "here"))
        #expect(
          try tx[foodsName].snapshot().records(where: \.origin, equals: "here").map(\.id) == [id, added])
        #expect(try foods.lastSnapshot.records(where: \.origin, equals: "here").map(\.id) == [id, added])
        #expect(try before.records(where: \.origin, equals: "here").map(\.id) == [])
        throw CancellationError()
      }
      #expect(try foods.lastSnapshot.records(where: \.origin, equals: "here").map(\.id) == [])
      try expectAgreement(foods.lastSnapshot, &random)
    }
  }

  @Test func lookupReportsMismatchedRecordLikeScan() throws {
    var random = SeededRandom.fromEnvironment("FieldLookupTests.unreadable")
    try withStore { store in
      let foods = try withLookups(store)
      try foods.add(contentsOf: (0..<20).map { _ in random.food() })
      try expectAgreement(foods.lastSnapshot, &random)
      let raw = try store.table("foods")
      for id: RecordID<Food> in [12, 5] {
        try raw.set(["origin": 5, "kcal": "x", "grams": "x"], of: RecordID(id))
      }
      for attempt in [
        { _ = try foods.lastSnapshot.records(where: \.origin, equals: "none") },
        { _ = try foods.lastSnapshot.records(where: \.kcal, in: 0...0) },
      ] {
        let error = try #require(storeError(attempt))
        #expect(error.code == .invalidValue && error.record == 5)
      }
      try raw.move(12, to: .top)
      #expect(storeError { _ = try foods.lastSnapshot.records(where: \.grams, in: 1...) }?.record == 12)
      for id: RecordID<Food> in [12, 5] {
        try raw.set(["origin": "here", "kcal": 1, "grams": 1], of: RecordID(id))
      }
      try expectAgreement(foods.lastSnapshot, &random)
    }
  }

  /// The query goes to another table object than the one that was given the lookup.
  @Test func lookupDecodesOnlyChangedRecords() throws {
    try withStore { store in
      let name = TableName<Counted>("counted")
      try store.table(name).withLookup(by: \.number)
      let counted = try store.table(name)
      try counted.add(contentsOf: (0..<1_000).map { Counted(number: $0 % 10) })
      #expect(try counted.lastSnapshot.records(where: \.number, equals: 3).count == 100)
      let before = Counted.decodings
      #expect(try counted.lastSnapshot.records(where: \.number, equals: 4).count == 100)
      #expect(try counted.lastSnapshot.records(where: \.number, in: 4..<6).count == 200)
      #expect(Counted.decodings == before)
      try counted.set(["number": 77], of: 5)
      #expect(try counted.lastSnapshot.records(where: \.number, equals: 77).map(\.id) == [5])
      #expect(Counted.decodings <= before + 4)
    }
  }

  @Test func lookupByOptionalValueIsSeparateAndFindsNil() throws {
    func find<Value: Hashable & Sendable>(
      _ value: Value, _ path: KeyPath<Food, Value> & Sendable, in table: RecordTable<Food>
    ) throws -> [RecordID<Food>] {
      try table.withLookup(by: path).lastSnapshot.records(where: path, equals: value).map(\.id)
    }
    var random = SeededRandom.fromEnvironment("FieldLookupTests.optional")
    try withStore { store in
      let foods = try withLookups(store)
      for origin in ["a", nil, "a"] {
        var food = random.food()
        food.origin = origin
        try foods.add(food)
      }
      #expect(try find("a", \.origin, in: foods) == [1, 3])
      #expect(try find(nil, \.origin, in: foods) == [2])
      #expect(try foods.lastSnapshot.records(where: \.origin, equals: nil).map(\.id) == [2])
    }
  }

  @Test func lookupWorksFromManyThreadsAtOnce() throws {
    var random = SeededRandom.fromEnvironment("FieldLookupTests.threads")
    try withStore { store in
      let foods = try withLookups(store)
      var snapshots: [TableSnapshot<Food>] = []
      for _ in 0..<40 {
        try random.change(foods)
        snapshots.append(foods.lastSnapshot)
      }
      let seeds = (0..<8).map { _ in random.next() }
      DispatchQueue.concurrentPerform(iterations: 8) { [snapshots] thread in
        var random = SeededRandom(seed: seeds[thread])
        for _ in 0..<10 {
          #expect(throws: Never.self) {
            try expectAgreement(snapshots.randomElement(using: &random)!, &random)
          }
        }
      }
    }
  }

  private func withLookups(_ store: RecordStore) throws -> RecordTable<Food> {
    try store.table(foodsName).withLookup(by: \.group).withLookup(by: \.origin).withLookup(by: \.kcal)
      .withLookup(by: \.grams)
  }
}

/// Compares with records that were filtered here.
private func expectAgreement(_ foods: TableSnapshot<Food>, _ random: inout SeededRandom) throws {
  func ids(_ isIncluded: (Food) -> Bool) throws -> [RecordID<Food>] {
    try foods.filter { try isIncluded($0.value) }.map(\.id)
  }
  for group in Group.allCases {
    #expect(try foods.records(where: \.group, equals: group).map(\.id) == ids { $0.group == group })
  }
  for origin in ["a", "b", "here", nil] {
    #expect(try foods.records(where: \.origin, equals: origin).map(\.id) == ids { $0.origin == origin })
  }
  let (low, high) = (Double.random(in: -1...9, using: &random), Double.random(in: 9...12, using: &random))
  #expect(
    try foods.records(where: \.kcal, in: low...high).map(\.id) == ids { (low...high).contains($0.kcal) })
  #expect(try foods.records(where: \.kcal, in: ..<high).map(\.id) == ids { $0.kcal < high })
  #expect(try foods.records(where: \.kcal, equals: .nan).map(\.id) == [])
  #expect(
    try foods.records(where: \.grams, in: 2..<5).map(\.id) == ids { $0.grams.map { 2..<5 ~= $0 } ?? false })
  #expect(try foods.records(where: \.grams, in: 3...).map(\.id) == ids { $0.grams ?? 0 >= 3 })
  #expect(try foods.records(where: \.grams, in: ...3).map(\.id) == ids { $0.grams ?? 4 <= 3 })
  #expect(try foods.records(where: \.name, equals: "n3").map(\.id) == ids { $0.name == "n3" })
}

extension SeededRandom {
  fileprivate mutating func food(origin: String? = nil) -> Food {
    let kcal = [.nan, -0.0, 0, .infinity, Double(Int.random(in: 0...24, using: &self)) / 2].randomElement(
      using: &self)!
    return Food(
      name: "n\(Int.random(in: 0...9, using: &self))", group: Group.allCases.randomElement(using: &self)!,
      origin: origin ?? ["a", "b", nil].randomElement(using: &self)!, kcal: kcal,
      grams: Bool.random(using: &self) ? nil : Int.random(in: 0...6, using: &self))
  }

  fileprivate mutating func change(_ table: RecordTable<Food>) throws {
    let ids = table.lastSnapshot.ids
    let id = ids.randomElement(using: &self)
    switch (Int.random(in: 0...9, using: &self), id) {
    case (0...2, _), (_, nil):
      let foods = (0..<Int.random(in: 1...8, using: &self)).map { _ in food() }
      try table.add(contentsOf: foods, at: .index(Int.random(in: 0...ids.count, using: &self)))
    case (3, let id?): try table.delete(id)
    case (4, let id?): try table.move(id, to: .index(Int.random(in: ids.indices, using: &self)))
    case (5, let id?): try table.duplicate(id)
    case (6, _): try table.sort(by: \.name)
    case (7, _) where Int.random(in: 0...9, using: &self) == 0: try table.truncate()
    case (_, let id?): try table.update(id, to: food())
    }
  }
}

private struct Counted: Codable, Sendable {
  private static let count = Mutex(0)
  static var decodings: Int { count.withLock { $0 } }

  let number: Int

  init(number: Int) { self.number = number }

  init(from decoder: any Decoder) throws {
    number = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .number)
    Self.count.withLock { $0 += 1 }
  }

  private enum CodingKeys: CodingKey { case number }
}
