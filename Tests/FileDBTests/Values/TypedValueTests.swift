import FileDB
import Foundation
import TestSupport
import Testing

private enum Mood: String, Codable { case good, bad }

private enum Shape: Codable, Equatable {
  case circle(radius: Double)
  case square(Int)
  case none
}

private struct Part: Codable, Equatable {
  var name: String
  var weight: Double?
}

private struct Everything: Codable, Sendable, Equatable {
  var text = "ž\r\n"
  var flag = true
  var small: Int8 = -128
  var number = Int.min
  var large = UInt64.max
  var real = 0.1
  var float: Float = 0.5
  var date = Date(timeIntervalSince1970: 1_700_000_000)
  var data = Data([0, 255])
  var url = URL(string: "https://example.org/a?b=c")!
  var uuid = UUID()
  var decimal = Decimal(string: "12345678901234567890.123")!
  var missing: String?
  var present: Int? = 5
  var part = Part(name: "p", weight: nil)
  var parts = [Part(name: "q", weight: 2), Part(name: "r")]
  var byName = ["a": 1, "b": 2]
  var nested: [[Int]] = [[], [1, 2]]
  var mood = Mood.bad
  var shapes: [Shape] = [.circle(radius: 1.5), .square(2), .none]
  var any: PlistValue = ["x": [1, "y"]]
  var record: Fields = ["f": 1]
}

extension Mood: Sendable {}
extension Shape: Sendable {}
extension Part: Sendable {}

private class Animal: Codable {
  let name: String
  init(name: String) { self.name = name }
}

private final class Dog: Animal, @unchecked Sendable {
  let tricks: Int

  private enum CodingKeys: CodingKey { case tricks }

  init(name: String, tricks: Int) {
    self.tricks = tricks
    super.init(name: name)
  }

  required init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    tricks = try fields.decode(Int.self, forKey: .tricks)
    try super.init(from: fields.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(tricks, forKey: .tricks)
    try super.encode(to: fields.superEncoder())
  }
}

private struct Counted: Codable, Sendable { var n: Int }
private struct Nested: Codable, Sendable { var parts: [Part] }

