import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// A text that does not end where it should costs no more than its limit.
@Suite struct TextLimitTests {
  /// An endless text: it begins with `start`, and `more` follows again and again. The pieces that were read are counted.
  private final class Endless {
    var pieces = 0

    func source(_ start: String, _ more: String) -> ImportSource {
      var source = ImportSource(name: "text") {
        self.pieces = 0
        return {
          self.pieces += 1
          return Array((self.pieces == 1 ? start : more).utf8)
        }
      }
      source.limits.recordBytes = 10_000
      source.limits.fields = 100
      source.limits.fileBytes = 20_000
      return source
    }
  }

  @Test(
    arguments: [
      (
        ExchangeFormat.delimited(.csv), "a,b\n1,2\n3,\"x", "yyyyyyyyyyyyyyyyyyyy",
        "a quote is opened here and not closed within 10,000 bytes", 3
      ),
      (.delimited(.csv), "a,b\n1,2\n3,x", "yyyyyyyyyyyyyyyyyyyy", "this row is longer than 10,000 bytes", 3),
      (.delimited(.csv), "a,b\n1,2\n3", ",1,2,3,4,5,6,7,8,9", "this row has more than 100 fields", 3),
      (
        .json, "[{\"a\": 1},\n{\"a\": \"x", "yyyyyyyyyyyyyyyyyyyy", "this value is longer than 10,000 bytes",
        2
      ),
      (
        .json, "[{\"a\": 1},\n{\"a\": 1", "111111111111111111111", "this value is longer than 10,000 bytes", 2
      ),
      (
        .json, "[{\"a\": 1},\n{\"a\": [1", ",1,1,1,1,1,1,1,1,1,1", "this value is longer than 10,000 bytes", 2
      ),
      (.json, "[{\"a\": 1},\n{\"a\": 1,", "\"b\": 2, ", "this value is longer than 10,000 bytes", 2),
      (
        .ndjson, "{\"a\": 1}\n{\"a\": \"x", "yyyyyyyyyyyyyyyyyyyy", "this value is longer than 10,000 bytes",
        2
      ),
      (.ndjson, "{\"a\": 1}\n{\n\"a\": [\n1", ",\n1", "this value is longer than 10,000 bytes", 2),
      (.plist, "<plist><array><string>", "yyyyyyyyyyyyyyyyyyyy", "the file is longer than 20000 bytes", nil),
      (.binaryPlist, "bplist00", "yyyyyyyyyyyyyyyyyyyy", "the file is longer than 20000 bytes", nil),
    ] as [(ExchangeFormat, String, String, String, Int?)])
  func endlessRecordEndsImportAtItsPlace(
    format: ExchangeFormat, start: String, more: String, message: String, line: Int?
  ) throws {
    try withStore { store in
      let text = Endless()
      let error = storeError {
        try store.write { transaction in
          _ = try TableImport(format: format).run(text.source(start, more), into: "t", in: &transaction)
        }
      }
      #expect(error?.message.contains(message) == true, "\(String(describing: error))")
      #expect(error?.line == line && error?.file == "text")
      #expect(text.pieces < 10_000)
      let table = try store.table("t").snapshot()
      #expect(!table.exists)
    }
  }

  /// What a record may be long is counted for each record.
  @Test(
    arguments: [
      (ExchangeFormat.delimited(.csv), "a\n", "\"xxxxxxxxxxxxxxxxxxxxxxxxx\"\n", ""),
      (.json, "[{\"a\": 0}", ",\n{\"a\": \"xxxxxxxxxxxxxxxxxxxxx\"}", "]"),
      (.ndjson, "{\"a\": 0}\n", "{\"a\": \"xxxxxxxxxxxxxxxxxxxxx\"}\n", ""),
      (.ndjson, "{\"a\": 0}\n", "{\n\"a\": \"xxxxxxxxxxxxxxxxxxxxx\"\n}\n", ""),
    ] as [(ExchangeFormat, String, String, String)])
  func manyRecordsMayBeLongerThanOne(format: ExchangeFormat, start: String, record: String, end: String)
    throws
  {
    try withStore { store in
      let text = start + String(repeating: record, count: 1000) + end
      var source = ImportSource(Array(text.utf8), name: "text")
      source.limits.recordBytes = 100
      try store.write { transaction in
        _ = try TableImport(format: format).run(source, into: "t", in: &transaction)
      }
      #expect(try store.table("t").snapshot().count >= 1000)
    }
  }

  /// Whether the first line is a whole object is found without keeping the line.
  @Test func formatOfALongLineIsRecognized() throws {
    let object = "{\"a\": [" + String(repeating: "1, ", count: 100_000) + "1]"
    for (text, format) in [
      (object + "}", ExchangeFormat.ndjson), (object + "\n}", .json),
      ("\n \n" + object + "} \n" + object, .ndjson),
    ] {
      let source = ImportSource(Array(text.utf8), name: "text")
      let found = try ExchangeFormat.format(of: source, beginning: Array("{".utf8))
      #expect(found.map { "\($0)" } == "\(format)")
    }
  }
}
