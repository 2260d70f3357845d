import FileDB
import Foundation
import TestSupport
import Testing

@testable import FileDBExchange

/// Delimited text as spreadsheets and people write it.
@Suite struct FilesOfPeopleTests {
  private func imported(
    _ text: String, _ format: DelimitedFormat = .csv, hasHeader: Bool = true,
    _ change: (inout TableImport) -> Void = { _ in }
  ) throws -> [Fields] {
    var importer = TableImport(format: .delimited(format, hasHeader: hasHeader))
    change(&importer)
    let source = ImportSource(Array(text.utf8), name: "text")
    importer.fallbackTypes = try importer.detectedTypes(of: source)
    return try withStore { store in
      _ = try store.write { tx in try importer.run(source, into: "t", in: &tx) }
      return try store.table("t").snapshot().map(\.fields)
    }
  }

  @Test(arguments: ["a,b,\n1,2,\n3,,\n", "a,b\n1,2,\n3,,\n", "a,b,\r\n1,2,\r\n3,,\r\n", "a,b,\n1,2\n3,\n"])
  func separatorAtLineEndBeginsNoColumn(text: String) throws {
    #expect(try imported(text) == [["a": 1, "b": 2], ["a": 3]])
    #expect(try imported(text) { $0.types = ["a": .integer, "b": .json] } == [["a": 1, "b": 2], ["a": 3]])
  }

