import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// The places and words of what is refused.
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
  private func importer(_ format: ExchangeFormat, _ change: (inout TableImport) -> Void = { _ in })
    -> TableImport
  {
    var importer = TableImport(format: format)
    change(&importer)
    return importer
  }

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

  private func records(_ text: String, _ importer: TableImport) throws -> [Record] {
    try withStore { store in
      try take(Array(text.utf8), importer, of: store)
      return try store.table("t").snapshot.map(\.record)
    }
  }

  @Test func delimitedFaultsHaveAPlace() throws {
    let typed = importer(.delimited(.csv)) { $0.types = ["n": .integer] }
    try check(
      [
        Fault("a,n\né\"x\",x\n", 2, 6, "'x' is not a whole number"),
        Fault("a,n\n\"é\n\"\"\",x\n", 3, 5, "'x' is not a whole number"),
        Fault("a,n\nb\n", 2, 1, "1 fields where 2"),
        Fault("a,n,a\n", 1, 5, "two columns"),
        Fault("a,n\n1,\"2\n", 2, 3, "never closed"),
        Fault("n,a\n1,\u{1}\n", 2, 3, "XML cannot hold"),
      ], typed)
  }

  @Test func jsonFaultsHaveAPlace() throws {
    let deep = String(repeating: "[", count: 100_000)
    try check(
      [
        Fault("", 1, 1, "an array of objects"),
        Fault("[{\"a\": 1}", 1, 10, "the array's ']'"),
        Fault("[\n {\"é\": [1, null]}]", 2, 12, "null"),
        Fault("[{\"a\": 01}]", 1, 8, "'01' is no number"),
        Fault("[{\"a\": 1.}]", 1, 8, "'1.' is no number"),
        Fault("[{\"a\": 1e999}]", 1, 8, "too large for a real"),
        Fault("[{\"a\": 18446744073709551616}]", 1, 8, "too large for an integer"),
        Fault("[{\"a\": \"x\n\"}]", 2, 1, "control character"),
        Fault("[{\"a\": \"\\ud800\"}]", 1, 10, "half a character"),
        Fault("[{\"a\": \"\\x\"}]", 1, 10, "no such escape"),
        Fault("[{\"a\": \"", 1, 8, "never closed"),
        Fault("[{\"a\": nul}]", 1, 8, "a value should be here"),
        Fault("[{\"a\": 1,}]", 1, 10, "a key in quotes"),
        Fault("[{\"a\": 1, \"a\": 2}]", 1, 2, "'a' is in the object twice"),
        Fault("[{}] x", 1, 6, "behind its end"),
        Fault("[1]", 1, 2, "an object should be here"),
        Fault("[{\"a\": \(deep)", 1, 264, "nested more than 256 deep"),
      ], importer(.json))
    try check([Fault("{\"a\": 1}\n{\"b\": }\n", 2, 7, "a value should be here")], importer(.ndjson))
    try withStore { store in
      let bytes = Array("[{\"a\": \"".utf8) + [0xFF] + Array("\"}]".utf8)
      let error = try #require(storeError { try take(bytes, importer(.json), of: store) })
      #expect(error.column == 8 && error.message.contains("UTF-8"), "\(error)")
    }
  }

  @Test func propertyListFaultsHaveALine() throws {
    func list(_ body: String) -> String { "<plist version=\"1.0\">\n\(body)\n</plist>" }
    try check(
      [
        Fault(list("<string>x</string>"), nil, nil, "an array of dictionaries"),
        Fault(list("<array>\n<dict/>\n<string>x</string></array>"), 4, nil, "a dictionary should be here"),
        Fault(
          list("<array>\n<dict>\n<key>wgFileDbSecretId</key>\n<string>-1</string></dict></array>"), 5, nil,
          "no whole number"),
      ], importer(.plist))
  }

  @Test func utf16IsReadByItsMark() throws {
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
        #expect(try store.table("t").snapshot.map(\.record) == [["n": "😀", "é": "ž\n"]])
        let lone = sound.dropLast(2) + (isLittle ? [0x00, 0xD8] : [0xD8, 0x00]) + bytes("\n")
        for broken in [Array(lone), sound + [0x41]] {
          let error = try #require(storeError { try take(broken, importer, of: store) })
          #expect(error.code == StoreError.invalidText && error.line != nil, "\(error)")
        }
      }
    }
  }

  @Test func aKeyChangesWhatIsThereAndNothingElse() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [
        ["k": "a", "n": 1, "own": true], ["k": "b", "n": 2], ["n": 3], ["k": "d", "n": 4.0],
      ])
      let csv = importer(.delimited(.csv)) {
        $0.types = ["n": .integer]
        $0.matching = .key(["k"])
      }
      let report = try take(Array("k,n\nb,2\nc,9\na,7\nd,\n".utf8), csv, of: store)
      #expect((report.added, report.changed, report.unchanged) == (1, 1, 2))
      #expect(
        table.snapshot.map(\.record) == [
          ["k": "a", "n": 7, "own": true], ["k": "b", "n": 2], ["n": 3], ["k": "d", "n": 4.0],
          ["k": "c", "n": 9],
        ])
      // Nothing to do is nothing done.
      let (again, step) = try store.undoableWrite { tx in
        try csv.run(ImportSource(Array("k,n\nb,2\na,7\n".utf8), name: "file"), into: "t", in: &tx)
      }
      #expect(again.unchanged == 2 && step.isEmpty)
      let faults: [(text: String, line: Int?, words: String)] = [
        ("k,n\nx,1\ny,2\nx,3\n", 4, "'x' is there twice, first in line 2"),
        ("k,n\n,1\n", 2, "without its key"),
      ]
      for (text, line, words) in faults {
        let error = try #require(storeError { try take(Array(text.utf8), csv, of: store) })
        #expect(error.line == line && error.message.contains(words), "\(error)")
      }
      try table.add(["k": "a"])
      let error = try #require(storeError { try take(Array("k,n\nz,1\n".utf8), csv, of: store) })
      #expect(error.code == StoreError.duplicateKey && error.message.contains("records 1 and 6"), "\(error)")
    }
  }

  @Test func keysOfSeveralFieldsDoNotRunTogether() throws {
    try withStore { store in
      let json = importer(.json) { $0.matching = .key(["a", "b"]) }
      try store.table("t").add(contentsOf: [
        ["a": "x", "b": "y z"], ["a": 1.0, "b": "1"], ["a": "11", "b": ""],
      ])
      let text = #"[{"a": "x y", "b": "z"}, {"a": 1, "b": "1", "c": 5}, {"a": "1", "b": "11", "c": 6}]"#
      let report = try take(Array(text.utf8), json, of: store)
      #expect((report.added, report.changed) == (2, 1))
      #expect(try store.table("t").snapshot.map { $0["c"] } == [nil, 5, nil, nil, 6])
    }
  }

  /// Else every row of an untyped file would be added once more.
  @Test func aKeyOfAnotherTypeIsAnError() throws {
    try withStore { store in
      try store.table("t").add(["k": 7])
      let csv = importer(.delimited(.csv)) { $0.matching = .key(["k"]) }
      let error = try #require(storeError { try take(Array("k\n7\n".utf8), csv, of: store) })
      #expect(error.message.contains("a string here and a number in record 1"), "\(error)")
      #expect(error.line == 2 && error.field == "k")
    }
  }

  @Test func idsLeadBackToTheirRecords() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [["n": "a"], ["n": "b"], ["n": "c"]])
      try table.delete(3)
      let csv = importer(.delimited(.csv)) { $0.matching = .id }
      let report = try take(Array("id,n,id_\n,new,\n2,B,x\n9,far,\n,next,\n".utf8), csv, of: store)
      #expect((report.added, report.changed) == (3, 1))
      #expect(table.snapshot.ids == [1, 2, 10, 9, 11])
      #expect(table.snapshot.map { $0["n"]?.string } == ["a", "B", "new", "far", "next"])
      #expect(table.snapshot[1]["id"] == "x")
      for text in ["id,n\nx,1\n", "id,n\n01,1\n", "id,n\n1,1\n1,2\n"] {
        #expect(storeError { try take(Array(text.utf8), csv, of: store) }?.line != nil)
      }
    }
  }

  @Test func wrongRowsAreLeftOutAndNamed() throws {
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
      #expect(try store.table("u").snapshot.map(\.record) == [["a": 1], ["a": 3]])
      let array = importer(.json) { $0.onError = .skip }
      let third = try take(Array("[{\"a\": [null]}, 5,\n{\"a\": 1}]".utf8), array, into: "v", of: store)
      #expect(third.added == 1 && third.skipped.count == 2)
      // Where the next row begins nobody can say.
      #expect(storeError { try take(Array("n,s\n1,\"a\n".utf8), csv, into: "w", of: store) } != nil)
      #expect(storeError { try take(Array("[{\"a\": 1}, {".utf8), array, into: "w", of: store) } != nil)
    }
  }

  @Test func typesAreFoundWhereNothingIsLost() throws {
    let text = """
      i,zero,f,b,d,day,mixed,empty,quoted,late
      1,007,1,true,2024-02-29T12:00:00Z,2024-02-29,1,,"",1
      -20,7,-2.5,false,1999-01-01T00:00:00Z,1999-01-01,true,,"",2
      ,8,,,,,2,,,x

      """
    let source = ImportSource(Array(text.utf8), name: "file")
    let csv = importer(.delimited(.csv))
    #expect(try csv.detectedTypes(of: source) == ["i": .integer, "f": .float, "b": .bool, "d": .date])
    let given = importer(.delimited(.csv)) { $0.types = ["i": .float, "mixed": .string] }
    #expect(try given.detectedTypes(of: source)["i"] == .float)
  }

  @Test func anEmptyTextIsMissingUnlessItIsQuoted() throws {
    let text = "a,b,n\n,\"\",\n"
    let csv = importer(.delimited(.csv)) { $0.types = ["n": .integer] }
    #expect(try records(text, csv) == [["b": ""]])
    var asText = csv
    asText.emptyText = .text
    #expect(try records(text, asText) == [["a": "", "b": ""]])
  }

  @Test func typesOfJSON() throws {
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

  @Test func manyRowsComeInBatchesInTheirOrder() throws {
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
        try store.table("t").snapshot.map { $0["n"]?.string } == (1...2_500).map(String.init) + ["last"])
    }
  }

  @Test(arguments: [1, 2, 3, 7]) func howeverTheBytesAreCut(piece: Int) throws {
    let json = Array(#"[{"é": "\ud83d\ude00 😀", "n": [1.5e3, -2, true]}, {"a": {"b": "c"}}]"#.utf8)
    let units = Array("a,\u{e9}\n\"x\n\",😀\n".utf16)
    let utf16: [UInt8] = [0xFF, 0xFE] + units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let lines = Array("\u{FEFF}{\"a\": 1}\r\n\n{\"b\": \"é\"}".utf8)
    let cases: [([UInt8], ExchangeFormat, [Record])] = [
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
        #expect(try store.table("t").snapshot.map(\.record) == records)
      }
    }
  }

  /// What is taken for JSON is JSON to Foundation, too.
  @Test func brokenJSONIsReadOrRefused() throws {
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
        try store.rehearse { tx in
          _ = try importer(.json).run(ImportSource(text, name: "file"), into: "t", in: &tx)
        }
        accepted += 1
        _ = try JSONSerialization.jsonObject(with: Data(text))
      } catch let error as StoreError {
        #expect(error.line != nil, "\(error)")
      } catch {
        Issue.record("seed \(random.seed): \(String(decoding: text, as: UTF8.self)): \(error)")
      }
    }
    #expect(accepted > 50)
  }

  /// A row that is left out has taken no key.
  @Test func aWrongRowMayBeFollowedByTheRightOne() throws {
    try withStore { store in
      try store.table("t").add(["k": "7"])
      let lines = importer(.ndjson) {
        $0.matching = .key(["k"])
        $0.onError = .skip
      }
      let report = try take(Array("{\"k\": 7}\n{\"k\": \"7\", \"n\": 1}\n".utf8), lines, of: store)
      #expect(report.skipped.count == 1 && report.changed == 1)
    }
  }

  @Test func newIDsLieAboveAllOfTheFile() throws {
    try withStore { store in
      let text = (["n,id", "x,"] + (1...1_500).map { "y,\($0)" }).joined(separator: "\n")
      try take(Array(text.utf8), importer(.delimited(.csv)) { $0.matching = .id }, of: store)
      #expect(try store.table("t").snapshot.ids.map(\.rawValue) == [1_501] + (1...1_500))
    }
  }

  private static let smallTables: [(String, String)] = [
    ("FD_GROUP", "code,name"), ("NUTR_DEF", "number,unit,tag,name,decimals,order"),
  ]

  @Test(
    .enabled(if: sharedFolderHas("data/usda-sr28"), "needs ../shared/data/usda-sr28"), arguments: smallTables)
  func realTablesComeBack(file: String, fields: String) throws {
    let usda = try #require(DelimitedFormat(separator: "^", quote: "~", encoding: .latin1))
    var text = importer(.delimited(usda, hasHeader: false)) {
      $0.fields = fields.split(separator: ",").map(String.init)
    }
    let source = ImportSource(sharedFolder.appendingPathComponent("data/usda-sr28/\(file).txt"))
    text.types = try text.detectedTypes(of: source)
    try withStore { store in
      _ = try store.write { tx in try text.run(source, into: "t", in: &tx) }
      let table = try store.table("t").snapshot
      #expect(table.count > 20)
      let formats: [ExchangeFormat] = [
        .delimited(.csv), .delimited(.tsv), .json, .ndjson, .plist, .binaryPlist,
      ]
      for (number, format) in formats.enumerated() {
        let back = importer(format) {
          $0.matching = .id
          if case .delimited = format { $0.types = text.types }
        }
        try take(try exported(table, TableExport(format: format)), back, into: "u\(number)", of: store)
        let again = try store.table("u\(number)").snapshot
        #expect(again.ids == table.ids && again.map(\.record) == table.map(\.record), "\(format)")
      }
    }
  }
}
