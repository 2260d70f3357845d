import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct RecordFieldsDifferenceTests {
  private static let names = ["", "a", "a&b", "a<", "a0", "a!", "a>", "a\r", "b", "ba", "z", "ä", "a\u{308}"]
  private static let values: [PlistValue] = [
    .string(""), .string("1"), .string("<&>"), .string("é"), .string("e\u{301}"), .integer(1), .integer(-1),
    .real(1),
    .bool(true), .bool(false), .data(Data()), .data(Data([1, 2])), .array([]),
    .array([.dict([:]), .string("a")]),
    .dict([:]),
    .dict(["a": .string("1"), "b": .array([.integer(1)])]),
    .dict(["a": .string("1"), "b": .array([.integer(2)])]),
  ]

  @Test func fieldsThatDifferAreThoseOfTheDecodedRecords() {
    var random = SeededRandom.fromEnvironment("fields that differ")
    for _ in 0..<3_000 {
      let (old, new) = (Self.fields(&random), Self.fields(&random))
      var found: [String] = []
      EncodedRecord(id: 7, fields: Fields(old)).differences(to: EncodedRecord(id: 7, fields: Fields(new))) {
        found.append("\($0): \(String(describing: $1)), \(String(describing: $2))")
      }
      let names = PlistDictionary(lastOf: (old.keys + new.keys).map { .init(key: $0, value: .bool(true)) })
        .keys
      let expected = names.filter { old[$0] != new[$0] }
        .map { "\($0): \(String(describing: old[$0])), \(String(describing: new[$0]))" }
      #expect(found == expected, "seed \(random.seed)")
      var patched: [String] = []
      PlistDictionary.differences(old, new) {
        patched.append("\($0): \(String(describing: $1)), \(String(describing: $2))")
      }
      #expect(patched == expected, "seed \(random.seed)")
    }
  }

  private static func fields(_ random: inout SeededRandom) -> PlistDictionary {
    var fields = PlistDictionary()
    for name in names where Bool.random(using: &random) {
      fields[name] = values.randomElement(using: &random)
    }
    return fields
  }
}
