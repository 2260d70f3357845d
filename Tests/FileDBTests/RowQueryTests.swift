import FileDB
import Foundation
import TestSupport
import Testing

private struct Food: Codable, Sendable, Equatable {
  var name: String
  var group: String?
  var kcal: Double?
}

/// Questions to decoded rows answer as the standard library does for an array of them.
@Suite struct RowQueryTests {
  private let foods = (0..<700).map { number -> Food in
    let group = number % 5 == 0 ? nil : "group \(number % 3)"
    let kcal = number == 1 ? .nan : Double(number * 37 % 101)
    return Food(name: "food \(number)", group: group, kcal: number % 7 == 0 ? nil : kcal)
  }

  private func withFoods(_ count: Int, _ body: (DecodedRecords<Food>, [RecordID]) throws -> Void) throws {
    try withStore { store in
      let table = try store.table(TableName<Food>("foods"))
      let ids = try table.add(contentsOf: foods.prefix(count))
      try body(table.snapshot.records, ids)
    }
  }

  @Test(arguments: [0, 1, 700]) func theyAnswerAsAnArrayDoes(count: Int) throws {
    try withFoods(count) { rows, ids in
      let plain = Array(foods.prefix(count))
      let matches: [@Sendable (Food) -> Bool] = [
        { $0.group == nil }, { $0.kcal ?? 0 > 50 }, { _ in false }, { _ in true },
      ]
      for matches in matches {
        let wanted = zip(ids, plain).filter { matches($1) }.map(\.0)
        let (found, first) = (try rows.filter(matches), try rows.first(where: matches))
        let (isThere, number) = (try rows.contains(where: matches), try rows.count(where: matches))
        #expect(found.map(\.id) == wanted && first?.id == wanted.first)
        #expect(isThere == !wanted.isEmpty && number == wanted.count)
      }
      #expect(try rows.map(\.name) == plain.map(\.name))
      #expect(try rows.compactMap(\.group) == plain.compactMap(\.group))
      #expect(try rows.reduce(into: 0) { $0 += $1.name.count } == plain.reduce(0) { $0 + $1.name.count })
    }
  }

  @Test func theLeastAndTheGreatestAreTheFirstOfThem() throws {
    try withFoods(700) { rows, ids in
      let known = foods.compactMap(\.kcal).filter { !$0.isNaN }
      let least = try #require(foods.firstIndex { $0.kcal == known.min() })
      let greatest = try #require(foods.firstIndex { $0.kcal == known.max() })
      #expect(try rows.min(by: \.kcal)?.id == ids[least])
      #expect(try rows.max(by: \.kcal)?.id == ids[greatest])
      #expect(try rows.min(by: \.name)?.id == ids[0])
    }
    try withFoods(0) { rows, _ in
      let (least, greatest) = (try rows.min(by: \.kcal), try rows.max(by: \.kcal))
      #expect(least == nil && greatest == nil)
    }
  }

  @Test func noRowIsDecodedBehindTheLastThatIsNeeded() throws {
    try withStore { store in
      let table = try store.table(TableName<Food>("foods"))
      try table.add(contentsOf: foods.prefix(3))
      let broken = try store.table("foods").add(["name": 5])
      let rows = table.snapshot.records
      #expect(try rows.first { $0.name == "food 2" }?.id == 3)
      #expect(try rows.contains { $0.name == "food 2" })
      let error = try #require(storeError { _ = try rows.filter { _ in false } })
      #expect(error.code == StoreError.invalidValue && error.record == broken && error.field == "name")
    }
  }

  /// Rows are decoded some thousands at a time, and each of these in parts.
  @Test(arguments: [nil, 0, 8_191, 8_192, 13_000, 19_999])
  func ofManyRowsEachHasItsTurnUpToTheFirstThatDoesNotFit(brokenRow: Int?) throws {
    try withStore { store in
      let records = try store.table("foods")
      let ids = try records.add(contentsOf: (0..<20_000).map { ["name": .string("food \($0)")] })
      for row in [brokenRow, brokenRow.map { min($0 + 5, 19_999) }].compactMap(\.self) {
        try records.set(["name": 5], of: ids[row])
      }
      let rows = try store.table(TableName<Food>("foods")).snapshot.records
      var seen = 0
      let error = storeError {
        let found = try rows.filter { food in
          #expect(food.name == "food \(seen)")
          seen += 1
          return true
        }
        #expect(found.map(\.id) == ids)
      }
      #expect(error?.record == brokenRow.map { ids[$0] })
      #expect(seen == brokenRow ?? 20_000)
    }
  }

  @Test func whatAClosureThrowsComesThrough() throws {
    struct Stop: Error {}
    try withFoods(3) { rows, _ in
      #expect(throws: Stop.self) { try rows.filter { _ in throw Stop() } }
      #expect(throws: Stop.self) { try rows.min { _ -> Int? in throw Stop() } }
    }
  }
}
