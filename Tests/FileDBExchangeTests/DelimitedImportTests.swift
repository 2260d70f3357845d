import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

@Suite struct DelimitedImportTests {
  private func records(_ text: String, _ importer: DelimitedImport) throws -> [Fields] {
    var sent = false
    let reader = DelimitedReader(name: "text", format: .csv) {
      defer { sent = true }
      return sent ? nil : Array(text.utf8)
    }
    var records: [Fields] = []
    #expect(try importer.run(reader, file: "text") { records.append($0) } == records.count)
    return records
  }

  @Test func textsGetGivenTypesAndEmptyTextsAreLeftOut() throws {
    let importer = DelimitedImport(types: [
      "i": .integer, "f": .float, "b": .bool, "d": .date, "x": .data, "j": .json,
    ])
    let text = """
      s,i,f,b,d,x,j
      007,-7,1.50,yes,2024-02-29,AQI=,"{""a"": [1, 2.5]}"
      ,,,,,,
      """
    #expect(
      try records(text, importer) == [
        [
          "s": "007", "i": -7, "f": 1.5, "b": true, "d": .date(Date(timeIntervalSince1970: 1_709_164_800)),
          "x": .data(Data([1, 2])), "j": ["a": [1, 2.5]],
        ], Fields(),
      ])
  }

  @Test func errorsNameFileAndLine() throws {
    let integer = DelimitedImport(types: ["n": .integer])
    let faults: [(String, DelimitedImport, line: Int?, words: String)] = [
      ("n\n1\nx\n", integer, 3, "'x' is not a whole number"),
      ("a,n\n1,2\n3\n", integer, 3, "expected 2 fields, found 1"),
      ("n,n\n", integer, 1, "two columns"), ("n,,m\n", integer, 1, "column 2 has no name"),
      ("", integer, nil, "empty"),
      ("a\n", integer, nil, "a type is given for 'n'"),
      ("a\nb\n\u{1}\n", DelimitedImport(), 3, "XML cannot hold the character U+0001"),
      ("wgFileDbSecretId\n5\n", DelimitedImport(), 2, "keeps the record's id"),
    ]
    for (text, importer, line, words) in faults {
      let error = try #require(storeError { _ = try records(text, importer) })
      #expect(error.line == line, "\(error)")
      #expect(error.message.contains(words), "\(error)")
      #expect(error.file == "text")
    }
  }

  @Test func textsThatDoNotFitTheirTypeAreRefused() {
    let refused: [(FieldType, [String])] = [
      (.integer, ["", "1.5", "1e3", "9223372036854775808x", "18446744073709551616", "one", "0x10", "-0X1F"]),
      (.float, ["", "1,5", "0x10", "1e999", "--1"]), (.bool, ["", "maybe", "2"]),
      (
        .date,
        [
          "", "2024", "2024-02", "2024-02-30", "2024-2-1", "tomorrow", "2024-02-29T12",
          "2024-02-29T12:00:00+25:00",
          "2024-02-29 ", "2024-02-29T12:00+1:00", "2024-02-29 12:00:00.", "0001-01-01T00:00+01:00",
          "9999-12-31T23:59:59-00:01", "2024-02-29 12:00  ",
        ]
      ),
      (.data, ["A", "!!!!"]),
      (.json, ["", "null", "[null]", "{", "nan"]),
    ]
    for (type, texts) in refused {
      for text in texts { #expect(type.value(of: text) == nil, "\(type) '\(text)'") }
    }
  }
}
