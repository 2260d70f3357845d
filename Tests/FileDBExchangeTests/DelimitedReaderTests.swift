import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

private func read(_ bytes: [UInt8], _ format: DelimitedFormat = .csv, piece: Int = .max) throws
  -> [DelimitedReader.Row]
{
  var rest = bytes[...]
  var reader = DelimitedReader(name: "text", format: format) {
    let next = rest.prefix(piece)
    rest = rest.dropFirst(next.count)
    return next.isEmpty ? nil : Array(next)
  }
  var rows: [DelimitedReader.Row] = []
  while let row = try reader.next() { rows.append(row) }
  return rows
}

private func fields(_ text: String, _ format: DelimitedFormat = .csv) throws -> [[String]] {
  try read(Array(text.utf8), format).map(\.fields)
}

@Suite struct DelimitedReaderTests {
  private static let cases: [(String, [[String]])] = [
    ("", []), ("\n\n\r\n", []), ("a", [["a"]]), ("a\n", [["a"]]), (",", [["", ""]]),
    ("a,b\nc,d", [["a", "b"], ["c", "d"]]),
    ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]), ("a\rb\r", [["a"], ["b"]]), ("\"\"", [[""]]),
    ("\"a,b\",c", [["a,b", "c"]]),
    ("\"a\"\"b\"", [["a\"b"]]), ("\"\"\"\"", [["\""]]), ("\"a\nb\",c\nd,e", [["a\nb", "c"], ["d", "e"]]),
    ("\"a\r\nb\"\r\nc", [["a\r\nb"], ["c"]]), ("a\"b,c\"", [["a\"b", "c\""]]), (" a , b ", [[" a ", " b "]]),
    ("\u{FEFF}a,b", [["a", "b"]]), ("ž,😀\n", [["ž", "😀"]]), ("a\n\nb", [["a"], ["b"]]),
    ("\"\"\n\"\"", [[""], [""]]),
    ("a,\n,b\n", [["a", ""], ["", "b"]]), ("\"a\",\"\"", [["a", ""]]),
  ]

  /// However the bytes are cut, the rows are the same.
  @Test(arguments: [1, 2, 3, Int.max]) func theFormatInPieces(of piece: Int) throws {
    for (text, expected) in Self.cases {
      let rows = try read(Array(text.utf8), piece: piece)
      #expect(rows.map(\.fields) == expected, "\(text.debugDescription)")
    }
  }

  @Test func otherSeparatorsAndQuotes() throws {
    let usda = try #require(DelimitedFormat(separator: "^", quote: "~"))
    #expect(try fields("~0100~^~a \"b\" ^ ~~c~^^5.1\r\n", usda) == [["0100", "a \"b\" ^ ~c", "", "5.1"]])
    let plain = try #require(DelimitedFormat(separator: "|", quote: nil))
    #expect(try fields("\"a|b\"\n", plain) == [["\"a", "b\""]])
    #expect(try fields("a\tb,c\n", .tsv) == [["a", "b,c"]])
    #expect(DelimitedFormat(separator: "é") == nil)
    #expect(DelimitedFormat(separator: "\n") == nil)
    #expect(DelimitedFormat(separator: ",", quote: ",") == nil)
  }

  @Test func everyByteOfLatin1IsItsCharacter() throws {
    let bytes = (0...255).map(UInt8.init).filter { ![0x0A, 0x0D, 0x2C].contains($0) }
    let format = try #require(DelimitedFormat(quote: nil, encoding: .latin1))
    let text = try #require(try read(bytes, format).first?.fields.first)
    #expect(Array(text.unicodeScalars.map { UInt8($0.value) }) == bytes)
  }

  @Test func errorsNameTheLine() throws {
    let faults: [([UInt8], line: Int, words: String)] = [
      (Array("a,b\nc,\"d\ne\n".utf8), 2, "never closed"),
      (Array("a\n\"b\"x,c\n".utf8), 2, "behind the closing quote"),
      (Array("\"a\r\nb\"\nc,".utf8) + [0xE9], 3, "field 2 is not UTF-8"),
      (Array("a\n\n\r\n".utf8) + [0xFF], 4, "not UTF-8"),
    ]
    for (bytes, line, words) in faults {
      let error = try #require(storeError { _ = try read(bytes) })
      #expect(error.code == StoreError.invalidText)
      #expect(error.file == "text")
      #expect(error.line == line, "\(error)")
      #expect(error.message.contains(words), "\(error)")
    }
  }

  @Test func rowsKnowTheirLines() throws {
    let rows = try read(Array("a\n\n\"b\r\nc\rd\ne\"\r\nf\rg".utf8))
    #expect(rows.map(\.line) == [1, 3, 7, 8])
  }

  @Test func whatIsWrittenIsReadAgain() throws {
    var random = SeededRandom.fromEnvironment("delimited round trip")
    let characters = ["a", ",", "\"", "\n", "\r", "é", " ", "~", "^", "\t", "😀"]
    for format in [DelimitedFormat.csv, .tsv, DelimitedFormat(separator: "^", quote: "~")!] {
      let writer = DelimitedWriter(format: format)
      let rows = (0..<300).map { _ in
        (0..<Int.random(in: 1...4, using: &random)).map { _ in
          (0..<Int.random(in: 0..<5, using: &random)).map { _ in characters.randomElement(using: &random)! }
            .joined()
        }
      }
      let text = rows.map { writer.line($0) }.joined()
      #expect(try fields(text, format) == rows, "seed \(random.seed)")
    }
  }

  /// Found by fuzzing. Swift counts a quote and an accent behind it as one character, which is no quote.
  @Test func quotesAreDoubledBeforeAnAccent() throws {
    let row = ["\"\u{301}", "e\"\u{301}x", "\"\u{200D}", ",\u{301}", "\r\u{301}"]
    let line = DelimitedWriter(format: .csv).line(row)
    #expect(line.utf8.starts(with: "\"\"\"\u{301}\",".utf8))
    #expect(try fields(line).map { $0.map { Array($0.utf8) } } == [row.map { Array($0.utf8) }])
  }

  /// At the start of a file it would be taken for a mark of the encoding and skipped.
  @Test func aByteOrderMarkInTheFirstFieldIsKept() throws {
    let row = ["\u{FEFF}a", "b"]
    #expect(try fields(DelimitedWriter(format: .csv).line(row)) == [row])
  }
}

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

  @Test func typesAndEmptyTexts() throws {
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

  @Test func faultsNameFileLineAndField() throws {
    let integer = DelimitedImport(types: ["n": .integer])
    let faults: [(String, DelimitedImport, line: Int?, words: String)] = [
      ("n\n1\nx\n", integer, 3, "'x' is not a whole number"),
      ("a,n\n1,2\n3\n", integer, 3, "1 fields where 2"),
      ("n,n\n", integer, 1, "two columns"), ("n,\n", integer, 1, "column 2 has no name"),
      ("", integer, nil, "empty"),
      ("a\n", integer, nil, "a type is given for 'n'"),
      ("a\nb\n\u{1}\n", DelimitedImport(), 3, "XML cannot hold the character U+0001"),
      ("wgFileDbSecretId\n5\n", DelimitedImport(), 2, "kept for the record's id"),
    ]
    for (text, importer, line, words) in faults {
      let error = try #require(storeError { _ = try records(text, importer) })
      #expect(error.line == line, "\(error)")
      #expect(error.message.contains(words), "\(error)")
      #expect(error.file == "text")
    }
  }

  @Test func whatFitsNoType() {
    let refused: [(FieldType, [String])] = [
      (.integer, ["", "1.0", "1e3", "9223372036854775808x", "18446744073709551616", "one", "0x10", "-0X1F"]),
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

  @Test func aFieldCalledIDKeepsANameOfItsOwn() {
    let record: Fields = ["id": "a", "id_": "b", "id__": "c", "idle": "d"]
    #expect(
      JSONText.object(id: 1, record) == #"{"id": 1, "id_": "a", "id__": "b", "id___": "c", "idle": "d"}"#)
  }

  @Test func jsonSaysWhatAValueIs() {
    let record: Fields = [
      "id": "own", "s": "a\"\\\n\u{7f}\u{9b}é", "i": -1, "u": .unsigned(.max), "r": 2.0, "n": .real(.nan),
      "b": false,
      "d": .date(Date(timeIntervalSince1970: 0)), "x": .data(Data([255])), "l": [1, ["k": "v"]],
    ]
    #expect(
      JSONText.object(id: 7, record)
        == #"{"id": 7, "b": false, "d": "1970-01-01T00:00:00Z", "i": -1, "id_": "own", "l": [1, {"k": "v"}], "n": "nan", "#
        + #""r": 2.0, "s": "a\"\\\n\u007f\u009bé", "u": 18446744073709551615, "x": "/w=="}"#)
  }
}
