import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// RFC 4180, rule by rule (its section 2), and what is beside it in files that people have.
@Suite struct DelimitedStandardTests {
  private struct Example {
    let text: String
    let records: [Fields]

    init(_ text: String, _ records: [Fields]) { (self.text, self.records) = (text, records) }
  }

  private static let examples: [Example] = [
    // 1, 2: lines end in CRLF, the last one may not.
    Example("a,b\r\n1,2\r\n3,4\r\n", [["a": "1", "b": "2"], ["a": "3", "b": "4"]]),
    Example("a,b\r\n1,2\r\n3,4", [["a": "1", "b": "2"], ["a": "3", "b": "4"]]),
    Example("a,b\n1,", [["a": "1"]]), Example("a\n\"\"", [["a": ""]]),
    // 3: a header, and nothing below it.
    Example("a,b\r\n", []), Example("a,b", []),
    Example("\"a\n,\"\"\",b\n1,2\n", [["a\n,\"": "1", "b": "2"]]),
    // 4: spaces are part of a field.
    Example("a, b\n 1 ,\t2\n", [["a": " 1 ", " b": "\t2"]]),
    // 5: quotes around each field or none.
    Example("\"a\",b\r\n\"1\",2\r\n", [["a": "1", "b": "2"]]),
    // 6, 7: separators, line ends and quotes in quotes.
    Example(
      "a,b\r\n\"1,\",\"x\r\ny\"\r\n\"\"\"\",\"a \"\"b\"\" c\"\r\n",
      [["a": "1,", "b": "x\r\ny"], ["a": "\"", "b": "a \"b\" c"]]),
    Example("k,v\n1,\"{\"\"type\"\": \"\"Point\"\"}\"\n", [["k": "1", "v": "{\"type\": \"Point\"}"]]),
    Example("a\n\"\n\"\n\"\r\"\n\"\r\n\"\n", [["a": "\n"], ["a": "\r"], ["a": "\r\n"]]),
    // Beside it: a byte order mark, before a quote too; a quote inside a field; blank lines; any Unicode.
    Example("\u{FEFF}\"a\",b\n1,2\n", [["a": "1", "b": "2"]]),
    Example("a,b\n5\" disk,\u{2028}ʤ\n", [["a": "5\" disk", "b": "\u{2028}ʤ"]]),
    Example("\n\r\na\n\n1\n \n\n", [["a": "1"], ["a": " "]]),
  ]

  @Test func readerFollowsEveryRuleOfRFC4180() throws {
    for example in Self.examples {
      try withStore { store in
        try take(Array(example.text.utf8), TableImport(format: .delimited(.csv)), of: store)
        let table = try store.table("t")
        #expect(
          try table.exists && table.lastSnapshot.map(\.fields) == example.records,
          "\(example.text.debugDescription)")
      }
    }
  }

  /// What is written follows the rules, and with CRLF to the letter.
  @Test func writerFollowsEveryRuleOfRFC4180() throws {
    var format = DelimitedFormat.csv
    format.lineEnd = .crlf
    let lines: [([String?], String)] = [
      (["a", "b"], "a,b\r\n"), ([" a ", "\tb"], " a ,\tb\r\n"), (["a,", "b\"c"], "\"a,\",\"b\"\"c\"\r\n"),
      (["\r", "\n", "x\r\ny"], "\"\r\",\"\n\",\"x\r\ny\"\r\n"), ([nil, "", nil], ",\"\",\r\n"),
      (["é", "\u{2028}"], "é,\u{2028}\r\n"),
    ]
    for (fields, line) in lines { #expect(DelimitedWriter(format: format).line(fields) == line) }
  }

  @Test func violationIsRefusedWithLineAndColumn() throws {
    let faults: [(text: String, line: Int?, column: Int?, words: String)] = [
      ("", nil, nil, "empty"), ("\u{FEFF}", nil, nil, "empty"), ("\r\n\n", nil, nil, "empty"),
      ("a,b\n1,2,3\n", 2, 1, "expected 2 fields, found 3"),
      ("a,b\n1,2\n3\n", 3, 1, "expected 2 fields, found 1"),
      ("a,b,\n1,2,3\n", 2, 5, "column 3 has no name"), ("a,,b\n", 1, 3, "column 2 has no name"),
      ("a,b,a\n", 1, 5, "two columns are named 'a'"),
      ("a,b\n\"1\" ,2\n", 2, 4, "after the closing quote"), ("a\n\"1\n", 2, 1, "never closed"),
    ]
    for fault in faults {
      try withStore { store in
        let csv = TableImport(format: .delimited(.csv))
        let error = try #require(storeError { try take(Array(fault.text.utf8), csv, of: store) }, "\(fault)")
        #expect(error.line == fault.line && error.column == fault.column, "\(fault): \(error)")
        #expect(error.message.contains(fault.words), "\(fault): \(error)")
      }
    }
  }
}
