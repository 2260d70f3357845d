import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Stored as a string, but not ordered like one.
private enum Kind: String, Codable, Hashable, Comparable, CaseIterable {
  case vegetables, fruit

  static func < (left: Kind, right: Kind) -> Bool { left == .vegetables && right == .fruit }
}

private struct Crop: Codable, Sendable {
  var kind: Kind
}

private struct Food: Codable, Sendable, Equatable {
  enum CodingKeys: String, CodingKey {
    case name, kcal, weight
    case group = "g"
    case harvested = "day"
  }

  var name: String
  var group: String
  var kcal: Int
  var weight: Double?
  var harvested: Date?
}

@Suite struct AggregateTests {
  private static let day = Date(timeIntervalSince1970: 86_400)

  private func withFoods(_ body: (RecordTable<Food>) throws -> Void) throws {
    try withStore { store in
      let table = try store.table(TableName<Food>("foods"))
      try table.add(contentsOf: [
        Food(name: "leek", group: "b", kcal: 61, weight: 0.1, harvested: Self.day),
        Food(name: "Apple", group: "a", kcal: 52, weight: nil, harvested: nil),
        Food(name: "pear", group: "a", kcal: 57, weight: 0.2, harvested: Self.day + 60),
        Food(name: "leek", group: "b", kcal: -1, weight: 0.3, harvested: nil),
      ])
      try body(table)
    }
  }

