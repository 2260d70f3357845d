import FileDB
import Foundation
import TestSupport
import Testing

private struct Food: Codable, Sendable {
  var name: String
  var kcal: Int?
}

@Suite struct SortTests {
  /// One value of each kind and some that are close, in the documented order.
  private static let ordered: [PlistValue] = [
    false, true, .real(-.infinity), .integer(.min), -1.5, -1, 0, 0.5, 1, 9_007_199_254_740_992,
    .integer(9_007_199_254_740_993), .integer(.max), .unsigned(9_223_372_036_854_775_808), .unsigned(.max),
    1e300,
    .real(.infinity), .real(.nan), .date(Date(timeIntervalSince1970: 0)),
    .date(Date(timeIntervalSince1970: 1)), "", "B",
    "a", "item 10", "item 2", "z", "é", .data(Data()), .data(Data([1])), .data(Data([1, 0])),
    .data(Data([2])), [1], [:],
  ]

  @Test func sortOrdersValuesOfAllTypes() throws {
    try withStore { store in
      let table = try store.table("t")
      let shuffled = Self.ordered.indices.reversed().enumerated().sorted {
        $0.offset * 7 % 31 < $1.offset * 7 % 31
      }.map(\.element)
      try table.add(contentsOf: shuffled.map { ["v": Self.ordered[$0]] } + [["w": 1]])
      try table.sort(by: [.ascending("v")])
      #expect(table.lastSnapshot.map { $0.fields["v"] } == Self.ordered + [nil])
      try table.sort(by: [.descending("v")])
      #expect(
        table.lastSnapshot.map { $0.fields["v"] } == Self.ordered.reversed() + [nil], "missing ones stay last"
      )
    }
  }

  @Test func equalNumbersOfDifferentTypesKeepTheirOrder() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [["v": 1.0], ["v": 1], ["v": 1.0], ["v": 0]])
      #expect(try table.lastSnapshot.sorted(by: [.ascending("v")]).map(\.id) == [4, 1, 2, 3])
      #expect(try table.lastSnapshot.sorted(by: [.descending("v")]).map(\.id) == [1, 2, 3, 4])
    }
  }

  @Test func sortBySeveralKeysIsStable() throws {
    try withStore { store in
      let table = try store.table("t")
      let records: [Fields] = [
        ["g": "b", "n": 1], ["g": "a", "n": 1], ["g": "b", "n": 2], ["g": "a", "n": 1], ["n": 9], ["g": "a"],
      ]
      try table.add(contentsOf: records)
      let view = try table.lastSnapshot.sorted(by: [.ascending("g"), .descending("n")]).map(\.id)
      #expect(view == [2, 4, 6, 3, 1, 5])
      #expect(table.lastSnapshot.ids == [1, 2, 3, 4, 5, 6], "a view changes nothing")
      try table.sort(by: [.ascending("g"), .descending("n")])
      #expect(table.lastSnapshot.ids == view)
    }
  }

  @Test func localizedOrderSortsTextLikeAPerson() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: ["item 10", "Item 2", "apple", "item 1", "Zoo"].map { ["v": .string($0)] })
      func order(_ text: TextOrder) throws -> [PlistValue?] {
        try table.lastSnapshot.sorted(by: [.ascending("v", text: text)]).map { $0.fields["v"] }
      }
      #expect(try order(.bytes) == ["Item 2", "Zoo", "apple", "item 1", "item 10"])
      #expect(try order(.localized) == ["apple", "item 1", "Item 2", "item 10", "Zoo"])
    }
  }

  @Test func nanSortsLastWithoutDisturbingOthers() throws {
    try withStore { store in
      let table = try store.table(TableName<[String: Double]>("t"))
      try table.add(contentsOf: [3, .nan, 1, 2, .nan, 0].map { ["d": $0] })
      try table.sort(by: { $0["d"] })
      #expect(table.lastSnapshot.ids == [6, 3, 4, 1, 2, 5])
      try table.sort(by: { $0["d"] }, order: .reverse)
      #expect(table.lastSnapshot.ids == [1, 4, 3, 6, 2, 5])
    }
  }

  /// A column compares by short keys first; its order must be that of the whole values.
  @Test(arguments: [TextOrder.bytes, .localized])
  func sortColumnAgreesWithComparisonOfValues(text: TextOrder) {
    let reals = [
      0, -0.0, 1, -1, 1.5, .infinity, -.infinity, .nan, 0x1p53, 0x1p63, 0x1p64, 1e300, 1e-300, -1e-300,
    ]
    let integers = [0, 1, -1, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1, .max, .min] as [Int64]
    let texts = [
      "", "a", "a\0", "ab", "B", "item 2", "item 10", "same beginning", "same beginninh", "é", "e\u{301}",
    ]
    var values: [PlistValue?] = [nil, .bool(true), .bool(false), .unsigned(.max), .unsigned(1 << 63)]
    values += reals.map(PlistValue.real) + integers.map(PlistValue.integer) + texts.map(PlistValue.string)
    values += [.date(Date(timeIntervalSince1970: 0)), .date(Date(timeIntervalSince1970: -5e10))]
    values += [.data(Data()), .data(Data([0])), .array([]), .array([1]), .dict([:])]
    for key in [SortKey.ascending("f", text: text), .descending("f", text: text)] {
      let column = SortColumn(key, values)
      for left in values.indices {
        for right in values.indices {
          let expected = key.compare(values[left], values[right])
          let (one, other) = (values[left]?.description ?? "none", values[right]?.description ?? "none")
          #expect(column.compare(left, right) == expected, "\(one), \(other)")
        }
      }
    }
  }

  @Test func typedRecordsSortByAnyComparableProperty() throws {
    try withStore { store in
      let foods = try store.table(TableName<Food>("food"))
      try foods.add(contentsOf: [
        Food(name: "pear", kcal: 57), Food(name: "fig", kcal: nil), Food(name: "apple", kcal: 52),
        Food(name: "kiwi", kcal: 57),
      ])
      try foods.sort(by: \.name)
      #expect(foods.lastSnapshot.ids == [3, 2, 4, 1])
      #expect(try foods.lastSnapshot.sorted(by: \.kcal).map(\.id) == [3, 4, 1, 2])
      #expect(try foods.lastSnapshot.sorted(by: \.kcal, order: .reverse).map(\.id) == [4, 1, 3, 2])
    }
  }

  struct Recipe: Codable, Sendable {
    enum Kind: String, Codable, Sendable { case soup, cake }
    struct Source: Codable, Sendable { var page: Int }

    var title: String
    var kind: Kind
    var minutes: Int?
    var rating = 0
    var source: Source
    @ExactDate var added = Date(timeIntervalSince1970: 0)
    let code: String

    enum CodingKeys: String, CodingKey {
      case title = "t"
      case kind, minutes, rating, source, added, code
    }
  }

  /// Nobody can make up a record that this type accepts, because of its enum.
  @Test func recordsShowTheFieldOfAProperty() throws {
    try withStore { store in
      let table = try store.table(TableName<Recipe>("recipes"))
      try table.sort(by: [SortKey(\Recipe.title)])
      #expect(try table.snapshot().sorted(by: [SortKey(\Recipe.title)]).isEmpty)
      let soup = try table.add(
        Recipe(title: "b", kind: .soup, minutes: 5, rating: 1, source: .init(page: 1), added: .now, code: "b")
      )
      #expect(try table.snapshot().sorted(by: [SortKey(\Recipe.title)]).map(\.id) == [soup])
      let cake = try table.add(Recipe(title: "a", kind: .cake, rating: 1, source: .init(page: 2), code: "c"))
      let pie = try table.add(
        Recipe(title: "c", kind: .cake, minutes: 1, rating: 1, source: .init(page: 0), code: "a"))
      func order(_ keys: SortKey...) throws -> [RecordID<Recipe>] {
        try table.snapshot().sorted(by: keys).map(\.id)
      }
      #expect(try order(SortKey(\Recipe.title)) == [cake, soup, pie])
      #expect(try order(SortKey(\Recipe.minutes)) == [pie, soup, cake])
      #expect(try order(SortKey(\Recipe.rating)) == [soup, cake, pie])
      #expect(try order(SortKey(\Recipe.source.page, .reverse)) == [cake, soup, pie])
      #expect(try order(SortKey(\Recipe.added), SortKey(\Recipe.title)) == [cake, pie, soup])
      #expect(try order(SortKey(\Recipe.code)) == [pie, soup, cake])
      #expect(try order(SortKey(\Recipe.kind)) == [cake, pie, soup])
      try table.sort(by: [SortKey(\Recipe.title)])
      #expect(try table.snapshot().ids == [cake, soup, pie])
    }
  }

  struct Twice: Codable, Sendable {
    enum Kind: String, Codable, Sendable { case a, b }

    let first: String
    let second: String
    let kind: Kind
  }

  @Test func recordsWithTheSameTextTwiceShowWhichFieldIsWhich() throws {
    try withStore { store in
      let table = try store.table(TableName<Twice>("t"))
      for text in ["y", "x"] { try table.add(Twice(first: text, second: text, kind: .a)) }
      #expect(try table.snapshot().sorted(by: [SortKey(\Twice.first)]).map(\.id) == [2, 1])
      try table.add(Twice(first: "a", second: "z", kind: .b))
      #expect(try table.snapshot().sorted(by: [SortKey(\Twice.first)]).map(\.id) == [3, 2, 1])
      #expect(try table.snapshot().sorted(by: [SortKey(\Twice.second)]).map(\.id) == [2, 1, 3])
    }
  }
}
