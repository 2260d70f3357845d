import TestSupport
import Testing

@testable import FileDB

/// Names of fields as people write them.
@Suite struct FieldReferenceTests {
  @Test(arguments: [
    ("a", ["a"]), ("a.b.c", ["a", "b", "c"]), ("a\\.b", ["a.b"]), ("a\\\\.b", ["a\\", "b"]),
    ("a\\b", ["a\\b"]),
    ("fields.id", ["id"]), ("fields.fields.id", ["fields.id"]), ("fields.id.x", ["id", "x"]),
    ("fields\\.id", ["fields.id"]), ("fields", ["fields"]), ("fields.x", ["fields", "x"]),
    ("x.id", ["x", "id"]),
    ("id_", ["id_"]), ("fields.fields", ["fields", "fields"]),
  ])
  func textNamesTheWayToAField(text: String, names: [String]) {
    #expect(FieldReference(text) == .path(names.map(FieldName.init)))
  }

  @Test(arguments: ["", ".", "a.", ".a", "a..b", "id.x"]) func textWithAnEmptyNameNamesNothing(text: String) {
    #expect(FieldReference(text) == nil)
  }

  @Test func idIsTheRecordsOwn() throws {
    #expect(FieldReference("id") == .id)
    try withStore { store in
      let table = try store.table("t")
      try table.add(["id": "own", "a": ["b": 1], "l": [["b": 2], ["c": 3]]])
      func value(_ text: String) -> PlistValue? { FieldReference(text)?.value(in: table.lastSnapshot[0]) }
      #expect(value("id") == 1)
      #expect(value("fields.id") == "own")
      #expect(value("a.b") == 1)
      #expect(value("l.b") == [2])
      #expect(value("a.c") == nil && value("id_") == nil && value("a.b.c") == nil)
    }
  }

  @Test(arguments: [
    "id", "fields.id", "fields.fields.id", "fields", "fields.idle", "id_", "a.id", "fields.", "",
  ])
  func exportedFieldNameReadsBackAsItself(name: String) {
    let printed = FieldName(name).besideID
    #expect(printed != "id")
    #expect(FieldName(besideID: printed)?.text ?? printed == name)
  }

  @Test func namesAreToldApartByTheirBytes() {
    #expect(FieldName("\u{e9}") != FieldName("e\u{301}"))
    #expect(Set([FieldName("\u{e9}"), FieldName("e\u{301}"), FieldName("\u{e9}")]).count == 2)
  }

  @Test func valueIsSetInDictionariesThatAreMadeForIt() throws {
    var fields: Fields = ["a": ["b": 1], "s": "text"]
    func set(_ value: PlistValue?, _ text: String) throws {
      guard case .path(let names)? = FieldReference(text) else {
        throw StoreError(.invalidValue, text)
      }
      try fields.set(value, at: names)
    }
    try set(2, "a.c")
    try set(3, "x.y.z")
    try set(nil, "a.b")
    try set(nil, "a.no.such")
    try set(nil, "s.t")
    #expect(fields == ["a": ["c": 2], "s": "text", "x": ["y": ["z": 3]]])
    let error = storeError { try set(1, "x.y.z.w") }
    #expect(error?.code == .invalidValue && error?.field == "x.y.z")
    #expect(fields == ["a": ["c": 2], "s": "text", "x": ["y": ["z": 3]]])
  }
}