  @Test func wholeTableAnswersByKeyPath() throws {
    try withFoods { table in
      let foods = try table.snapshot()
      let sum: Int = try foods.sum(of: \.kcal)
      #expect(sum == 169)
      #expect(try foods.average(of: \.kcal) == 42.25)
      #expect(try foods.sum(of: \.weight) == 0.6, "0.1 + 0.2 + 0.3, rounded once")
      #expect(try foods.average(of: \.weight) == 0.6 / 3)
      let least: Int? = try foods.minimum(of: \.kcal)
      #expect(try least == -1 && foods.maximum(of: \.kcal) == 61)
      #expect(try foods.minimum(of: \.name) == "Apple" && foods.maximum(of: \.name) == "pear")
      #expect(
        try foods.minimum(of: \.harvested) == Self.day && foods.maximum(of: \.harvested) == Self.day + 60)
    }
  }

  @Test func emptyTableHasNoAverage() throws {
    try withStore { store in
      let foods = try store.table(TableName<Food>("foods")).snapshot()
      #expect(try foods.sum(of: \.kcal) == 0 && foods.sum(of: \.weight) == 0)
      #expect(try foods.average(of: \.kcal) == nil && foods.minimum(of: \.kcal) == nil)
      #expect(try foods.maximum(of: \.name) == nil && foods.grouped(by: \.group).isEmpty)
      #expect(try foods.grouped(by: ["g"]).isEmpty)
    }
  }

  @Test func matchesOfPredicateAnswer() throws {
    try withFoods { table in
      let matches = try table.snapshot().matches(where: RecordPredicate("kcal > 0"))
      #expect(try matches.sum(of: \.kcal) == 170 && matches.minimum(of: \.kcal) == 52)
      #expect(try matches.grouped(by: \.group).map(\.key) == ["b", "a"])
      #expect(try matches.grouped(by: \.group).map(\.count) == [1, 2])
      #expect(matches.asGroup.records.map(\.id) == matches.ids)
    }
  }

  @Test func groupsKeepTheOrderOfTheirFirstRecords() throws {
    try withFoods { table in
      let groups = try table.snapshot().grouped(by: \.group)
      #expect(groups.map(\.key) == ["b", "a"] && groups.map(\.count) == [2, 2])
      #expect(try groups.map { try $0.sum(of: \.kcal) } == [60, 109])
      #expect(try groups.map { try $0.minimum(of: \.weight) } == [0.1, 0.2])
      #expect(groups.map { $0.records.map(\.id) } == [[1, 4], [2, 3]])
      let inner = try groups[0].grouped(by: \.kcal)
      #expect(inner.map(\.key) == [61, -1] && inner.map { $0.records.map(\.id) } == [[1], [4]])
    }
  }

  @Test func groupsBySeveralFields() throws {
    try withFoods { table in
      let groups = try table.snapshot().grouped(by: \.name, \.harvested)
      let (names, days): ([String], [Date?]) = (groups.map(\.key.0), groups.map(\.key.1))
      #expect(names == ["leek", "Apple", "pear", "leek"] && days == [Self.day, nil, Self.day + 60, nil])
      #expect(try table.snapshot().grouped(by: \.group, \.name).map(\.count) == [2, 1, 1])
      let named = try table.snapshot().grouped(by: ["g", "missing"])
      #expect(named.map(\.key) == [["b", nil], ["a", nil]])
      #expect(try table.snapshot().grouped(by: [] as [String]).map(\.count) == [4])
    }
  }

  @Test func computedPropertyIsAnsweredByDecoding() throws {
    try withFoods { table in
      let foods = try table.snapshot()
      #expect(try foods.sum(of: \.lengthOfName) == 17 && foods.maximum(of: \.lengthOfName) == 5)
      #expect(try foods.grouped(by: \.lengthOfName).map(\.key) == [4, 5])
      #expect(try foods.grouped(by: \.lengthOfName, \.group).map(\.count) == [2, 1, 1])
    }
  }

  @Test func orderOfATypeIsItsOwn() throws {
    try withStore { store in
      let table = try store.table(TableName<Crop>("t"))
      try table.add(contentsOf: [Crop(kind: .fruit), Crop(kind: .vegetables), Crop(kind: .fruit)])
      let crops = try table.snapshot()
      #expect(try crops.minimum(of: \.kind) == .vegetables && crops.maximum(of: \.kind) == .fruit)
      let kinds: [Kind] = try crops.grouped(by: \.kind).map(\.key)
      #expect(kinds == [.fruit, .vegetables])
    }
  }

  @Test func canonicallyEqualTextsAreOneGroupInSwift() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [
        ["name": "é", "n": 1], ["name": "x", "n": 2], ["name": "e\u{301}", "n": 4],
      ])
      #expect(try table.snapshot().grouped(by: ["name"]).count == 3)
      struct Named: Codable, Sendable {
        var name: String
        var n: Int
      }
      let groups = try store.table(TableName<Named>("t")).snapshot().grouped(by: \.name)
      #expect(try groups.map { try $0.sum(of: \.n) } == [5, 2])
      #expect(groups.map { $0.records.map(\.id) } == [[1, 3], [2]])
    }
  }

  @Test func recordThatDoesNotFitIsAnError() throws {
    try withFoods { table in
      try table.store.table("foods").update(3) { $0["kcal"] = "many" }
      let foods = try table.snapshot()
      for question in [
        { _ = try foods.sum(of: \.kcal) }, { _ = try foods.minimum(of: \.kcal) },
        { _ = try foods.grouped(by: \.kcal) }, { _ = try foods.average(of: \.kcal) },
      ] as [() throws -> Void] {
        let error = storeError(question)
        #expect(error?.code == .invalidValue && error?.record == 3 && error?.field == "kcal")
      }
      let summary = try foods.summary(of: "kcal")
      #expect(summary.count == 4 && summary.numberCount == 3 && summary.average == 112.0 / 3)
      #expect(summary.minimum == -1 && summary.maximum == "many")
    }
  }

  @Test func integersNeverWrap() throws {
    struct Large: Codable, Sendable {
      var n: Int
      var u: UInt64
      var small: Int8
    }
    try withStore { store in
      let table = try store.table(TableName<Large>("t"))
      try table.add(contentsOf: [
        Large(n: .max, u: .max, small: 127), Large(n: .max, u: 1, small: 127), Large(n: .min, u: 0, small: 1),
      ])
      let all = try table.snapshot()
      #expect(try all.sum(of: \.n) == .max - 1, "what is too large on the way does no harm")
      #expect(try all.sum(of: \.small) == 255)
      #expect(try all.average(of: \.u) == 0x1p64 / 3)
      #expect(storeError { _ = try all.sum(of: \.u) }?.code == .unrepresentableValue)
      #expect(storeError { _ = try all.summary(of: "u").sum() }?.code == .unrepresentableValue)
      let two = try all.matches(where: RecordPredicate("n > 0"))
      #expect(storeError { _ = try two.sum(of: \.n) }?.code == .unrepresentableValue)
      #expect(try two.summary(of: "n").sum() == .unsigned(UInt64(Int.max) * 2), "an unsigned one holds it")
    }
  }

  @Test func defaultsAndWholeNumbersAreReadAsTheTypeReadsThem() throws {
    struct Item: DefaultedValue {
      static var defaults: Item { Item() }

      var n = 7
      var weight = 1.5
    }
    try withStore { store in
      try store.table("t").add(contentsOf: [["n": 1], [:], ["weight": 2], ["n": 4.0, "weight": 0.25]])
      let items = try store.table(TableName<Item>("t")).snapshot()
      #expect(try items.sum(of: \.n) == 19 && items.maximum(of: \.n) == 7)
      #expect(try items.sum(of: \.weight) == 5.25 && items.minimum(of: \.weight) == 0.25)
      #expect(try items.grouped(by: \.n).map(\.key) == [1, 7, 4])
    }
  }

  @Test func nestedFieldsAndIDsAnswerByName() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [["a": ["b": 1]], ["a": ["b": 2.5]], ["a": 3], [:]])
      let records = try table.snapshot()
      let inner = try records.summary(of: #require(FieldReference("a.b")))
      #expect(try inner.sum() == 3.5 && inner.count == 2)
      #expect(try records.summary(of: .id).sum() == 10)
      let groups = try records.grouped(by: [#require(FieldReference("a.b"))])
      #expect(groups.map(\.key) == [[1], [2.5], [nil]] && groups.map(\.count) == [1, 1, 2])
    }
  }
}

