import FileDB
import FileDBPlist
import TestSupport
import Testing

private struct Chore: DefaultedValue, Equatable {
  var title: String
  var isDone = false
  var room: String? = "hall"
  var place = Place(x: 1, y: 2)

  struct Place: Codable, Equatable {
    var x: Int
    var y: Int
  }

  static let defaults = Chore(title: "")
}

private let chores = TableName<Chore>("chores")

@Suite struct DefaultedValueTests {
  @Test(arguments: StorePlace.allCases) func missingFieldIsReadFromPrototype(place: StorePlace) throws {
    try withStore(place) { store in
      let raw = try store.table("chores")
      let table = try store.table(chores)
      try raw.add(contentsOf: [["title": "a"], [:], ["title": "b", "isDone": true, "room": "attic"]])
      let values = [
        Chore(title: "a", room: nil), Chore(title: "", room: nil),
        Chore(title: "b", isDone: true, room: "attic"),
      ]
      #expect(try table.snapshot().values().get() == values)
      #expect(try table.snapshot().map { try $0.value } == values)
      #expect(try table.snapshot().records.filter(\.isDone).map(\.id) == [3])
      #expect(try table.snapshot().sorted(by: \.title).map(\.id) == [2, 1, 3])
      #expect(try table.withLookup(by: \.isDone).records(where: \.isDone, equals: false).map(\.id) == [1, 2])
      #expect(try table.record(with: 1).decode(Bool.self, "isDone") == false)
    }
  }

  @Test func questionsSeeDefaultsAndUntypedTablesDoNot() throws {
    try withStore { store in
      let raw = try store.table("chores")
      let table = try store.table(chores)
      try raw.add(contentsOf: [["title": "a"], ["isDone": true]])
      let isOpen = try RecordPredicate("isDone == FALSE AND place.x == 1")
      #expect(try table.snapshot().records(where: isOpen).map(\.id) == [1])
      #expect(try table.snapshot().first(where: isOpen)?.id == 1)
      #expect(try isOpen.matches(table.record(with: 1)) && isOpen.unknownFields(in: table.snapshot()).isEmpty)
      #expect(try raw.snapshot().records(where: isOpen).isEmpty)
      #expect(try table.lastSnapshot.sorted(by: [.ascending("title")]).map(\.id) == [2, 1])
      #expect(try raw.lastSnapshot.sorted(by: [.ascending("title")]).map(\.id) == [1, 2])
      #expect(try table.record(with: 1).fields == ["title": "a"])
      #expect(try table.delete(where: RecordPredicate("isDone != FALSE")).ids == [2])
    }
  }

  /// A default is not written, so a new default also applies to existing records.
  @Test func updateWritesOnlyWhatChanged() throws {
    try withStore { store in
      let raw = try store.table("chores")
      let table = try store.table(chores)
      try raw.add(["mine": 1])
      try table.update(1) { $0.title = "x" }
      #expect(try raw.value(of: 1) == ["mine": 1, "title": "x"])
      try table.update(1) { $0.place.y = 3 }
      #expect(try table.value(of: 1).place == Chore.Place(x: 1, y: 3))
      try table.unset(["place"], of: 1)
      #expect(try table.value(of: 1).place == Chore.Place(x: 1, y: 2))
    }
  }

  @Test func nilStaysNilWhateverThePrototypeHas() throws {
    try withStore { store in
      let table = try store.table(chores)
      let id = try table.add(Chore(title: "a", room: nil))
      #expect(try table.value(of: id).room == nil)
      #expect(try table.snapshot().count(where: RecordPredicate("room == NULL")) == 1)
    }
  }

  /// A default is for whole fields. If a key is missing in a dictionary, it is an error, as in any type.
  @Test func defaultsDoNotReachIntoDictionaries() throws {
    try withStore { store in
      let raw = try store.table("chores")
      try raw.add(["title": "a", "place": ["x": 5]])
      let error = try #require(storeError { _ = try store.table(chores).value(of: 1) })
      #expect(error.code == .invalidValue && error.field == "place.y")
    }
  }

  @Test func wrongFieldIsNoMissingField() throws {
    try withStore { store in
      try store.table("chores").add(["title": "a", "isDone": "yes"])
      let error = try #require(storeError { _ = try store.table(chores).snapshot().values().get() })
      #expect(error.code == .invalidValue && error.field == "isDone")
    }
  }

  @Test func valueOfTypesOwnDecoderCounts() throws {
    struct Own: DefaultedValue {
      var count: Int
      init(count: Int) { self.count = count }
      init(from decoder: any Decoder) throws {
        count = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Int.self, forKey: .count) ?? 7
      }
      static let defaults = Own(count: 1)
    }
    try withStore { store in
      try store.table("t").add([:])
      let table = try store.table(TableName<Own>("t"))
      #expect(try table.value(of: 1).count == 7)
      #expect(try table.snapshot().count(where: RecordPredicate("count == 7")) == 1)
    }
  }

  @Test func prototypeThatCannotBeStoredIsAnError() throws {
    struct Broken: DefaultedValue {
      var text = "\u{0}"
      static let defaults = Broken()
    }
    try withStore { store in
      try store.table("t").add([:])
      let error = try #require(storeError { _ = try store.table(TableName<Broken>("t")).value(of: 1) })
      #expect(error.code == .invalidValue && error.message.contains("defaults"))
    }
  }

  @Test func defaultsAndVersionsGoTogether() throws {
    struct Both: VersionedValue, DefaultedValue, Equatable {
      var title: String
      var tags: [String]
      static let defaults = Both(title: "", tags: ["new"])
      static let migrations: [ValueMigration] = [.rename("name", to: "title")]
    }
    try withStore { store in
      let raw = try store.table("t")
      let table = try store.table(TableName<Both>("t"))
      try raw.add(contentsOf: [["name": "a"], ["title": "b"], ["title": "c", "wgFileDbVersion": 1]])
      try raw.add(["tags": ["x"]])
      #expect(try table.snapshot().values().get().map(\.title) == ["a", "b", "c", ""])
      #expect(try table.snapshot().records(where: RecordPredicate("'new' IN tags")).map(\.id) == [1, 2, 3])
    }
  }
}
