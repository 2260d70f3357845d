import FileDB
import TestSupport
import Testing

private struct Recipe: VersionedValue, Equatable {
  var title: String
  var minutes: Int
  var note: String?

  static let migrations: [ValueMigration] = [
    .rename("name", to: "title"),
    .custom(replacing: ["hours"]) { fields in
      fields["minutes"] = fields["minutes"] ?? .integer((fields["hours"]?.integer ?? 0) * 60)
      fields["hours"] = nil
    },
    .rename("remark", to: "note"),
  ]
}

private struct Task: VersionedValue {
  var title: String
  var archived: Bool

  static let migrations: [ValueMigration] = [
    .custom { $0["archived"] = $0["archived"] ?? $0["done"] ?? false }
  ]
}

private let recipes = TableName<Recipe>("recipes")
private let versionKey = "wgFileDbVersion"

@Suite struct EvolutionTests {
  /// A former migration left `["minutes": 5]` of it.
  @Test func updateOfRecordWithoutVersionKeepsItsFields() throws {
    try withStore { store in
      let table = try store.table(recipes)
      let raw = try store.table("recipes")
      let id = try raw.add(["title": "Cherry", "minutes": 1, "mine": true])
      try table.update(RecordID(id)) { $0.minutes = 5 }
      #expect(try raw.value(of: id) == ["title": "Cherry", "minutes": 5, "mine": true, "wgFileDbVersion": 3])
      let bare = try raw.add(["title": "Bare", "wgFileDbVersion": 0])
      try table.set(["minutes": 5], of: RecordID(bare))
      #expect(try raw.value(of: bare) == ["title": "Bare", "minutes": 5, "wgFileDbVersion": 3])
    }
  }

  /// It deleted a record whose migrated field is true.
  @Test func deletionAsksTheMigratedRecord() throws {
    try withStore { store in
      let raw = try store.table("tasks")
      try raw.add(["title": "old", "done": true])
      let tasks = try store.table(TableName<Task>("tasks"))
      #expect(try tasks.delete(where: RecordPredicate("archived != TRUE")).count == 0)
      #expect(try tasks.count == 1)
    }
  }

  @Test(
    arguments: [
      // What fits is the newest.
      (["title": "a", "minutes": 1], ["title": "a", "minutes": 1]),
      (["title": "a", "minutes": 1, "note": "n"], ["title": "a", "minutes": 1, "note": "n"]),
      // What lacks something, or has a former name, is old.
      (["name": "a", "hours": 2], ["title": "a", "minutes": 120]),
      (["title": "a", "hours": 2], ["title": "a", "minutes": 120]),
      (["title": "a"], ["title": "a", "minutes": 0]),
      (["title": "a", "minutes": 1, "remark": "n"], ["title": "a", "minutes": 1, "note": "n"]),
      // Nothing is overwritten.
      (["name": "b", "title": "a", "minutes": 1], ["name": "b", "title": "a", "minutes": 1]),
      (
        ["title": "a", "minutes": 1, "remark": "r", "note": "n"],
        ["title": "a", "minutes": 1, "remark": "r", "note": "n"]
      ),
      // Nothing is dropped either, whoever wrote it.
      (["name": "a", "hours": 1, "mine": [1, 2]], ["title": "a", "minutes": 60, "mine": [1, 2]]),
    ] as [(Fields, Fields)])
  func recordWithoutVersionIsReadAsWhatItIs(stored: Fields, newest: Fields) throws {
    try withStore { store in
      let raw = try store.table("recipes")
      let id = try raw.add(stored)
      let table = try store.table(recipes)
      let value = try table.value(of: RecordID(id))
      #expect(value.title == newest["title"]?.string && value.note == newest["note"]?.string)
      #expect(try table.records(where: \.minutes, equals: value.minutes).map(\.id) == [RecordID(id)])
      #expect(try table.migrate() == 1)
      var versioned = newest
      versioned[versionKey] = 3
      #expect(try raw.value(of: id) == versioned)
      #expect(try table.migrate() == 0)
    }
  }

