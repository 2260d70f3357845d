import TestSupport
import Testing

@testable import FileDB

/// Names in a predicate that no record has.
@Suite struct UnknownFieldsTests {
  private static let records: [Fields] = [
    ["title": "a", "n": 1, "tags": ["x"], "address": ["city": "Bonn", "geo": ["lat": 1]]],
    ["n": 2, "people": [["name": "Ann"], ["age": 5]], "rare": 1, "deep": [[["key": 1]]]],
  ]

  private func unknown(_ text: String) throws -> [String] {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: Self.records)
      let predicate = try RecordPredicate(text)
      let unknown = predicate.unknownFields(in: table.lastSnapshot)
      #expect(try table.lastSnapshot.matches(where: predicate).unknownFields == unknown, "\(text)")
      return unknown.map { $0.name + ($0.nearest.map { "~" + $0 } ?? "") }
    }
  }

  @Test(arguments: [
    "title == 'a'", "id == 1", "#title == NULL", "address.city == 'x' AND address.geo.lat > 0", "rare == 5",
    "tags[7] == 'x'", "tags.@count == 9", "ANY people.name == 'x'", "people[0].age == 1", "people.@count > 1",
    "1 == n", "n IN {rare, title}", "n BETWEEN {rare, 9}", "deep.key == 1", "TRUEPREDICATE",
  ])
  func namesOfAnyRecordAreKnown(text: String) throws {
    #expect(try unknown(text) == [])
  }

  @Test(arguments: [
    ("titel == 'a'", ["titel~title"]), ("Title == 'a'", ["Title~title"]), ("zzz == 'a'", ["zzz"]),
    ("n == 1 AND NOT (x1 == 2 OR x1 == 3)", ["x1"]), ("title == Buy", ["Buy"]),
    ("address.ctiy == 1", ["address.ctiy~address.city"]), ("address.geo.lon == 1", ["address.geo.lon"]),
    ("address.geo.lta == 1", ["address.geo.lta~address.geo.lat"]),
    ("adress.city == 1", ["adress.city~address.city"]),
    ("people.nmae == 1", ["people.nmae~people.name"]), ("title.x == 1", ["title.x"]),
    ("n IN {rrae, titles}", ["rrae~rare", "titles~title"]), ("n BETWEEN {nn, mm}", ["nn~n", "mm"]),
    ("ANY tagss CONTAINS tag", ["tagss~tags", "tag~tags"]),
  ])
  func unknownFieldsComeWithTheNearestName(text: String, names: [String]) throws {
    #expect(try unknown(text) == names)
  }

  @Test func tableWithoutRecordsKnowsEveryName() throws {
    try withStore { store in
      let predicate = try RecordPredicate("anything == 1")
      #expect(try predicate.unknownFields(in: store.table("none").lastSnapshot) == [])
    }
  }

  @Test func fieldOfOneRecordAmongManyIsKnown() throws {
    try withStore { store in
      let table = try store.table("t")
      var records = [Fields](repeating: ["a": 1], count: 5_000)
      records[4_321]["b"] = 1
      try table.add(contentsOf: records)
      let predicate = try RecordPredicate("a == 1 AND b == 1 AND c == NULL")
      let matches = try table.lastSnapshot.matches(where: predicate)
      #expect(matches.count == 1 && matches.records.map(\.id) == [4_322])
      #expect(matches.unknownFields.map(\.name) == ["c"])
    }
  }

  /// The table may be empty by then, and an empty table knows every name.
  @Test func deletionTellsOfUnknownFields() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: Self.records)
      let deleted = try table.delete(where: RecordPredicate("titel != 'a'"))
      #expect(deleted.count == 2 && deleted.ids == [1, 2])
      #expect(deleted.unknownFields == [UnknownField(name: "titel", nearest: "title")])
      #expect(try table.count == 0)
    }
  }

  @Test func fieldsAreKnownByTheirBytes() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(["e\u{301}": 1])
      let unknown = try RecordPredicate("é == 1").unknownFields(in: table.lastSnapshot)
      #expect(unknown == [UnknownField(name: "é", nearest: "e\u{301}")])
    }
  }

  @Test(arguments: [
    ("integr", "integer"), ("Integer", "integer"), ("flaot", "float"), ("dat", "data"), ("x", nil),
    ("tex", nil),
    ("", nil), ("bol", "bool"), ("jsno", "json"), ("intg", nil),
  ])
  func nearestNameIsOneThatAFewSlipsMakeOfIt(wanted: String, name: String?) {
    #expect(
      NearestName(to: wanted, among: ["float", "integer", "bool", "data", "date", "json"]).name == name)
  }
}
