import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// A text that is refused, and the place and words of its error.
private struct Fault {
  var text: String
  var line: Int?
  var column: Int?
  var words: String

  init(_ text: String, _ line: Int?, _ column: Int?, _ words: String) {
    (self.text, self.line, self.column, self.words) = (text, line, column, words)
  }
}

@Suite struct TableImportTests {
  private func check(_ faults: [Fault], _ importer: TableImport) throws {
    for fault in faults {
      try withStore { store in
        let error = try #require(
          storeError { try take(Array(fault.text.utf8), importer, of: store) }, "\(fault)")
        #expect(error.file == "file")
        #expect(error.line == fault.line && error.column == fault.column, "\(fault): \(error)")
        #expect(error.message.contains(fault.words), "\(fault): \(error)")
        #expect(try !store.table("t").exists)
      }
    }
  }

  private func records(_ text: String, _ importer: TableImport) throws -> [Fields] {
    try withStore { store in
      try take(Array(text.utf8), importer, of: store)
      return try store.table("t").lastSnapshot.map(\.fields)
    }
  }

  @Test func delimitedErrorsHaveLineAndColumn() throws {
    let typed = importer(.delimited(.csv)) { $0.types = ["n": .integer] }
    try check(
      [
        Fault("a,n\né\"x\",x\n", 2, 6, "'x' is not a whole number"),
        Fault("a,n\n\"é\n\"\"\",x\n", 3, 5, "'x' is not a whole number"),
        Fault("a,n\nb\n", 2, 1, "expected 2 fields, found 1"),
        Fault("a,n,a\n", 1, 5, "two columns"),
        Fault("a,n\n1,\"2\n", 2, 3, "never closed"),
        Fault("n,a\n1,\u{1}\n", 2, 3, "XML cannot hold"),
      ], typed)
  }

  @Test func jsonErrorsHaveLineAndColumn() throws {
    let deep = String(repeating: "[", count: 100_000)
    try check(
      [
        Fault("", 1, 1, "an array of objects"),
        Fault("[{\"a\": 1}", 1, 10, "the array's ']'"),
        Fault("[\n {\"é\": [1, null]}]", 2, 12, "null"),
        Fault("[{\"a\": 01}]", 1, 8, "'01' is not a number"),
        Fault("[{\"a\": 1.}]", 1, 8, "'1.' is not a number"),
        Fault("[{\"a\": 1e999}]", 1, 8, "too large for a real"),
        Fault("[{\"a\": 18446744073709551616}]", 1, 8, "too large for an integer"),
        Fault("[{\"a\": \"x\n\"}]", 2, 1, "control character"),
        Fault("[{\"a\": \"\\ud800\"}]", 1, 10, "half a character"),
        Fault("[{\"a\": \"\\x\"}]", 1, 10, "no such escape"),
        Fault("[{\"a\": \"", 1, 8, "never closed"),
        Fault("[{\"a\": nul}]", 1, 8, "a value should be here"),
        Fault("[{\"a\": 1,}]", 1, 10, "a key in quotes"),
        Fault("[{\"a\": 1, \"a\": 2}]", 1, 2, "'a' is in the object twice"),
        Fault("[{}] x", 1, 6, "more text after the value"),
        Fault("[1]", 1, 2, "an object should be here"),
        Fault("[{\"a\": \(deep)", 1, 264, "nested more than 256 deep"),
      ], importer(.json))
    try check([Fault("{\"a\": 1}\n{\"b\": }\n", 2, 7, "a value should be here")], importer(.ndjson))
    let severalLines = "{\"a\": 1}\n{\n  \"b\": [{\n\"x\": \"}{\\\"\"\n}]\n}\n{\n\"c\": }\n"
    try check([Fault(severalLines, 8, 6, "a value should be here")], importer(.ndjson))
    try check(
      [Fault("[\r{},\r\n{\"a\": }]", 3, 7, "a value should be here")], importer(.json))
    try check(
      [Fault("{}\r\n{\"b\":\r1}\n{\"b\": }\n", 4, 7, "a value should be here")], importer(.ndjson))
    try withStore { store in
      let bytes = Array("[{\"a\": \"".utf8) + [0xFF] + Array("\"}]".utf8)
      let error = try #require(storeError { try take(bytes, importer(.json), of: store) })
      #expect(error.column == 8 && error.message.contains("UTF-8"), "\(error)")
    }
  }

  @Test func propertyListErrorsHaveLine() throws {
    func list(_ body: String) -> String { "<plist version=\"1.0\">\n\(body)\n</plist>" }
    try check(
      [
        Fault(list("<string>x</string>"), nil, nil, "an array of dictionaries"),
        Fault(list("<array>\n<dict/>\n<string>x</string></array>"), 4, nil, "a dictionary should be here"),
        Fault(
          list("<array>\n<dict>\n<key>wgFileDbSecretId</key>\n<string>-1</string></dict></array>"), 5, nil,
          "not a whole number"),
        Fault("<plist>\r<array>\r<string>x</string></array></plist>", 3, nil, "a dictionary should be here"),
      ], importer(.plist))
  }

  /// So many that reading the file once for each of them would take minutes.
  @Test func everyWrongRowOfPropertyListHasItsLine() throws {
    let count = 5_000
    let rows = (0..<count).map {
      "<dict>\n<key>a</key><true/>\n<key>n</key>\n<string>\($0)x</string></dict>\n"
    }
    let text = "<plist><array>\n\(rows.joined())<true/></array></plist>"
    try withStore { store in
      let typed = importer(.plist) {
        $0.types = ["n": .integer]
        $0.onError = .skip
      }
      let report = try take(Array(text.utf8), typed, of: store)
      #expect(report.skipped.map(\.line) == (0..<count).map { 5 + $0 * 4 } + [2 + count * 4])
    }
  }

  @Test func utf16IsDetectedByByteOrderMark() throws {
    for (isLittle, encoding) in [(true, DelimitedFormat.Encoding.utf8), (false, .utf8), (true, .utf16)] {
      func bytes(_ text: String) -> [UInt8] {
        text.utf16.flatMap { unit -> [UInt8] in
          let (low, high) = (UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8))
          return isLittle ? [low, high] : [high, low]
        }
      }
      let format = try #require(DelimitedFormat(encoding: encoding))
      let importer = importer(.delimited(format))
      let sound = bytes("\u{FEFF}n,é\n😀,\"ž\n\"\n")
      try withStore { store in
        try take(sound, importer, of: store)
        #expect(try store.table("t").lastSnapshot.map(\.fields) == [["n": "😀", "é": "ž\n"]])
        let lone = sound.dropLast(2) + (isLittle ? [0x00, 0xD8] : [0xD8, 0x00]) + bytes("\n")
        for broken in [Array(lone), sound + [0x41]] {
          let error = try #require(storeError { try take(broken, importer, of: store) })
          #expect(
            [StoreError.Code.invalidText, StoreError.Code.strayQuote].contains(error.code)
              && error.line != nil,
            "\(error)")
        }
      }
    }
  }

  @Test func wrongRowsAreSkippedAndReported() throws {
    try withStore { store in
      let csv = importer(.delimited(.csv)) {
        $0.types = ["n": .integer]
        $0.onError = .skip
        $0.matching = .key(["n"])
      }
      let report = try take(Array("n,s\n1,a\nx,b\n2\n3,\u{1}\n1,again\n,none\n4,d\n".utf8), csv, of: store)
      #expect(report.added == 2)
      #expect(report.skipped.map(\.line) == [3, 4, 5, 6, 7])
      #expect(report.skipped.map(\.column) == [1, 1, 3, 1, 1])
      let lines = importer(.ndjson) { $0.onError = .skip }
      let text = "{\"a\": 1}\n{\"a\": }\n[]\n{\"a\": [null], \"b\": 2}\n\n{\"a\": 2} {}\n{\"a\": 3}\n"
      let second = try take(Array(text.utf8), lines, into: "u", of: store)
      #expect(second.skipped.map(\.line) == [2, 3, 4, 6])
      #expect(try store.table("u").lastSnapshot.map(\.fields) == [["a": 1], ["a": 3]])
      let array = importer(.json) { $0.onError = .skip }
      let third = try take(Array("[{\"a\": [null]}, 5,\n{\"a\": 1}]".utf8), array, into: "v", of: store)
      #expect(third.added == 1 && third.skipped.count == 2)
      // Nothing tells where the next row begins.
      #expect(storeError { try take(Array("n,s\n1,\"a\n".utf8), csv, into: "w", of: store) } != nil)
      #expect(storeError { try take(Array("[{\"a\": 1}, {".utf8), array, into: "w", of: store) } != nil)
    }
  }

  /// A character is two such escapes; what follows half of one may be anything.
  @Test(arguments: [
    #"\ud800"#, #"\udc00"#, #"\ud800x"#, #"\ud800\n"#, #"\ud800\""#, #"\ud800\\"#, #"\ud800\/ud"#,
    #"\ud800\u0041"#,
    #"\ud800\ud800"#, #"\ud800\ud83d\ude00"#, #"\ud800\ud800\n"#, #"\udc00\"\ud800\"\udc00"#,
  ])
  func rowsBehindHalfACharacterAreRead(text: String) throws {
    let rows = ["{\"a\": 1}", "{\"a\": \"\(text)\"}", "{\"a\": 3}"]
    let files: [(ExchangeFormat, String)] = [
      (.json, "[" + rows.joined(separator: ",\n") + "]"), (.ndjson, rows.joined(separator: "\n")),
    ]
    for (format, file) in files {
      try withStore { store in
        let report = try take(Array(file.utf8), importer(format) { $0.onError = .skip }, of: store)
        #expect(report.skipped.map(\.message) == ["this escape is half a character"])
        #expect(report.skipped.map(\.line) == [2])
        #expect(try store.table("t").lastSnapshot.map { $0.fields["a"] } == [1, 3])
      }
    }
  }

  /// Separators and line ends are found even between bytes that are not text.
  @Test func invalidBytesSkipOnlyTheirRow() throws {
    let utf8 = "n,s\n1,a\n2,\"x\u{E9}\n\"\"y\"\n\u{FF},\u{C3}\n5,\u{C3}\u{A9}\n6\u{80}".unicodeScalars.map {
      UInt8($0.value)
    }
    let units: [UInt16] =
      Array("n,s\n1,a\n2,x".utf16) + [0xD800] + Array("\n".utf16) + [0xDC00] + Array(",x\n5,é\n".utf16)
    let utf16: [UInt8] = [0xFF, 0xFE] + units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } + [0x41]
    for (text, lines, columns) in [(utf8, [3, 5, 7], [3, 1, 1]), (utf16, [3, 4, 6], [3, 1, 1])] {
      try withStore { store in
        var csv = importer(.delimited(.csv)) { $0.onError = .skip }
        csv.types = try csv.detectedTypes(of: ImportSource(text, name: "file"))
        let report = try take(text, csv, of: store)
        #expect(
          try store.table("t").lastSnapshot.map(\.fields) == [["n": 1, "s": "a"], ["n": 5, "s": "é"]])
        #expect(report.skipped.map(\.line) == lines && report.skipped.map(\.column) == columns)
        #expect(report.skipped.allSatisfy { $0.file == "file" && $0.message.contains("field") })
        csv.onError = .stop
        #expect(storeError { try take(text, csv, into: "u", of: store) }?.line == 3)
      }
    }
  }

  @Test func typesAreDetectedWhereNothingIsLost() throws {
    let text = """
      i,zero,f,b,d,day,mixed,empty,quoted,late
      1,007,1,true,2024-02-29T12:00:00Z,2024-02-29,1,,"",1
      -20,7,-2.5,false,1999-01-01T00:00:00Z,1999-01-01,true,,"",2
      ,8,,,,,2,,,x

      """
    let source = ImportSource(Array(text.utf8), name: "file")
    let csv = importer(.delimited(.csv))
    #expect(
      try csv.detectedTypes(of: source) == [
        "i": .integer, "f": .float, "b": .bool, "d": .date, "day": .date,
      ])
    let given = importer(.delimited(.csv)) { $0.types = ["i": .float, "mixed": .string] }
    #expect(try given.detectedTypes(of: source)["i"] == .float)
  }

  @Test func emptyTextIsMissingUnlessQuoted() throws {
    let text = "a,b,n\n,\"\",\n"
    let csv = importer(.delimited(.csv)) { $0.types = ["n": .integer] }
    #expect(try records(text, csv) == [["b": ""]])
    var asText = csv
    asText.emptyText = .text
    #expect(try records(text, asText) == [["a": "", "b": ""]])
  }

  @Test func jsonValuesGetGivenTypes() throws {
    let json = importer(.json) { $0.types = ["d": .date, "x": .data, "f": .float, "b": .bool] }
    #expect(
      try records(
        #"[{"d": "1970-01-01T00:00:00Z", "x": "AQ==", "f": 2, "b": true}, {"f": "nan"}, {"i": 1.0, "n": null}]"#,
        json)
        == [
          ["d": .date(Date(timeIntervalSince1970: 0)), "x": .data(Data([1])), "f": 2.0, "b": true],
          ["f": .real(.nan)], ["i": 1.0],
        ])
    try check([Fault("[\n{\"d\": 5}]", 2, 1, "'5' is not a date")], json)
  }

  @Test func manyRowsAreAddedInOrderWithProgress() throws {
    try withStore { store in
      try store.table("t").add(["n": "last"])
      let text = (["n"] + (1...2_500).map(String.init)).joined(separator: "\n")
      var told: [Int] = []
      let report = try store.write { tx in
        try importer(.delimited(.csv)).run(
          ImportSource(Array(text.utf8), name: "file"), into: "t", at: .top, in: &tx,
          progress: { told.append($0) })
      }
      #expect(report.added == 2_500)
      #expect(told == [1_000, 2_000])
      #expect(
        try store.table("t").lastSnapshot.map { $0["n"]?.string } == (1...2_500).map(String.init) + ["last"])
    }
  }

  @Test func spooledSourceCanBeReadAgain() throws {
    var pieces =
      [Array("n\n".utf8)]
      + (0..<600).map { Array("\(1_000_000 + $0)\n".utf8) + Array(repeating: 0x0A, count: 1_000) }
    let source = try ImportSource(name: "pipe") { { pieces.isEmpty ? nil : pieces.removeFirst() } }.spooled()
    #expect(pieces.isEmpty, "all is read at once")
    try withStore { store in
      var csv = importer(.delimited(.csv))
      csv.types = try csv.detectedTypes(of: source)
      let report = try store.write { tx in try csv.run(source, into: "t", in: &tx) }
      #expect(report.added == 600)
      #expect(try store.table("t").lastSnapshot[599]["n"] == 1_000_599)
      let wrong = importer(.json)
      let error = storeError { try store.write { tx in _ = try wrong.run(source, into: "u", in: &tx) } }
      #expect(error?.file == "pipe")
    }
  }

  @Test(arguments: [1, 2, 3, 7]) func importIsTheSameInPiecesOfAnyLength(piece: Int) throws {
    let json = Array(#"[{"é": "\ud83d\ude00 😀", "n": [1.5e3, -2, true]}, {"a": {"b": "c"}}]"#.utf8)
    let units = Array("a,\u{e9}\n\"x\n\",😀\n".utf16)
    let utf16: [UInt8] = [0xFF, 0xFE] + units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let lines = Array("\u{FEFF}{\"a\": 1}\r\n\n{\"b\": \"é\"}".utf8)
    let cases: [([UInt8], ExchangeFormat, [Fields])] = [
      (json, .json, [["é": "😀 😀", "n": [1500.0, -2, true]], ["a": ["b": "c"]]]),
      (utf16, .delimited(.csv), [["a": "x\n", "é": "😀"]]), (lines, .ndjson, [["a": 1], ["b": "é"]]),
    ]
    for (bytes, format, records) in cases {
      try withStore { store in
        let source = ImportSource(name: "pieces") {
          var rest = bytes[...]
          return {
            let next = rest.prefix(piece)
            rest = rest.dropFirst(piece)
            return next.isEmpty ? nil : Array(next)
          }
        }
        _ = try store.write { tx in try importer(format).run(source, into: "t", in: &tx) }
        #expect(try store.table("t").lastSnapshot.map(\.fields) == records)
      }
    }
  }

  @Test func acceptedJSONIsAlsoAcceptedByFoundation() throws {
    var random = SeededRandom.fromEnvironment("broken JSON")
    let sound = Array(#"[{"a": [1, -2.5e+3, "x\u00e9\n", {}], "b": {"c": true}}, {"d": "é😀", "e": 0}]"#.utf8)
    let bytes = Array("\"\\[]{},:0129.eE+-ntu \n".utf8) + [0x00, 0xC3, 0xFF]
    var accepted = 0
    let store = RecordStore.inMemory()
    try store.table("t").create()
    for _ in 0..<1_500 {
      var text = sound
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        text[Int.random(in: 0..<text.count, using: &random)] = bytes.randomElement(using: &random)!
      }
      if Bool.random(using: &random) { text.removeLast(Int.random(in: 0..<text.count, using: &random)) }
      do {
        try store.dryRun { tx in
          _ = try importer(.json).run(ImportSource(text, name: "file"), into: "t", in: &tx)
        }
        accepted += 1
        _ = try JSONSerialization.jsonObject(with: Data(text))
      } catch let error as StoreError {
        // Another encoding is an error of the whole file.
        #expect(error.line != nil || error.message.contains("UTF-16"), "\(error)")
      } catch {
        Issue.record("seed \(random.seed): \(String(decoding: text, as: UTF8.self)): \(error)")
      }
    }
    #expect(accepted > 10)
  }
}
