import FileDB
import Foundation
import Synchronization
import TestSupport
import Testing

/// Types between whose properties and fields there is more than a name.
@Suite struct PropertyQueryTests {
  /// Falls back to an older field.
  private struct Moved: Codable, Hashable, Sendable {
    var group: String
    var size: Int
    var rating: Int?

    init(group: String, size: Int, rating: Int?) {
      (self.group, self.size, self.rating) = (group, size, rating)
    }

    enum CodingKeys: String, CodingKey { case group, groupID, size, length, rating, stars }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      group =
        try fields.decodeIfPresent(String.self, forKey: .group)
        ?? fields.decode(String.self, forKey: .groupID)
      size = try fields.decodeIfPresent(Int.self, forKey: .size) ?? fields.decode(Int.self, forKey: .length)
      rating =
        try fields.decodeIfPresent(Int.self, forKey: .rating)
        ?? fields.decodeIfPresent(Int.self, forKey: .stars)
    }

    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: CodingKeys.self)
      try fields.encode(group, forKey: .group)
      try fields.encode(size, forKey: .size)
      try fields.encodeIfPresent(rating, forKey: .rating)
    }
  }

  private static let moved: [Fields] = [
    ["groupID": "b", "length": 7, "stars": 3], ["group": "a", "size": 2, "rating": 1],
    ["group": "c", "size": 9], ["groupID": "a", "size": 4, "rating": 2],
    ["group": "b", "length": 1, "stars": 1],
  ]

  /// Each query of a property gives what plain Swift gives for the decoded values.
  private func expectAgreement<Value: Codable & Sendable, Field: Codable & Hashable & Comparable & Sendable>(
    of records: [Fields], _ path: KeyPath<Value, Field> & Sendable,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try withStore { store in
      try store.table("t").add(contentsOf: records)
      let table = try store.table(TableName<Value>("t"))
      let snapshot = try table.snapshot()
      let all = try snapshot.values().get().map { $0[keyPath: path] }
      let ids = try snapshot.values().get().indices.map { snapshot[$0].id }
      func expect<Result: Equatable>(_ result: Result, _ expected: Result) {
        #expect(result == expected, sourceLocation: sourceLocation)
      }
      expect(try snapshot.minimum(of: path), all.min())
      expect(try snapshot.maximum(of: path), all.max())
      let groups = try snapshot.grouped(by: path)
      expect(
        Dictionary(uniqueKeysWithValues: groups.map { ($0.key, $0.records.map(\.id)) }),
        Dictionary(grouping: ids.indices, by: { all[$0] }).mapValues { $0.map { ids[$0] } })
      let pairs = try snapshot.joined(to: snapshot, on: path, path)
      expect(
        pairs.map { [$0.left.id, $0.right.id] },
        ids.indices.flatMap { left in
          ids.indices.filter { all[$0] == all[left] }.map { [ids[left], ids[$0]] }
        })
      let order = ids.indices.sorted { (all[$0], $0) < (all[$1], $1) }.map { ids[$0] }
      expect(try snapshot.sorted(by: [SortKey(path)]).map(\.id), order)
      expect(try snapshot.sorted(by: { $0[keyPath: path] }).map(\.id), order)
      for field in Set(all) {
        let equal = ids.indices.filter { all[$0] == field }.map { ids[$0] }
        let notAbove = ids.indices.filter { all[$0] <= field }.map { ids[$0] }
        for table in [table, try store.table(TableName<Value>("t")).withLookup(by: path)] {
          expect(try table.records(where: path, equals: field).map(\.id), equal)
          expect(try table.records(where: path, in: ...field).map(\.id), notAbove)
        }
      }
    }
  }

  @Test func typeThatFallsBackToAnOlderFieldAnswersAllQueriesAlike() throws {
    try expectAgreement(of: Self.moved, \Moved.group)
    try expectAgreement(of: Self.moved, \Moved.size)
    try withStore { store in
      try store.table("t").add(contentsOf: Self.moved)
      let items = try store.table(TableName<Moved>("t")).snapshot()
      #expect(try items.sum(of: \.size) == 23)
      #expect(try items.sum(of: \.rating) == 7 && items.maximum(of: \.rating) == 3)
      #expect(try items.count(where: #Predicate { $0.rating == nil }) == 1)
      #expect(try items.records(where: #Predicate { $0.rating == 1 }).map(\.id) == [2, 5])
      #expect(try items.records(where: \.rating, equals: 3).map(\.id) == [1])
      #expect(try items.records(where: \.rating, equals: nil).map(\.id) == [3])
      #expect(try items.sorted(by: [SortKey(\Moved.rating)]).map(\.id) == [2, 5, 4, 1, 3])
      #expect(try items.grouped(by: \.group, \.rating).map(\.count) == [1, 1, 1, 1, 1])
    }
  }

  private struct Item: Codable, Hashable, Sendable {
    enum State: String, Codable { case open, done }
    enum Grade: String, Codable, Comparable {
      case poor, fair, best
      static func < (left: Grade, right: Grade) -> Bool { left.rank < right.rank }
      private var rank: Int { self == .poor ? 0 : self == .fair ? 1 : 2 }
    }

    var state: State
    var grade: Grade
    var price: Decimal
    var time: Duration
    var name: String
    var discount: Decimal?
  }

  private static let items = [
    Item(
      state: .open, grade: .best, price: 10, time: .seconds(90), name: "b", discount: 0.1),
    Item(state: .done, grade: .poor, price: -3, time: .milliseconds(5), name: "a", discount: nil),
    Item(state: .open, grade: .fair, price: 9, time: .seconds(-2), name: "ä", discount: 2e3),
    Item(
      state: .done, grade: .poor, price: Decimal(string: "100.50") ?? 0, time: .seconds(90), name: "Z",
      discount: 0.25),
    Item(state: .done, grade: .best, price: 2e10, time: .zero, name: "a", discount: -7),
    Item(state: .open, grade: .fair, price: 0.25, time: .seconds(11), name: "", discount: nil),
  ]

  private func stored(_ values: [some Encodable & Codable & Sendable]) throws -> [Fields] {
    let store = RecordStore.inMemory()
    func fields<Value: Codable & Sendable>(_ values: [Value]) throws -> [Fields] {
      let table = try store.table(TableName<Value>("t"))
      try table.add(contentsOf: values)
      return try table.snapshot().map(\.fields)
    }
    return try fields(values)
  }

  @Test func ordersOfTypesAreTheOrdersOfAllQueries() throws {
    let records = try stored(Self.items)
    try expectAgreement(of: records, \Item.price)
    try expectAgreement(of: records, \Item.time)
    try expectAgreement(of: records, \Item.grade)
    try expectAgreement(of: records, \Item.name)
  }

  @Test func sortThatIsSavedHasTheOrderOfTheType() throws {
    try withStore { store in
      let table = try store.table(TableName<Item>("t"))
      try table.add(contentsOf: Self.items)
      try table.sort(by: [SortKey(\Item.price)])
      #expect(try table.snapshot().ids == [2, 6, 3, 1, 4, 5])
      try table.sort(by: [SortKey(\Item.discount, .reverse)])
      #expect(try table.snapshot().ids == [3, 4, 1, 5, 2, 6], "nil stays last")
      try table.sort(by: [SortKey(\Item.time), SortKey(\Item.price, .reverse)])
      #expect(try table.snapshot().ids == [3, 5, 2, 6, 4, 1])
      try table.sort(by: [SortKey(\Item.state)])
      #expect(
        try table.snapshot().ids == [5, 2, 4, 3, 6, 1], "an enum without an order has that of its raw values")
    }
  }

  private struct Tagged: Codable, Sendable {
    var tags: [String]
  }

  @Test func sortByAPropertyWithoutAnOrderIsAnError() throws {
    try withStore { store in
      let table = try store.table(TableName<Tagged>("t"))
      try table.add(contentsOf: [Tagged(tags: ["a"]), Tagged(tags: [])])
      let error = storeError { try table.sort(by: [SortKey(\Tagged.tags)]) }
      #expect(error?.code == .invalidValue && error?.message.contains("has no order") == true)
    }
  }

  @Test func amountsAreAddedUpByTheirOwnType() throws {
    try withStore { store in
      let table = try store.table(TableName<Item>("t"))
      #expect(try table.snapshot().sum(of: \.price) == 0)
      #expect(try table.snapshot().average(of: \.price) == nil)
      try table.add(contentsOf: Self.items)
      let items = try table.snapshot()
      #expect(try items.sum(of: \.price) == Self.items.map(\.price).reduce(0, +))
      #expect(try items.sum(of: \.discount) == Self.items.compactMap(\.discount).reduce(0, +))
      #expect(try items.average(of: \.discount) == Self.items.compactMap(\.discount).reduce(0, +) / 4)
      #expect(try items.sum(of: \.time) == Self.items.map(\.time).reduce(.zero, +))
      let open = try items.grouped(by: \.state).first { $0.key == Item.State.open }
      #expect(try open?.sum(of: \.price) == Decimal(string: "19.25"))
    }
  }

  /// Checks its fields, so that it refuses made-up ones, and counts how often it is decoded.
  private struct Checked: Codable, Sendable {
    enum State: String, Codable { case open, done }

    static let decodings = Mutex(0)

    var name: String
    var state: State
    var size: Int

    init(name: String, state: State, size: Int) { (self.name, self.state, self.size) = (name, state, size) }

    init(from decoder: any Decoder) throws {
      Self.decodings.withLock { $0 += 1 }
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      name = try fields.decode(String.self, forKey: .name)
      state = try fields.decode(State.self, forKey: .state)
      size = try fields.decode(Int.self, forKey: .size)
      guard name.hasPrefix("n"), (0..<1_000).contains(size) else {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not a name or a size"))
      }
    }
  }

  @Test func queriesReadOneFieldOfATypeThatChecksItsFields() throws {
    try withStore { store in
      let table = try store.table(TableName<Checked>("t"))
      try table.add(
        contentsOf: (0..<2_000).map {
          Checked(name: "n\($0)", state: $0 % 2 == 0 ? .open : .done, size: $0 % 1_000)
        })
      let all = try table.snapshot()
      let done = Checked.State.done
      #expect(try all.count(where: #Predicate { $0.state == done && $0.size < 10 }) == 10)
      #expect(try all.records(where: \.state, equals: .open).count == 1_000)
      #expect(try all.sum(of: \.size) == 999_000)
      #expect(try all.grouped(by: \.state).map(\.count) == [1_000, 1_000])
      #expect(try all.sorted(by: [SortKey(\Checked.name)]).first?.id == 1)
      #expect(Checked.decodings.withLock(\.self) < 200)
    }
  }

  @Test func recordThatDoesNotFitStopsNoQueryOfOtherFields() throws {
    try withStore { store in
      let plain = try store.table("t")
      try plain.add(contentsOf: try stored(Self.items))
      try plain.set(["name": 7], of: 2)
      let table = try store.table(TableName<Item>("t"))
      let items = try table.snapshot()
      #expect(try items.records(where: \.grade, equals: .poor).map(\.id) == [2, 4])
      #expect(try table.withLookup(by: \.grade).records(where: \.grade, equals: .poor).map(\.id) == [2, 4])
      #expect(try items.count(where: #Predicate { $0.price < 0 }) == 1)
      #expect(try items.sum(of: \.time) == Self.items.map(\.time).reduce(.zero, +))
      #expect(try items.minimum(of: \.price) == -3)
      #expect(try items.grouped(by: \.grade).count == 3)
      #expect(try items.sorted(by: [SortKey(\Item.price)]).first?.id == 2)
      #expect(storeError { _ = try items.maximum(of: \.name) }?.record == 2)
      #expect(storeError { _ = try items.records.filter { $0.price < 0 } }?.record == 2)

      let (fitting, faults) = items.withoutFaults()
      #expect(fitting.ids == [1, 3, 4, 5, 6] && faults.map(\.record) == [2])
      #expect(try fitting.maximum(of: \.name) == "ä")
      #expect(try fitting.records.filter { $0.price < 1 }.map(\.id) == [6])
      #expect(try fitting.records(where: \.name, equals: "a").map(\.id) == [5])
    }
  }

  private struct Numbered: Codable, Sendable {
    var id: Int
    var recordName: String?
  }

  private struct Named: Codable, Sendable {
    var recordID: String
  }

  @Test func idOfATypeWithItsOwnIDIsAmbiguousInAPredicate() throws {
    try withStore { store in
      let table = try store.table(TableName<Numbered>("t"))
      try table.add(contentsOf: [Numbered(id: 30), Numbered(id: 20)])
      let error = storeError { try table.delete(where: RecordPredicate("id > 1")) }
      #expect(error?.code == .invalidPredicate && error?.message.contains("fields.id or recordID") == true)
      #expect(try table.snapshot().count == 2)
      #expect(try table.snapshot().records(where: RecordPredicate("fields.id > 20")).map(\.id) == [1])
      #expect(try table.snapshot().records(where: RecordPredicate("recordID > 1")).map(\.id) == [2])
      let first = try table.snapshot()[0]
      #expect(storeError { _ = try RecordPredicate("id == 1").matches(first) }?.code == .invalidPredicate)
      #expect(
        try store.table("t").snapshot().count(where: RecordPredicate("id > 1")) == 1, "no type, one meaning")
    }
  }

  @Test func recordIDIsAmbiguousWhereAFieldHasThatName() throws {
    try withStore { store in
      let table = try store.table(TableName<Named>("t"))
      try table.add(contentsOf: [Named(recordID: "x"), Named(recordID: "y")])
      let error = storeError { _ = try table.snapshot().count(where: RecordPredicate("recordID == 'x'")) }
      #expect(error?.code == .invalidPredicate && error?.message.contains("write #recordID or id") == true)
      #expect(try table.snapshot().count(where: RecordPredicate("#recordID == 'x'")) == 1)
      #expect(try table.snapshot().count(where: RecordPredicate("id == 1")) == 1)
    }
  }
}