  @Test func customStepKeepsWhatItDoesNotName() throws {
    struct Dropping: VersionedValue {
      var b: Int
      static let migrations: [ValueMigration] = [
        .custom {
          $0["b"] = 1
          $0["a"] = nil
        }
      ]
    }
    struct Overwriting: VersionedValue {
      var b: Int
      static let migrations: [ValueMigration] = [.custom { $0["a"] = 2 }]
    }
    try withStore { store in
      let raw = try store.table("t")
      let id = try raw.add(["a": 1])
      let error = try #require(
        storeError { _ = try store.table(TableName<Overwriting>("t")).value(of: RecordID(id)) })
      #expect(
        error.code == .migrationFailed && error.record == AnyRecordID(id) && error.message.contains("'a'"))
      try store.table(TableName<Dropping>("t")).migrate()
      #expect(try raw.value(of: id) == ["a": 1, "b": 1, "wgFileDbVersion": 1])
    }
  }

  @Test func conversionThatReturnsNothingKeepsTheField() throws {
    struct Timed: VersionedValue {
      var minutes: Int
      static let migrations: [ValueMigration] = [
        .convert("minutes") { $0.string.flatMap(Int64.init).map(PlistValue.integer) }
      ]
    }
    try withStore { store in
      let raw = try store.table("t")
      try raw.add(contentsOf: [["minutes": "5"], ["minutes": 7], ["minutes": "many"]])
      let table = try store.table(TableName<Timed>("t"))
      #expect(try table.snapshot().prefix(2).map { try $0.value.minutes } == [5, 7])
      #expect(storeError { _ = try table.value(of: 3) }?.code == .invalidValue)
      #expect(try table.snapshot().count(where: RecordPredicate("minutes == 'many'")) == 1)
    }
  }

  @Test func untypedAddGivesVersionToWhatLooksLikeRecordsWithVersion() throws {
    try withStore { store in
      let raw = try store.table("recipes")
      let table = try store.table(recipes)
      try raw.add(["name": "old"])
      #expect(try raw.value(of: raw.add(["title": "a"]))[versionKey] == nil)
      try table.add(Recipe(title: "b", minutes: 1), at: .index(1))
      #expect(try raw.value(of: raw.add(["title": "c", "minutes": 2]))[versionKey] == 3)
      // A record that has a version keeps it. One that may be older gets no version.
      let ids = try raw.add(contentsOf: [["name": "d"], ["title": "e", "minutes": 1, "wgFileDbVersion": 2]])
      #expect(try ids.map { try raw.value(of: $0)[versionKey] } == [nil, 2])
      #expect(try raw.value(of: raw.add(["minutes": 1]))[versionKey] == nil)
      try raw.delete(7)
      #expect(try table.snapshot().values().get().map(\.title) == ["old", "b", "a", "c", "d", "e"])
      // A type without versions is an old program's.
      struct OldRecipe: Codable { var name: String }
      let old = try store.table(TableName<OldRecipe>("recipes")).add(OldRecipe(name: "f"))
      #expect(try table.value(of: RecordID(old)) == Recipe(title: "f", minutes: 0))
    }
  }

  @Test func versionCannotBeChangedOrLost() throws {
    try withStore { store in
      let raw = try store.table("recipes")
      let table = try store.table(recipes)
      let id = try table.add(Recipe(title: "a", minutes: 1))
      let attempts: [() throws -> Void] = [
        { try table.set(["wgFileDbVersion": 1], of: id) }, { try table.unset([versionKey], of: id) },
      ]
      for attempt in attempts {
        let error = try #require(storeError(attempt))
        #expect(error.code == .reservedField && error.field == versionKey && error.record == AnyRecordID(id))
      }
      try raw.update(RecordID(id), to: ["title": "b", "minutes": 2])
      #expect(try raw.value(of: RecordID(id)) == ["title": "b", "minutes": 2, "wgFileDbVersion": 3])
    }
  }

  @Test func searchAndSortTakeRecordThatCannotBeMigratedAsItIsStored() throws {
    try withStore { store in
      let raw = try store.table("recipes")
      try raw.add(contentsOf: [["title": "newer", "wgFileDbVersion": 9], ["name": "older"]])
      let snapshot = try store.table(recipes).snapshot()
      #expect(snapshot.search("er", in: ["title"]).map(\.id) == [1, 2])
      #expect(try snapshot.sorted(by: [.descending("title")]).map(\.id) == [2, 1])
      let error = try #require(
        storeError { _ = try snapshot.records(where: RecordPredicate("title == 'older'")) })
      #expect(error.code == .newerVersion && error.record == 1 && error.table == "recipes")
    }
  }
}
