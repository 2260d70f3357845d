import FileDB
import Foundation
import TestSupport
import Testing

/// What `update` writes for types that are not simple structs.
@Suite struct ChangedValueTests {
  final class Person: Codable, Sendable {
    nonisolated(unsafe) var name: String
    nonisolated(unsafe) var age: Int

    init(name: String, age: Int) { (self.name, self.age) = (name, age) }
  }

  struct Team: Codable, Sendable {
    var lead: Person
    var size = 1
  }

  @Test func changesOfObjectsAreStored() throws {
    try withStore { store in
      let people = try store.table(TableName<Person>("people"))
      let ids = try people.add(contentsOf: [Person(name: "Ada", age: 30), Person(name: "Eva", age: 40)])
      try people.update(ids[0]) { $0.age = 31 }
      #expect(try people.record(with: ids[0]).value.age == 31)
      try people.update(ids) { $0.age += 1 }
      try people.updateAll { $0.name += "!" }
      try store.write { tx in try tx[TableName<Person>("people")].update(ids[1]) { $0.age += 1 } }
      let found = try people.snapshot().map { try $0.value }
      #expect(found.map(\.age) == [32, 42] && found.map(\.name) == ["Ada!", "Eva!"])
      let teams = try store.table(TableName<Team>("teams"))
      let team = try teams.add(Team(lead: Person(name: "Ida", age: 20)))
      try teams.update(team) { $0.lead.age = 21 }
      #expect(try teams.record(with: team).value.lead.age == 21)
    }
  }

  @Test func updateReturnsWhatItsBodyReturns() throws {
    try withStore { store in
      let people = try store.table(TableName<Person>("people"))
      let id = try people.add(Person(name: "Ada", age: 30))
      let age = try people.update(id) { person in
        person.age += 1
        return person.age
      }
      #expect(age == 31)
    }
  }

  struct Parts: Codable, Sendable, Equatable {
    var a: Int?
    var b: Bool?
    var c: String?
    var d: [Int]?
    var e: Date?
    var f: Double?
    var g: UInt8?
    var n = 0
  }

  /// Each field of the type gets the new value, whatever was there.
  @Test(arguments: ["a", "b", "c", "d", "e", "f", "g"]) func newValueReplacesWhatDoesNotFit(field: String)
    throws
  {
    try withStore { store in
      let parts = try store.table(TableName<Parts>("parts"))
      let id = try parts.add(Parts(a: 1, b: true, c: "c", d: [1], e: .now, f: 1, g: 1))
      let raw = try store.table("parts")
      try raw.set([field: ["of": "another kind"], "own": "kept"], of: RecordID(id))
      #expect(storeError { _ = try parts.record(with: id).value }?.code == .invalidValue)
      try parts.update(id, to: Parts(n: 7))
      #expect(try parts.record(with: id).value == Parts(n: 7))
      #expect(try raw.record(with: RecordID(id)).fields == ["n": 7, "own": "kept"])
    }
  }

  struct Item: Codable, Sendable, Equatable {
    var title: String
    var count = 1
  }

  struct List: Codable, Sendable { var items: [Item] }

  @Test func anotherElementDoesNotGetTheUnknownFieldsOfTheOneBefore() throws {
    try withStore { store in
      let raw = try store.table("lists")
      let items: PlistValue = [
        ["title": "A", "count": 1, "own": "a"], ["title": "B", "count": 2, "own": "b"],
      ]
      let id = try raw.add(["items": items])
      let lists = try store.table(TableName<List>("lists"))
      try lists.update(RecordID(id)) { $0.items[0] = Item(title: "C", count: 9) }
      #expect(
        try raw.record(with: id).fields["items"]
          == [["title": "C", "count": 9], ["title": "B", "count": 2, "own": "b"]])
      try lists.update(RecordID(id)) { $0.items[1].count = 3 }
      #expect(
        try raw.record(with: id).fields["items"]
          == [["title": "C", "count": 9], ["title": "B", "count": 3, "own": "b"]])
    }
  }

  struct Log: Codable, Sendable {
    var days: Set<Date> = []
    var notes: [Date: String] = [:]
    var exact: [ExactDate: String] = [:]
  }

  @Test func datesThatWouldBecomeOneAreRefused() throws {
    try withStore { store in
      let logs = try store.table(TableName<Log>("logs"))
      let dates = [100.25, 100.75].map { Date(timeIntervalSince1970: $0) }
      for log in [Log(days: Set(dates)), Log(notes: [dates[0]: "a", dates[1]: "b"])] {
        let error = storeError { try logs.add(log) }
        #expect(error?.code == .invalidValue && error?.message.contains("ExactDate") == true)
        #expect(["days", "notes"].contains(error?.field))
      }
      let exact = Log(
        days: [dates[0]], notes: [dates[1]: "b"],
        exact: Dictionary(uniqueKeysWithValues: zip(dates.map { ExactDate($0) }, ["a", "b"])))
      let id = try logs.add(exact)
      #expect(try logs.record(with: id).value.exact.count == 2)
    }
  }

  struct Event: Codable, Sendable { var at: Date }

  @Test(arguments: [false, true]) func queryFindsDateThatWasStoredWithIt(hasLookup: Bool) throws {
    try withStore { store in
      var events = try store.table(TableName<Event>("events"))
      if hasLookup { events = events.withLookup(by: \.at) }
      let now = Date(timeIntervalSince1970: 1_000_000.6)
      let id = try events.add(Event(at: now))
      #expect(try events.records(where: \.at, equals: now).map(\.id) == [id])
      #expect(try events.records(where: \.at, in: now...).map(\.id) == [id])
      #expect(try events.records(where: \.at, in: ...now).map(\.id) == [id])
      #expect(try events.records(where: \.at, in: ..<now).isEmpty)
    }
  }
}
