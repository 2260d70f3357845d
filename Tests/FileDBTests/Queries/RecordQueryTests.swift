import FileDB
import Foundation
import TestSupport
import Testing

private struct Food: Codable, Sendable, Equatable {
  var name: String
  var group: String?
  var kcal: Double?
}

/// Queries of decoded records answer as the standard library does for an array of them.
@Suite struct RecordQueryTests {
  private let foods = (0..<700).map { number -> Food in
    let group = number % 5 == 0 ? nil : "group \(number % 3)"
    let kcal = number == 1 ? .nan : Double(number * 37 % 101)
    return Food(name: "food \(number)", group: group, kcal: number % 7 == 0 ? nil : kcal)
  }

  private func withFoods(_ count: Int, _ body: (TableSnapshot<Food>.Records, [RecordID<Food>]) throws -> Void)
    throws
  {
    try withStore { store in
      let table = try store.table(TableName<Food>("foods"))
      let ids = try table.add(contentsOf: foods.prefix(count))
      try body(table.lastSnapshot.records, ids)
    }
  }

  /// Of more records than are decoded at once.
  @Test func filterFindsRecordsOfEveryBlock() throws {
    try withStore { store in
      let table = try store.table(TableName<Food>("foods"))
      let ids = try table.add(contentsOf: (0..<9_000).map { Food(name: "\($0)", kcal: Double($0)) })
      for step in [1, 2, 700, 8_500] {
        let found = try table.snapshot().records.filter { Int($0.kcal ?? 0) % step == step - 1 }
        #expect(found.map(\.id) == ids.indices.filter { $0 % step == step - 1 }.map { ids[$0] })
      }
    }
  }

  @Test(arguments: [0, 1, 700]) func queriesAgreeWithArray(count: Int) throws {
    try withFoods(count) { records, ids in
      let plain = Array(foods.prefix(count))
      let matches: [@Sendable (Food) -> Bool] = [
        { $0.group == nil }, { $0.kcal ?? 0 > 50 }, { _ in false }, { _ in true },
      ]
      for matches in matches {
        let wanted = zip(ids, plain).filter { matches($1) }.map(\.0)
        let (found, first) = (try records.filter(matches), try records.first(where: matches))
        let (isThere, number) = (try records.contains(where: matches), try records.count(where: matches))
        #expect(found.map(\.id) == wanted && first?.id == wanted.first)
        #expect(isThere == !wanted.isEmpty && number == wanted.count)
      }
      #expect(try records.map(\.name) == plain.map(\.name))
      #expect(try records.compactMap(\.group) == plain.compactMap(\.group))
      #expect(try records.reduce(into: 0) { $0 += $1.name.count } == plain.reduce(0) { $0 + $1.name.count })
    }
  }

  /// Of more records than one thread decodes. One that does not fit its type is a fault only if it matches.
  @Test func valuesOfChosenRecordsAreThoseOfEach() throws {
    try withStore { store in
      let table = try store.table(TableName<Food>("foods"))
      _ = try table.add(contentsOf: (0..<4_000).map { Food(name: "food \($0 % 10)", kcal: Double($0)) })
      let plain = try store.table("foods")
      let unfit = try plain.add(["name": 3, "kcal": 2_000])
      let others = try plain.add(["name": 4, "kcal": 3])
      let many = try RecordPredicate("kcal >= 2000")
      let snapshot = try table.snapshot()
      let found = try snapshot.records(where: many).values()
      let wanted = try snapshot.records(where: many).filter { $0.id.rawValue != unfit.rawValue }
      #expect(found.decoded == (2_000..<4_000).map { Food(name: "food \($0 % 10)", kcal: Double($0)) })
      #expect(found.ids == wanted.map(\.id) && found.faults.map(\.record) == [AnyRecordID(unfit)])
      #expect(storeError { _ = try found.get() }?.code == .invalidValue)
      #expect(try snapshot.records(where: RecordPredicate("kcal < 0")).values().get().isEmpty)

      try plain.delete([unfit, others])
      let swift = #Predicate<Food> { $0.name == "food 7" }
      let sevens = try table.snapshot().records(where: swift).values()
      #expect(try sevens.get().count == 400 && sevens.records.allSatisfy { $0.value.name == "food 7" })
      try store.checkInvariants()
    }
  }

  @Test func minAndMaxReturnFirstOfEquals() throws {
    try withFoods(700) { records, ids in
      let known = foods.compactMap(\.kcal).filter { !$0.isNaN }
      let least = try #require(foods.firstIndex { $0.kcal == known.min() })
      let greatest = try #require(foods.firstIndex { $0.kcal == known.max() })
      #expect(try records.min(by: \.kcal)?.id == ids[least])
      #expect(try records.max(by: \.kcal)?.id == ids[greatest])
      #expect(try records.min(by: \.name)?.id == ids[0])
    }
    try withFoods(0) { records, _ in
      let (least, greatest) = (try records.min(by: \.kcal), try records.max(by: \.kcal))
      #expect(least == nil && greatest == nil)
    }
  }

  @Test func queriesStopDecodingAtFirstMatch() throws {
    try withStore { store in
      let table = try store.table(TableName<Food>("foods"))
      try table.add(contentsOf: foods.prefix(3))
      let broken = try store.table("foods").add(["name": 5])
      let records = table.lastSnapshot.records
      #expect(try records.first { $0.name == "food 2" }?.id == 3)
      #expect(try records.contains { $0.name == "food 2" })
      let error = try #require(storeError { _ = try records.filter { _ in false } })
      #expect(error.code == .invalidValue && error.record == AnyRecordID(broken) && error.field == "name")
    }
  }

  /// Records are decoded in batches of some thousands, and each batch in parts on several threads.
  @Test(arguments: [nil, 0, 8_191, 8_192, 13_000, 19_999])
  func filterVisitsRecordsInOrderUpToFirstMismatch(brokenIndex: Int?) throws {
    try withStore { store in
      let table = try store.table("foods")
      let ids = try table.add(contentsOf: (0..<20_000).map { ["name": .string("food \($0)")] })
      for index in [brokenIndex, brokenIndex.map { min($0 + 5, 19_999) }].compactMap(\.self) {
        try table.set(["name": 5], of: ids[index])
      }
      let records = try store.table(TableName<Food>("foods")).lastSnapshot.records
      var seen = 0
      let error = storeError {
        let found = try records.filter { food in
          #expect(food.name == "food \(seen)")
          seen += 1
          return true
        }
        #expect(found.map(\.id) == ids.map { RecordID($0) })
      }
      #expect(error?.record == brokenIndex.map { AnyRecordID(ids[$0]) })
      #expect(seen == brokenIndex ?? 20_000)
    }
  }

  @Test func errorsOfClosuresAreRethrown() throws {
    struct Stop: Error {}
    try withFoods(3) { records, _ in
      #expect(throws: Stop.self) { try records.filter { _ in throw Stop() } }
      #expect(throws: Stop.self) { try records.min { _ -> Int? in throw Stop() } }
    }
  }
}
