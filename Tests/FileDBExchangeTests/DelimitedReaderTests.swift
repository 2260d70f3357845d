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

  @Test(arguments: [1, 2, 3, Int.max]) func rowsAreTheSameInPiecesOfAnyLength(of piece: Int) throws {
    for (text, expected) in Self.cases {
      let rows = try read(Array(text.utf8), piece: piece)
      #expect(rows.map(\.fields) == expected, "\(text.debugDescription)")
    }
  }

  @Test func otherSeparatorsAndQuotesAreRead() throws {
    let usda = try #require(DelimitedFormat(separator: "^", quote: "~"))
    #expect(try fields("~0100~^~a \"b\" ^ ~~c~^^5.1\r\n", usda) == [["0100", "a \"b\" ^ ~c", "", "5.1"]])
    let plain = try #require(DelimitedFormat(separator: "|", quote: nil))
    #expect(try fields("\"a|b\"\n", plain) == [["\"a", "b\""]])
    #expect(try fields("a\tb,c\n", .tsv) == [["a", "b,c"]])
    #expect(DelimitedFormat(separator: "é") == nil)
    #expect(DelimitedFormat(separator: "\n") == nil)
    #expect(DelimitedFormat(separator: ",", quote: ",") == nil)
  }

  @Test func everyLatin1ByteBecomesItsCharacter() throws {
    let bytes = (1...255).map(UInt8.init).filter {
      ![0x0A, 0x0D, 0x2C].contains($0) && !(0x80...0x9F).contains($0)
    }
    let format = try #require(DelimitedFormat(quote: nil, encoding: .latin1))
    let text = try #require(try read(bytes, format).first?.fields.first)
    #expect(Array(text.unicodeScalars.map { UInt8($0.value) }) == bytes)
  }

  @Test func errorsNameTheLine() throws {
    let faults: [([UInt8], line: Int, words: String)] = [
      (Array("a,b\nc,\"d\ne\n".utf8), 2, "never closed"),
      (Array("a\n\"b\"x,c\n".utf8), 2, "after the closing quote"),
      (Array("\"a\r\nb\"\nc,".utf8) + [0xE9], 3, "field 2 is not UTF-8"),
      (Array("a\n\n\r\n".utf8) + [0xFF], 4, "not UTF-8"),
    ]
    for (bytes, line, words) in faults {
      let error = try #require(storeError { _ = try read(bytes) })
      #expect(
        error.code == (words.contains("UTF-8") ? StoreError.Code.invalidText : StoreError.Code.strayQuote))
      #expect(error.file == "text")
      #expect(error.line == line, "\(error)")
      #expect(error.message.contains(words), "\(error)")
    }
  }

  @Test func rowsKnowTheirLines() throws {
    let rows = try read(Array("a\n\n\"b\r\nc\rd\ne\"\r\nf\rg".utf8))
    #expect(rows.map(\.line) == [1, 3, 7, 8])
  }

  @Test func randomRowsSurviveWritingAndReading() throws {
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

  /// Found by fuzzing. Swift counts a quote and an accent behind it as one character, which is not a quote.
  @Test func quoteBeforeAccentIsDoubled() throws {
    let row = ["\"\u{301}", "e\"\u{301}x", "\"\u{200D}", ",\u{301}", "\r\u{301}"]
    let line = DelimitedWriter(format: .csv).line(row)
    #expect(line.utf8.starts(with: "\"\"\"\u{301}\",".utf8))
    #expect(try fields(line).map { $0.map { Array($0.utf8) } } == [row.map { Array($0.utf8) }])
  }

  /// At the start of a file it would be taken for a mark of the encoding and skipped.
  @Test func byteOrderMarkInFirstFieldIsKept() throws {
    let row = ["\u{FEFF}a", "b"]
    #expect(try fields(DelimitedWriter(format: .csv).line(row)) == [row])
  }
}
