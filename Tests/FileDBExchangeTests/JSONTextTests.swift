import FileDB
import FileDBExchange
import Foundation
import Testing

@Suite struct JSONTextTests {
  @Test func fieldNamedIDIsWrittenBehindFields() {
    let record: Fields = ["id": "a", "fields.id": "b", "id_": "c", "fields.idle": "d", "fields": "e"]
    #expect(
      JSONText.object(id: 1, record)
        == #"{"id": 1, "fields": "e", "fields.fields.id": "b", "fields.idle": "d", "fields.id": "a", "id_": "c"}"#
    )
  }

  @Test func everyTypeOfValueIsWrittenAsJSON() {
    let record: Fields = [
      "id": "own", "s": "a\"\\\n\u{7f}\u{9b}é", "i": -1, "u": .unsigned(.max), "r": 2.0, "n": .real(.nan),
      "b": false,
      "d": .date(Date(timeIntervalSince1970: 0)), "x": .data(Data([255])), "l": [1, ["k": "v"]],
    ]
    #expect(
      JSONText.object(id: 7, record)
        == #"{"id": 7, "b": false, "d": "1970-01-01T00:00:00Z", "i": -1, "fields.id": "own", "l": [1, {"k": "v"}], "n": "nan", "#
        + #""r": 2.0, "s": "a\"\\\n\u007f\u009bé", "u": 18446744073709551615, "x": "/w=="}"#)
  }
}
