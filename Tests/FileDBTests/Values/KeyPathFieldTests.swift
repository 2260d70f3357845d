import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDB

private enum Color: String, Codable { case red, green }
private enum Size: Int, Codable, CaseIterable {
  case small = 3
  case large = 8
}

private struct Address: Codable, Equatable {
  var city: String
  var zip: Int

  enum CodingKeys: String, CodingKey {
    case city = "t"
    case zip
  }
}

private struct Person: Codable, Sendable {
  var name: String
  var nick: String?
  var isFriend: Bool
  var born: Date
  var height: Double
  var tiny: UInt8
  var home: Address
  var work: Address?
  var boss: RecordID<Fields>?
  var size: Size
  var photo: Data
  var site: URL?
  var tags: [String]
  var friends: [Person]?

  enum CodingKeys: String, CodingKey {
    case name = "n"
    case nick = "name"
    case isFriend, born, height, tiny
    case home = "address"
    case work, boss
    case size = "s"
    case photo, site, tags, friends
  }

  var initial: Character { name.first ?? " " }
  var shouted: String { name.uppercased() }
  var isStranger: Bool { !isFriend }
  var fullName: String { name + (nick ?? "") }
}

private struct Checked: Codable, Sendable {
  var color: Color
  var n: Int
}

/// The same with an optional, which can be left out.
private struct Painted: Codable, Sendable {
  var color: Color?
  var n: Int
}

private struct Shaped: DefaultedValue {
  enum Shape: Codable, Equatable {
    case point
    case circle(radius: Int)
  }

  var color = Color.red
  var shape = Shape.point
  var n = 0

  static let defaults = Shaped()
}

private struct Aged: Codable, Sendable {
  var age: Int
  var years: Int

  init(from decoder: any Decoder) throws {
    age = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .age)
    years = age
  }
}

/// The field behind a key path, which is found by decoding made-up records.
@Suite struct KeyPathFieldTests {
  private func field<Field: Equatable>(_ path: KeyPath<Person, Field>) -> String? {
    StoredProperty.find(path)?.reference.title
  }

  @Test func propertyHasTheFieldOfItsCodingKey() {
    #expect(field(\.name) == "n")
    #expect(field(\.nick) == "name")
    #expect(field(\.isFriend) == "isFriend")
    #expect(field(\.born) == "born")
    #expect(field(\.height) == "height")
    #expect(field(\.tiny) == "tiny")
    #expect(field(\.boss) == "boss")
    #expect(field(\.size) == "s")
    #expect(field(\.photo) == "photo")
    #expect(field(\.site) == "site")
  }

  @Test func propertyOfADictionaryHasThePathToItsField() {
    #expect(field(\.home.city) == "address.t")
    #expect(field(\.home) == "address")
    #expect(field(\.work?.zip) == "work.zip")
  }

  @Test func computedPropertyHasNone() {
    #expect(field(\.initial) == nil)
    #expect(field(\.shouted) == nil)
    #expect(field(\.isStranger) == nil)
    #expect(field(\.fullName) == nil)
    #expect(field(\.tags.count) == nil)
  }

  @Test func typeThatRefusesMadeUpFieldsHasNone() {
    // FileDB cannot make up a value of the type: it cannot guess "red".
    #expect(StoredProperty.find(\Checked.n) == nil)
    // Two properties from one field.
    #expect(StoredProperty.find(\Aged.years) == nil)
  }

  @Test func enumThatIsOptionalOrHasDefaultDoesNotHideOtherProperties() {
    #expect(StoredProperty.find(\Painted.n)?.reference.title == "n")
    #expect(StoredProperty.find(\Shaped.n)?.reference.title == "n")
    // Nobody knows a value of this one.
    #expect(StoredProperty.find(\Painted.color) == nil)
    // Of this one, only the default is known.
    #expect(StoredProperty.find(\Shaped.shape)?.reference.title == "shape")
  }

  @Test func sortKeyOfAPropertySortsByItsField() throws {
    let store = RecordStore.inMemory()
    let people = try store.table("people")
    try people.add(contentsOf: [["n": "b", "name": "x"], ["n": "c", "name": "y"], ["n": "a", "name": "z"]])
    try people.sort(by: [SortKey(\Person.name)])
    #expect(try people.snapshot().ids == [3, 1, 2])
    try people.sort(by: [SortKey(\Person.nick, .reverse)])
    #expect(try people.snapshot().ids == [3, 2, 1])
    #expect(SortKey(\Person.name) == SortKey(\Person.name) && SortKey(\Person.name) != SortKey(\Person.nick))
    try store.checkInvariants()
  }

  private struct Greeting: Codable, Sendable {
    var name: String
    var shouted: String { name.uppercased() }
  }

  @Test func sortKeyOfAComputedPropertySortsByWhatItIs() throws {
    let store = RecordStore.inMemory()
    let table = try store.table(TableName<Greeting>("greetings"))
    try table.add(contentsOf: [Greeting(name: "b"), Greeting(name: "a"), Greeting(name: "C")])
    try table.sort(by: [SortKey(\Greeting.shouted)])
    #expect(try table.snapshot().ids == [2, 1, 3])
    try store.checkInvariants()
  }
}