  @Test func valueBeyondHeaderIsAnError() throws {
    let unnamed = storeError { _ = try imported("a,b,\n1,2,3\n") }
    #expect(unnamed?.code == StoreError.Code.columnName && unnamed?.line == 2 && unnamed?.column == 5)
    #expect(
      try imported("a,b,\n1,2,3\n") { $0.tolerated = .columnNames } == [["a": 1, "b": 2, "column_3": 3]])
    for text in ["a,b\n1,2,\"\"\n", "a,b\n1,2,,\n", "a,b\n1\n", "a,b,\n1,2,3,4\n"] {
      #expect(storeError { _ = try imported(text) }?.code == StoreError.Code.rowLength, "\(text)")
    }
  }

  @Test func columnsGetNamesOfTheirOwn() throws {
    func names(_ header: String) throws -> [String] {
      let count = header.count { $0 == "," } + 1
      let row = (1...count).map { "\($0)" }.joined(separator: ",")
      let record = try #require(
        try imported("\(header)\n\(row)\n") { $0.tolerated = .columnNames }.first)
      return record.dictionary.sorted { $0.value.integer ?? 0 < $1.value.integer ?? 0 }.map(\.key)
    }
    #expect(try names("a,b,a,a") == ["a", "b", "a_2", "a_3"])
    #expect(try names("a,a,a_2") == ["a", "a_3", "a_2"])
    #expect(try names(",a,,column_1") == ["column_1_2", "a", "column_3", "column_1"])
    for header in ["a,b,a", ",a"] {
      let error = storeError { _ = try imported("\(header)\n") }
      #expect(error?.code == StoreError.Code.columnName && error?.line == 1, "\(header)")
    }
  }

  @Test func givenNamesReplaceThoseOfHeader() throws {
    #expect(try imported("a,a\n1,2\n") { $0.fields = ["x", "y"] } == [["x": 1, "y": 2]])
    #expect(try imported("1,2\n", hasHeader: false) { $0.fields = ["x", "y"] } == [["x": 1, "y": 2]])
    #expect(
      storeError { _ = try imported("a,b\n1,2\n") { $0.fields = ["x"] } }?.code == StoreError.Code.rowLength)
  }

  @Test func raggedRowsAreTakenWhereAsked() throws {
    let rows = try imported("a,b\n1\n1,2,3,x\n\n4,5\n") { $0.tolerated = .rowLengths }
    #expect(
      rows == [["a": 1], ["a": 1, "b": 2, "column_3": "3", "column_4": "x"], ["a": 4, "b": 5]])
  }

  @Test(arguments: ["\n", "\r\n", "\r"]) func linesBeforeHeaderAreLeftOut(lineEnd: String) throws {
    for count in 0...3 {
      let before = (0..<count).map { "line \"\($0), x" + lineEnd }.joined()
      let text = before + "a,b" + lineEnd + "1,2" + lineEnd + "x" + lineEnd
      var format = DelimitedFormat.csv
      format.skippedLines = count
      let error = storeError { _ = try imported(text, format) }
      #expect(error?.line == count + 3, "the lines before count, too")
      #expect(try imported(String(text.dropLast(2)), format) == [["a": 1, "b": 2]])
    }
    var all = DelimitedFormat.csv
    all.skippedLines = 9
    #expect(storeError { _ = try imported("a\n1\n", all) }?.message.contains("the file is empty") == true)
  }

  @Test func numbersInOtherNotationsAreRead() throws {
    let cases: [(TextNotation.DecimalMark, String, PlistValue?)] = [
      (.comma, "1,5", 1.5), (.comma, "1.234,50", 1234.5), (.comma, "-1 234 567,25", -1_234_567.25),
      (.comma, "1'234,5", 1234.5), (.comma, "1\u{A0}234,5", 1234.5), (.comma, "1,5e3", 1500.0),
      (.comma, "1.5", nil), (.comma, "1.23.456", nil), (.comma, "1,2,3", nil), (.comma, ",5", nil),
      (.comma, "1.234'567,5", nil), (.comma, "5,", nil), (.comma, "", nil), (.comma, "x", nil),
      (.point, "1,234.50", 1234.5), (.point, "1.50", 1.5), (.point, "1,5", nil), (.point, "12345,678", nil),
      (.point, "+3", 3.0), (.point, "1,234,567", 1_234_567.0),
    ]
    for (mark, text, value) in cases {
      let notation = TextNotation(decimalMark: mark)
      let plain = notation.plain(text, as: .float)
      #expect(plain.flatMap(FieldType.float.value(of:)) == value, "\(mark) \(text) \(plain ?? "")")
    }
    #expect(
      try imported("a;b\n1,5;1.234,50\n2,0;3\n", try #require(DelimitedFormat(separator: ";"))) {
        $0.notation.decimalMark = .comma
      } == [["a": 1.5, "b": 1234.5], ["a": 2.0, "b": 3.0]])
    #expect(
      try imported("zip,n\n01234,1.000\n", .csv) { $0.notation.decimalMark = .comma } == [
        ["zip": "01234", "n": 1000]
      ])
  }

  @Test func numbersOfBothMarksComeBack() throws {
    var random = SeededRandom.fromEnvironment("numbersOfBothMarksComeBack")
    for _ in 0..<2_000 {
      let whole = Int.random(in: 0...10_000_000, using: &random)
      let fraction = Int.random(in: 0...999, using: &random)
      let mark = TextNotation.DecimalMark.allCases.randomElement(using: &random)!
      var groups = "\(whole)"
      let gap = [mark == .comma ? "." : ",", " ", "'", ""].randomElement(using: &random)!
      for place in stride(from: groups.count - 3, to: 0, by: -3) where !gap.isEmpty {
        groups.insert(contentsOf: gap, at: groups.index(groups.startIndex, offsetBy: place))
      }
      let text = "\(groups)\(mark.rawValue)\(fraction)"
      #expect(TextNotation(decimalMark: mark).plain(text, as: .float) == "\(whole).\(fraction)", "\(text)")
    }
  }

  @Test func datesAreReadByPattern() throws {
    let cases: [(String, String, String?)] = [
      ("%d.%m.%Y", "04.03.2026", "2026-03-04T00:00:00Z"), ("%d.%m.%Y", "4.3.2026", "2026-03-04T00:00:00Z"),
      ("%m/%d/%y", "12/31/99", "1999-12-31T00:00:00Z"), ("%m/%d/%y", "1/2/26", "2026-01-02T00:00:00Z"),
      ("%Y%m%d", "20260304", "2026-03-04T00:00:00Z"),
      ("%d.%m.%Y %H:%M", "04.03.2026 18:30", "2026-03-04T18:30:00Z"),
      ("%d.%m.%Y %H:%M:%S %z", "04.03.2026 18:30:05 +0130", "2026-03-04T17:00:05Z"),
      ("%d%%%m%%%Y", "4%3%2026", "2026-03-04T00:00:00Z"), ("%d.%m.%Y", "31.02.2026", nil),
      ("%d.%m.%Y", "4.3.26", nil), ("%d.%m.%Y", "04.03.2026 ", nil), ("%d.%m.%Y", "", nil),
      ("%d.%m.%Y", "4.13.2026", nil), ("%d.%m.%Y %z", "4.3.2026 x", nil), ("%d.%m.%Y", "٤.3.2026", nil),
    ]
    for (pattern, text, date) in cases {
      let found = try #require(DatePattern(pattern)).date(of: text).map {
        JSONText.value(.date($0)).filter { $0 != "\"" }
      }
      #expect(found == date, "\(pattern) \(text)")
    }
    for wrong in ["", "%d.%m", "%Y-%m", "%d %b %Y", "%", "%Y%m%d%", "%q%Y%m%d"] {
      #expect(DatePattern(wrong) == nil, "\(wrong)")
    }
    #expect(
      try imported("d\n04.03.2026\n2026-03-05\n") { $0.notation.datePattern = DatePattern("%d.%m.%Y") } == [
        ["d": .date(Date(timeIntervalSince1970: 1_772_582_400))],
        ["d": .date(Date(timeIntervalSince1970: 1_772_668_800))],
      ])
  }

  @Test func columnThatComesNearToATypeSaysWhatItIs() throws {
    func miss(_ texts: String...) throws -> ColumnDetection.NearMiss? {
      let text = "c\n" + texts.map { "\"\($0)\"\n" }.joined()
      let importer = TableImport(format: .delimited(.csv))
      let found = try importer.detection(of: ImportSource(Array(text.utf8), name: "text"))
      return try #require(found["c"]).nearMiss
    }
    #expect(try miss("1.50", "1.99") == .rewritten(.float, text: "1.50", written: "1.5"))
    #expect(try miss("1", "2", "1.50") == .rewritten(.float, text: "1.50", written: "1.5"))
    #expect(try miss("1.5", "NaN") == .rewritten(.float, text: "NaN", written: "nan"))
    #expect(try miss("3.0", "4") == .rewritten(.integer, text: "3.0", written: "3"))
    #expect(try miss("yes", "no") == .rewritten(.bool, text: "yes", written: "true"))
    #expect(
      try miss("2026-03-04 18:00", "2026-03-05")
        == .rewritten(.date, text: "2026-03-04 18:00", written: "2026-03-04T18:00:00Z"))
    #expect(try miss("1,5", "2") == .decimalMark(.comma, text: "1,5"))
    #expect(try miss("7", "1,234.5") == .decimalMark(.point, text: "1,234.5"))
    #expect(try miss("04.03.2026", "31.12.2026") == .datePatterns(["%d.%m.%Y"], text: "04.03.2026"))
    #expect(
      try miss("04/03/2026") == .datePatterns(["%d/%m/%Y", "%m/%d/%Y"], text: "04/03/2026"),
      "it may be either")
    for codes in [
      ["007", "008"], ["1", "01"], ["a", "1.50"], ["1.50", "x"], ["+49"], ["1E5"], ["12", "34"], [""],
    ] {
      #expect(try miss(codes.joined(separator: "\"\n\"")) == nil, "\(codes)")
    }
  }

  @Test func daysBecomeDatesAndComeBackAsDays() throws {
    let text = "d\n2026-03-04\n2026-03-05T00:00:00Z\n2026-03-05T12:00:00Z\n"
    let rows = try imported(text)
    #expect(rows.allSatisfy { $0["d"]?.date != nil })
    #expect(
      rows.compactMap { $0["d"] }.map(DelimitedWriter.text) == [
        "2026-03-04", "2026-03-05", "2026-03-05T12:00:00Z",
      ])
  }

  @Test func firstLineTellsItsSeparator() throws {
    func found(_ text: String, _ format: DelimitedFormat = .csv) -> StraySeparator? {
      StraySeparator(in: ImportSource(Array(text.utf8), name: "text"), as: format)
    }
    #expect(found("sep=;\na;b\n") == .declared(";"))
    #expect(found("\u{FEFF}sep=\t\r\na\tb\r\n") == .declared("\t"))
    #expect(found("sep=,\na,b\n") == .declared(","))
    #expect(found("sep=;;\n") == .alone(";"))
    #expect(found("\"a\";\"b\"\n\"1\";\"2\"\n") == .alone(";"))
    #expect(found("\"a;b\"\tc\n") == .alone("\t"))
    #expect(found("\"a;b\"\n") == .inQuotes(";"))
    #expect(found("\"a,b\"\n") == .inQuotes(","))
    #expect(found("a,b;c\n") == .besideCommas(";"))
    #expect(found("a,\"b;c\"\n") == nil)
    #expect(found("a\n1;2\n") == nil)
    var skipping = DelimitedFormat.csv
    skipping.skippedLines = 1
    #expect(found("x;y;z\na|b\n", skipping) == .alone("|"))
    #expect(found("a;b\n", DelimitedFormat.tsv) == nil)
  }

  @Test func wholeNumbersWithPointAreIntegers() {
    for (text, number) in [
      ("3.0", 3), ("-3.000", -3), ("0.0", 0), ("9007199254740993.0", 9_007_199_254_740_993),
    ] {
      #expect(FieldType.integer.value(of: text) == .integer(Int64(number)), "\(text)")
    }
    for text in ["3.01", "3.", ".0", "3.0.0", "3.0e1", ".", "x.0"] {
      #expect(FieldType.integer.value(of: text) == nil, "\(text)")
    }
    #expect(FieldType.integer.value(of: .real(3)) == 3)
    #expect(FieldType.integer.value(of: .real(3.5)) == nil)
    #expect(FieldType.integer.value(of: .real(1e300)) == nil)
  }
}
