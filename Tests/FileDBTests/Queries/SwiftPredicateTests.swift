import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDB

private enum Kind: String, Codable, CaseIterable {
  case fruit, vegetable
}

private struct Food: Codable, Sendable, Equatable {
  struct Maker: Codable, Equatable, Sendable {
    var city: String
  }

  enum CodingKeys: String, CodingKey {
    case name, kind, weight, tags, maker, isRaw
    case kcal = "k"
    case day = "d"
  }

  var name: String
  var kcal: Int?
  var weight: Double
  var day: Date?
  var isRaw: Bool
  var kind: Kind
  var tags: [String]
  var maker: Maker?
}

extension Food {
  fileprivate var isHeavy: Bool { weight > 1 }

  fileprivate static func random(_ random: inout SeededRandom) -> Food {
    Food(
      name: ["apple", "Ápple", "A\u{301}pple", "", "pear & plum", "x\r\ny", "K", "\u{212A}"].randomElement(
        using: &random)!,
      kcal: [nil, 0, 52, -1, .max].randomElement(using: &random)!,
      weight: [0, -0.0, 1, 1.5, .nan, .infinity, 0.1].randomElement(using: &random)!,
      day: [nil, Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 86_400)].randomElement(
        using: &random)!,
      isRaw: .random(using: &random), kind: Kind.allCases.randomElement(using: &random)!,
      tags: [[], ["a"], ["a", "b"], ["\u{e9}"]].randomElement(using: &random)!,
      maker: [nil, Maker(city: "Rome")].randomElement(using: &random)!)
  }
}