extension Food {
  fileprivate var lengthOfName: Int { name.count }
}

@Suite struct ExactSumTests {
  private func sum(_ numbers: [Double]) -> Double {
    var sum = ExactSum()
    for number in numbers { sum.add(number) }
    return sum.value
  }

  @Test func isRoundedOnce() {
    #expect(sum([]) == 0 && sum([0.1, 0.2, 0.3]) == 0.6)
    #expect(sum([1e100, 1, -1e100]) == 1 && sum([1, 1e100, 1, -1e100]) == 2)
    #expect(sum(Array(repeating: 0.1, count: 10)) == 1)
    // Halfway: to the even one, unless there is something left.
    #expect(sum([0x1p53, 1]) == 0x1p53 && sum([0x1p53, 1, 0x1p-60]) == 0x1p53 + 2)
    #expect(sum([0x1p53, 1, -0x1p-60]) == 0x1p53 && sum([-0x1p53, -1, -0x1p-60]) == -0x1p53 - 2)
    #expect(sum([.infinity, 1]) == .infinity && sum([.infinity, -.infinity]).isNaN && sum([.nan, 1]).isNaN)
    #expect(sum([.greatestFiniteMagnitude, .greatestFiniteMagnitude]) == .infinity)
  }

  @Test func orderAndPartsDoNotMatter() {
    var random = SeededRandom.fromEnvironment("exact sums")
    for _ in 0..<200 {
      let numbers = (0..<20).map { _ in
        Double.random(in: -1...1, using: &random)
          * Double(sign: .plus, exponent: .random(in: -80...80, using: &random), significand: 1)
      }
      let expected = sum(numbers)
      #expect(sum(numbers.shuffled(using: &random)) == expected)
      var parts = [ExactSum(), ExactSum()]
      for number in numbers { parts[Int.random(in: 0...1, using: &random)].add(number) }
      parts[0].add(parts[1])
      #expect(parts[0].value == expected)
    }
  }

  private static let integers: [Int128] = [
    0, 1, -1, Int128(1) << 53 + 1, Int128(Int64.max) * 3 + 1, -(Int128(1) << 100) - Int128(1) << 40 - 1,
  ]

  @Test(arguments: integers)
  func integersAreAddedExactly(_ number: Int128) {
    var sum = ExactSum()
    sum.add(number)
    #expect(sum.value == Double(number))
    sum.add(-number)
    #expect(sum.value == 0)
  }
}
