import FileDB
import Foundation
import TestSupport
import Testing

/// `Fields(encoding:)`: fields from values that are not literals.
@Suite struct FieldsEncodingTests {
  private enum Kind: String, Codable { case lamp }
  private struct Refused: Error, Encodable { func encode(to encoder: any Encoder) throws { throw self } }

  @Test func fieldsAreThoseThatAPropertyWouldHave() throws {
    let (name, watts, count, rooms) = ("Lamp", 7.5, 3, ["hall", "attic"])
    let (bought, broken, missing): (Date, Bool, String?) = (Date(timeIntervalSince1970: 5), true, nil)
    let fields = try Fields(encoding: [
      "name": name, "watts": watts, "count": count, "rooms": rooms, "bought": bought, "broken": broken,
      "missing": missing, "kind": Kind.lamp, "price": Decimal(2), "size": ["x": 1, "y": 2],
      "raw": PlistValue.array([1, "a"]), "id": RecordID<Fields>(4), "bytes": Data([1]),
    ])
    #expect(
      fields == [
        "name": "Lamp", "watts": 7.5, "count": 3, "rooms": ["hall", "attic"], "bought": .date(bought),
        "broken": true, "kind": "lamp", "price": "2", "size": ["x": 1, "y": 2], "raw": [1, "a"], "id": 4,
        "bytes": .data(Data([1])),
      ])
    #expect(try Fields(encoding: [:]) == [:])
    #expect(try Fields(encoding: ["a": 1, "a": 2]) == ["a": 2])
    try withStore { store in
      let things = try store.table("things")
      let id = try things.add(Fields(encoding: ["name": name]))
      try things.set(Fields(encoding: ["count": count]), of: id)
      #expect(try things.value(of: id) == ["name": "Lamp", "count": 3])
    }
  }

  @Test func whatCannotBeAFieldIsNamed() {
    let values: [any Encodable] = [[1, nil] as [Int?], Refused()]
    for value in values {
      let error = storeError { _ = try Fields(encoding: ["ok": 1, "bad": value]) }
      #expect(error?.code == .invalidValue && error?.field?.hasPrefix("bad") == true, "\(value)")
    }
  }
}