@Suite struct SwiftPredicateTests {
  private static func predicates(_ random: inout SeededRandom) -> [Predicate<Food>] {
    let number = [0, 52, .max].randomElement(using: &random)!
    let weight = [0, 1, 1.5, .nan].randomElement(using: &random)!
    let day = [Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 0.5)].randomElement(
      using: &random)!
    let text = ["apple", "\u{c1}pple", "e", "", "K", "\n", "\u{e9}"].randomElement(using: &random)!
    let kind = Kind.fruit
    return [
      #Predicate { $0.kcal == number }, #Predicate { $0.kcal != nil }, #Predicate { $0.kcal == nil },
      #Predicate { ($0.kcal ?? 7) > number }, #Predicate { $0.kcal != nil && $0.kcal! <= number },
      #Predicate { if let kcal = $0.kcal { kcal < number } else { false } },
      #Predicate { $0.weight < weight }, #Predicate { $0.weight >= weight },
      #Predicate { $0.weight == weight },
      #Predicate { $0.weight != weight }, #Predicate { $0.weight * 2 - 1 > weight },
      #Predicate { -$0.weight < weight }, #Predicate { $0.name == text }, #Predicate { $0.name != text },
      #Predicate { $0.name < text }, #Predicate { $0.name.contains(text) },
      #Predicate { $0.name.starts(with: text) }, #Predicate { $0.name.count > 2 },
      #Predicate { $0.name.isEmpty }, #Predicate { $0.isRaw }, #Predicate { !$0.isRaw },
      #Predicate { $0.day == day }, #Predicate { ($0.day ?? day) <= day }, #Predicate { $0.kind == kind },
      #Predicate { $0.tags.contains(text) },
      #Predicate { food in food.tags.contains { $0 == text && food.isRaw } },
      #Predicate { $0.tags.allSatisfy { $0 != text } }, #Predicate { $0.tags.count == 1 },
      #Predicate { $0.maker == nil }, #Predicate { $0.maker?.city == "Rome" }, #Predicate { $0.isHeavy },
      #Predicate { [0, 52].contains($0.kcal ?? 1) }, #Predicate { (0.0...1.0).contains($0.weight) },
      #Predicate { (0.0..<1.0).contains($0.weight) }, #Predicate { _ in true },
      #Predicate { $0.isRaw ? $0.weight > 1 : $0.name == text },
      #Predicate { !$0.tags.filter { $0 == text }.isEmpty },
      #Predicate { ($0.kcal ?? 7) > number && $0.name == text || !$0.isRaw },
      #Predicate { !($0.weight > weight && $0.kcal! == number) },
      #Predicate { $0.name.contains(text) || $0.kcal == nil && $0.isHeavy },
    ]
  }

  private typealias Condition = any StandardPredicateExpression<Bool>

  /// A condition of conditions, as the macro would make it.
  private static func combined(_ random: inout SeededRandom) -> Predicate<Food> {
    Predicate { food in condition(on: food, depth: 3, &random) }
  }

  private static func condition(
    on food: PredicateExpressions.Variable<Food>, depth: Int, _ random: inout SeededRandom
  ) -> Condition {
    func and(_ left: some StandardPredicateExpression<Bool>, _ right: some StandardPredicateExpression<Bool>)
      -> Condition
    {
      PredicateExpressions.build_Conjunction(lhs: left, rhs: right)
    }
    func or(_ left: some StandardPredicateExpression<Bool>, _ right: some StandardPredicateExpression<Bool>)
      -> Condition
    {
      PredicateExpressions.build_Disjunction(lhs: left, rhs: right)
    }
    func not(_ inner: some StandardPredicateExpression<Bool>) -> Condition {
      PredicateExpressions.build_Negation(inner)
    }
    let kind = depth == 0 ? 3 : Int.random(in: 0..<4, using: &random)
    if kind == 3 { return leaf(on: food, &random) }
    let left = condition(on: food, depth: depth - 1, &random)
    if kind == 2 { return not(left) }
    let right = condition(on: food, depth: depth - 1, &random)
    return kind == 0 ? and(left, right) : or(left, right)
  }

  private static func leaf(
    on food: PredicateExpressions.Variable<Food>, _ random: inout SeededRandom
  ) -> Condition {
    let number: Int? = [nil, 0, 52, .max].randomElement(using: &random)!
    let weight = [0, 1, 1.5, .nan].randomElement(using: &random)!
    let text = ["apple", "\u{c1}pple", "e", "", "K"].randomElement(using: &random)!
    let (kcal, name) = (
      PredicateExpressions.build_KeyPath(root: food, keyPath: \.kcal),
      PredicateExpressions.build_KeyPath(root: food, keyPath: \.name)
    )
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return PredicateExpressions.build_Equal(lhs: kcal, rhs: PredicateExpressions.build_Arg(number))
    case 1: return PredicateExpressions.build_NotEqual(lhs: kcal, rhs: PredicateExpressions.build_Arg(number))
    case 2:
      return PredicateExpressions.build_Comparison(
        lhs: PredicateExpressions.build_KeyPath(root: food, keyPath: \.weight),
        rhs: PredicateExpressions.build_Arg(weight),
        op: [.lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual].randomElement(using: &random)!)
    case 3: return PredicateExpressions.build_Equal(lhs: name, rhs: PredicateExpressions.build_Arg(text))
    case 4: return PredicateExpressions.build_contains(name, PredicateExpressions.build_Arg(text))
    default: return PredicateExpressions.build_KeyPath(root: food, keyPath: \.isRaw)
    }
  }

  private func expected(
    _ predicate: Predicate<Food>, _ snapshot: TableSnapshot<Food>
  ) -> Result<[RecordID<Food>], any Error> {
    Result { try snapshot.filter { try predicate.evaluate($0.value) }.map(\.id) }
  }

  @Test(arguments: [StoreOptions().columnBytes, 0])
  func predicatesGiveWhatTheyGiveForEachValue(columnBytes: Int) throws {
    var random = SeededRandom.fromEnvironment("Swift predicates with \(columnBytes) bytes")
    var options = StoreOptions(columnBytes: columnBytes)
    options.shape = OrderedRecords.Shape(chunk: 8, section: 4)
    try withStore(options: options) { store in
      let table = try store.table(TableName<Food>("foods"))
      for round in 0..<5 {
        try table.add(contentsOf: (0..<14).map { _ in Food.random(&random) }, at: .top)
        let snapshot = try table.snapshot()
        let predicates = Self.predicates(&random)
        let all = predicates + (0..<25).map { _ in Self.combined(&random) }
        for (number, predicate) in all.enumerated() {
          let found = Result { try snapshot.matches(where: predicate).ids }
          switch (found, expected(predicate, snapshot)) {
          case (.success(let found), .success(let expected)):
            #expect(found == expected, "round \(round), predicate \(number)")
            let first = try snapshot.first(where: predicate)
            #expect(first?.id == expected.first)
          case (.failure, .failure): break
          case (let found, let expected): Issue.record("predicate \(number): \(found) and \(expected)")
          }
        }
      }
    }
  }

  /// Those that are answered by fields alone, and those that are not.
  @Test func usualPredicatesTakeNoWholeValue() throws {
    var random = SeededRandom.fromEnvironment("kinds of predicates")
    let whole = Self.predicates(&random).enumerated().filter {
      CompiledPredicate($0.element, in: OrderedRecords()) == nil
    }.map(\.offset)
    // A computed property, and an operation that is not known.
    #expect(whole == [30, 36, 39])
  }

  @Test func onlyNamedFieldsAreRead() throws {
    try withStore { store in
      try store.table("foods").add(contentsOf: [
        ["k": 5, "name": 7], ["k": 50], ["name": "x"], ["k": "many"],
      ])
      let foods = try store.table(TableName<Food>("foods")).snapshot()
      let predicate = #Predicate<Food> { ($0.kcal ?? 0) > 10 }
      let found = try foods.matches(where: RecordPredicate("k != 'many'"))
      #expect(found.count == 3)
      let error = storeError { _ = try foods.records(where: predicate) }
      #expect(error?.code == .invalidValue && error?.record == 4, "its field alone cannot tell")
      try store.table("foods").delete(4)
      #expect(try store.table(TableName<Food>("foods")).snapshot().records(where: predicate).map(\.id) == [2])
    }
  }

  @Test func errorOfPredicateComesThrough() throws {
    try withStore { store in
      let table = try store.table(TableName<Food>("foods"))
      var random = SeededRandom.fromEnvironment("errors of predicates")
      var food = Food.random(&random)
      food.kcal = nil
      try table.add(food)
      #expect(throws: PredicateError.self) {
        try table.snapshot().records(where: #Predicate { $0.kcal! > 1 })
      }
    }
  }

  @Test func verbsOfTablesTakePredicates() throws {
    try withStore { store in
      let table = try store.table(TableName<Food>("foods"))
      var random = SeededRandom.fromEnvironment("verbs with predicates")
      try table.add(contentsOf: (0..<10).map { _ in Food.random(&random) })
      let raw = try table.snapshot().count(where: #Predicate { $0.isRaw })
      #expect(try table.updateAll(where: #Predicate { $0.isRaw }) { $0.name = "raw" }.count == raw)
      #expect(try table.snapshot().count(where: #Predicate { $0.name == "raw" }) == raw)
      #expect(try table.delete(where: #Predicate { $0.name == "raw" }).count == raw)
      #expect(try table.count == 10 - raw)
    }
  }
}
