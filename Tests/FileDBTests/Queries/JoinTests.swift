import FileDB
import Foundation
import TestSupport
import Testing

private struct Group: Codable, Sendable {
  enum CodingKeys: String, CodingKey {
    case title
    case code = "c"
  }

  var code: String
  var title: String
}

private struct Food: Codable, Sendable {
  enum CodingKeys: String, CodingKey {
    case name
    case group = "g"
    case parent
  }

  var name: String
  var group: String?
  var parent: RecordID<Group>?
}

extension TableName {
  fileprivate static var foods: TableName<Food> { "foods" }
  fileprivate static var groups: TableName<Group> { "groups" }
}

@Suite struct JoinTests {
  private func withTables(_ body: (StoreSnapshot) throws -> Void) throws {
    try withStore { store in
      try store.table(TableName<Group>.groups).add(contentsOf: [
        Group(code: "01", title: "Dairy"), Group(code: "02", title: "Fruit"),
        Group(code: "01", title: "Milk"),
        Group(code: "é", title: "Café"),
      ])
      try store.table(TableName<Food>.foods).add(contentsOf: [
        Food(name: "apple", group: "02", parent: 2), Food(name: "brie", group: "01", parent: 9),
        Food(name: "water", group: nil, parent: nil), Food(name: "pear", group: "02", parent: 2),
        Food(name: "dust", group: "99", parent: nil), Food(name: "latte", group: "e\u{301}", parent: 4),
      ])
      try body(store.snapshot())
    }
  }

  private func text(
    _ pairs: some Sequence<(left: StoredRecord<Food>, right: StoredRecord<Group>)>
  ) throws -> [String] {
    try pairs.map { try "\($0.value.name) \($1.value.title)" }
  }

  @Test func innerJoinHasEachPair() throws {
    try withTables { all in
      let foods = all[TableName<Food>.foods]
      let pairs = try foods.joined(to: all[TableName<Group>.groups], on: \.group, \.code)
      let expected = ["apple Fruit", "brie Dairy", "brie Milk", "pear Fruit", "latte Café"]
      #expect(try text(pairs) == expected, "in Swift, the two é are equal")
      #expect(try text(pairs) == expected, "it can be asked again")
      let chosen = try foods.matches(where: RecordPredicate("name < 'c'"))
      #expect(
        try text(chosen.joined(to: all[TableName<Group>.groups], on: \.group, \.code)) == [
          "apple Fruit", "brie Dairy", "brie Milk",
        ])
      let milk = try all[TableName<Group>.groups].matches(where: RecordPredicate("title == 'Milk'"))
      #expect(try text(foods.joined(to: milk, on: \.group, \.code)) == ["brie Milk"])
    }
  }

  @Test func unmatchedRecordsStay() throws {
    try withTables { all in
      let pairs = try all[TableName<Food>.foods].joined(
        to: all[TableName<Group>.groups], on: \.group, \.code)
      let names = try pairs.withUnmatched.map { try "\($0.value.name) \($1?.value.title ?? "-")" }
      #expect(
        names == [
          "apple Fruit", "brie Dairy", "brie Milk", "water -", "pear Fruit", "dust -", "latte Café",
        ])
    }
  }

  @Test func joinsByID() throws {
    try withTables { all in
      let pairs = try all[TableName<Food>.foods].joined(to: all[TableName<Group>.groups], by: \.parent)
      #expect(try text(pairs) == ["apple Fruit", "pear Fruit", "latte Café"])
      #expect(pairs.withUnmatched.map(\.right?.id) == [2, nil, nil, 2, nil, 4])
    }
  }

  @Test func joinsByName() throws {
    try withStore { store in
      try store.table("a").add(contentsOf: [
        ["k": 1], ["k": 2.0], ["k": "1"], ["k": .real(.nan)], [:], ["k": "é"],
      ])
      try store.table("b").add(contentsOf: [
        ["n": 1.0], ["n": .real(.nan)], ["n": 2], [:], ["n": "e\u{301}"], ["n": 1],
      ])
      let all = try store.snapshot()
      let pairs = try all["a"].joined(to: all["b"], on: "k", "n")
      #expect(pairs.map(\.left.id) == [1, 1, 2] && pairs.map(\.right.id) == [1, 6, 3])
      #expect(pairs.withUnmatched.map(\.left.id) == [1, 1, 2, 3, 4, 5, 6])
    }
  }

  @Test func missingFieldsOnBothSidesAreNoPair() throws {
    try withTables { all in
      let foods = all[TableName<Food>.foods]
      let pairs = try foods.joined(to: foods, on: \.group, \.group)
      #expect(pairs.map(\.left.id) == [1, 1, 2, 4, 4, 5, 6])
    }
  }

  @Test func agreesWithEachPair() throws {
    var random = SeededRandom.fromEnvironment("joins")
    try withStore { store in
      for name in ["a", "b"] {
        try store.table(name).add(
          contentsOf: (0..<700).map { _ in ["k": .integer(.random(in: 0..<400, using: &random))] })
      }
      let all = try store.snapshot()
      let (a, b) = (all["a"], all["b"])
      let expected = a.flatMap { left in b.filter { $0["k"] == left["k"] }.map { [left.id, $0.id] } }
      #expect(try a.joined(to: b, on: "k", "k").map { [$0.id, $1.id] } == expected)
    }
  }
}