@Suite struct TypedValueTests {
  @Test(arguments: StorePlace.allCases) func everyTypeRoundTrips(place: StorePlace) throws {
    try withStore(place) { store in
      let table = try store.table(TableName<Everything>("all"))
      let value = Everything()
      let id = try table.add(value)
      #expect(try table.value(of: id) == value)
      let fresh = try RecordStore(at: store.url, options: store.options)
      if place == .disk { #expect(try fresh.table(TableName<Everything>("all")).value(of: id) == value) }
    }
  }

  @Test func nilOmitsItsField() throws {
    try withStore { store in
      let table = try store.table(TableName<Everything>("all"))
      let id = try table.add(Everything())
      let record = table.lastSnapshot[id: id]?.fields
      #expect(record?["missing"] == nil)
      #expect(record?["part"] == ["name": "p"])
      #expect(record?["url"] == "https://example.org/a?b=c")
      #expect(record?["mood"] == "bad")
      #expect(record?["decimal"] == "12345678901234567890.123")
    }
  }

  @Test func updateKeepsStoredFormOfUnchangedFields() throws {
    try withStore { store in
      let raw = try store.table("t")
      // A real where the type has an integer, and a date as its owner wrote it.
      let id = try raw.add(["n": 2.0, "other": "x"])
      let typed = try store.table(TableName<Counted>("t"))
      try typed.update(RecordID(id)) { _ in }
      #expect(try raw.value(of: id) == ["n": 2.0, "other": "x"])
      try typed.update(RecordID(id)) { $0.n += 1 }
      #expect(try raw.value(of: id) == ["n": 3, "other": "x"])
    }
  }

  @Test func updateKeepsUnknownFieldsInsideNestedValue() throws {
    struct Outer: Codable, Sendable { var part: Part }
    try withStore { store in
      let raw = try store.table("t")
      let id = try raw.add(["part": ["name": "p", "colour": "red", "weight": 3.0]])
      try store.table(TableName<Outer>("t")).update(RecordID(id)) { outer in
        outer.part.name = "q"
        outer.part.weight = nil
      }
      #expect(try raw.value(of: id) == ["part": ["name": "q", "colour": "red"]])
    }
  }

  @Test func updateKeepsUnknownFieldsOfArrayElements() throws {
    try withStore { store in
      let raw = try store.table("t")
      let id = try raw.add(["parts": [["name": "p", "note": "mine"], ["name": "q", "note": "too"]]])
      let typed = try store.table(TableName<Nested>("t"))
      try typed.update(RecordID(id)) { $0.parts[0].name = "P" }
      #expect(
        try raw.value(of: id) == ["parts": [["name": "P", "note": "mine"], ["name": "q", "note": "too"]]])
      try typed.update(RecordID(id)) { $0.parts.reverse() }
      #expect(
        try raw.value(of: id) == ["parts": [["name": "q", "note": "too"], ["name": "P", "note": "mine"]]])
      try typed.update(RecordID(id)) { $0.parts[0] = Part(name: "new") }
      try typed.update(RecordID(id)) { $0.parts.insert(Part(name: "top"), at: 0) }
      #expect(
        try raw.value(of: id) == [
          "parts": [["name": "top"], ["name": "new", "note": "too"], ["name": "P", "note": "mine"]]
        ])
      try typed.update(RecordID(id)) { $0.parts.removeFirst(2) }
      #expect(try raw.value(of: id) == ["parts": [["name": "P", "note": "mine"]]])
      // A new element takes no fields from one that only moved away from its place.
      try typed.update(RecordID(id)) { $0.parts.append(Part(name: "last")) }
      try typed.update(RecordID(id)) { $0.parts = [Part(name: "first"), $0.parts[0]] }
      #expect(try raw.value(of: id) == ["parts": [["name": "first"], ["name": "P", "note": "mine"]]])
    }
  }

  /// Two stored elements look alike to the type, and hold an integer where it has a real.
  @Test func appendKeepsUnknownFieldsOfElementsThatLookAlike() throws {
    try withStore { store in
      let raw = try store.table("t")
      let part: PlistValue = ["name": "p", "weight": 2, "note": "mine"]
      let id = try raw.add(["parts": [part, ["name": "p", "weight": 2, "note": "too"]]])
      try store.table(TableName<Nested>("t")).update(RecordID(id)) { $0.parts.append(Part(name: "q")) }
      #expect(
        try raw.value(of: id)
          == ["parts": [part, ["name": "p", "weight": 2, "note": "too"], ["name": "q"]]])
    }
  }

  @Test func replacingWholeValueRepairsMismatchedRecord() throws {
    try withStore { store in
      let raw = try store.table("t")
      let id = try raw.add(["n": "text", "other": 1])
      let typed = try store.table(TableName<Counted>("t"))
      #expect(storeError { try typed.update(RecordID(id)) { $0.n += 1 } }?.code == .invalidValue)
      try typed.update(RecordID(id), to: Counted(n: 5))
      #expect(try raw.value(of: id) == ["n": 5, "other": 1])
    }
  }

  @Test func decodingErrorNamesFieldAndRecord() throws {
    try withStore { store in
      let raw = try store.table("t")
      let cases: [(Fields, field: String)] = [
        ([:], "n"), (["n": "text"], "n"), (["n": 1.5], "n"), (["n": .unsigned(.max)], "n"), (["n": [1]], "n"),
      ]
      for (record, field) in cases {
        let id = try raw.add(record)
        let error = try #require(
          storeError { _ = try store.table(TableName<Counted>("t")).value(of: RecordID(id)) })
        #expect(error.code == .invalidValue)
        #expect(error.field == field)
        #expect(error.record == AnyRecordID(id) && error.table == "t")
      }
      let id = try raw.add(["parts": [["name": "p"], ["weight": 1.0]]])
      let error = try #require(
        storeError { _ = try store.table(TableName<Nested>("t")).value(of: RecordID(id)) })
      #expect(error.field == "parts[1].name")
    }
  }

  @Test func superclassIsStoredInItsOwnField() throws {
    try withStore { store in
      let dogs = try store.table(TableName<Dog>("dogs"))
      let id = try dogs.add(Dog(name: "Rex", tricks: 3))
      #expect(try store.table("dogs").value(of: RecordID(id)) == ["super": ["name": "Rex"], "tricks": 3])
      let dog = try dogs.value(of: id)
      #expect(dog.name == "Rex" && dog.tricks == 3)
      try store.table("dogs").unset(["super"], of: id)
      #expect(storeError { _ = try dogs.value(of: id) }?.field == "super")
    }
  }

  @Test func valueThatFieldsCannotHoldIsRefused() throws {
    try withStore { store in
      #expect(storeError { try store.table(TableName<[Int]>("t")).add([1]) }?.code == .invalidValue)
      let error = try #require(
        storeError { try store.table(TableName<[String: [Int?]]>("t")).add(["a": [nil]]) })
      #expect(error.code == .invalidValue)
      #expect(error.field == "a[0]" && error.table == "t")
      let names = try store.tableNames
      #expect(names == [])
    }
  }
}
