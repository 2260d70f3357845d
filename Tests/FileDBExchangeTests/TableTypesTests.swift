import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// Imports into a table whose records say the types of its fields.
@Suite struct TableTypesTests {
  private static let day = PlistValue.date(Date(timeIntervalSince1970: 1_709_164_800))
  private static let texts: [ExchangeFormat] = [.delimited(.csv), .delimited(.tsv), .json, .ndjson]

  /// Values of every type, each of which some format writes like one of another type.
  private static let records: [Fields] = [
    [
      "text": "007", "int": 1, "real": 2.0, "bool": true, "date": day, "data": .data(Data([1, 2])),
      "array": [day, day], "dict": ["when": day, "raw": .data(Data([3])), "size": 1.0], "id": "a", "id_": day,
    ],
    [
      "text": "true", "int": .unsigned(.max), "real": .real(.nan), "bool": false, "date": day,
      "data": .data(Data()), "array": [], "dict": ["when": day, "list": ["2024-02-29T00:00:00Z"]], "id": "2",
      "id_": day,
    ],
    ["text": "2024-02-29T00:00:00Z", "real": .real(-.infinity), "array": [day]],
    ["text": "[1]", "int": -5, "dict": [:], "id": "true"], ["text": ""], [:],
  ]

  @Test(arguments: texts) func everyTypeComesBack(format: ExchangeFormat) throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: Self.records)
      let file = try exported(table.lastSnapshot, TableExport(format: format))
      let byID = importer(format) { $0.matching = .id }
      let unchanged = try take(file, byID, of: store)
      #expect(unchanged.unchanged == Self.records.count, "\(unchanged)")
      // As long as one record has a field, the others come back.
      for id in table.lastSnapshot.ids where id != 1 { try table.delete(id) }
      let report = try take(file, byID, of: store)
      #expect((report.added, report.unchanged) == (Self.records.count - 1, 1))
      for (record, expected) in zip(table.lastSnapshot, Self.records) {
        #expect(record.fields == expected, "record \(record.id)")
      }
      #expect(report.tableTypes["date"] == .date && report.tableTypes["id_"] == .date)
      #expect(report.tableTypes["text"] == nil, "text is text in every format")
    }
  }

  @Test(arguments: texts) func everyTypeComesBackByKey(format: ExchangeFormat) throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: Self.records)
      let file = try exported(table.lastSnapshot, TableExport(format: format))
      let byKey = importer(format) {
        $0.matching = .key(["text"])
        $0.onError = .skip  // The last record has no key.
      }
      let report = try take(file, byKey, of: store)
      #expect((report.added, report.unchanged, report.skipped.count) == (0, Self.records.count - 1, 1))
    }
  }

  @Test func valueThatDoesNotFitIsRefusedWithItsPlace() throws {
    let day = Self.day
    let cases: [(format: ExchangeFormat, text: String, line: Int, column: Int, words: String)] = [
      (.delimited(.csv), "n,due\na,2024-02-29\nb,soon\n", 3, 3, "'soon' is not a date like"),
      (.delimited(.tsv), "size\tdue\n1.5\t\n", 2, 1, "'1.5' is not a whole number"),
      (.ndjson, "{\"due\": \"2024-02-29\"}\n{\"due\": \"soon\"}\n", 2, 1, "'soon' is not a date like"),
      (.json, "[{\"n\": \"x\"},\n {\"n\": 7}]", 2, 2, "'7' is not text"),
      (.json, "[{\"tags\": \"x\"}]", 1, 2, "'x' is not an array"),
      (.json, "[{\"more\": [1]}]", 1, 2, "'[1]' is not a dictionary"),
      (.delimited(.csv), "tags\n{}\n", 2, 1, "'{}' is not an array"),
    ]
    for (format, text, line, column, words) in cases {
      try withStore { store in
        let table = try store.table("t")
        try table.add(["n": "a", "due": day, "size": 1, "tags": ["x"], "more": [:]])
        let error = try #require(
          storeError { try take(Array(text.utf8), TableImport(format: format), of: store) })
        #expect(error.code == .invalidText && error.file == "file")
        #expect(error.line == line && error.column == column, "\(error)")
        #expect(error.message.hasPrefix(words), "\(error)")
        #expect(error.message.hasSuffix("; the table has only such values in this field"), "\(error)")
        #expect(try table.count == 1)
        let skipping = importer(format) { $0.onError = .skip }
        let report = try take(Array(text.utf8), skipping, of: store)
        #expect(report.skipped.map(\.description) == [error.description])
        #expect(try table.count == 1 + report.added)
      }
    }
  }

  @Test func givenTypesWin() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(["a": Self.day, "b": 1, "c": "x"])
      let types: [String: FieldType] = ["a": .string, "b": .float, "c": .json]
      let csv = importer(.delimited(.csv)) { $0.types = types }
      let report = try take(Array("a,b,c\nsoon,2,[]\n".utf8), csv, of: store)
      #expect(report.tableTypes.isEmpty)
      let json = importer(.json) { $0.types = types }
      try take(Array("[{\"a\": \"2024-02-29\", \"b\": 3, \"c\": 7}]".utf8), json, of: store)
      #expect(
        table.lastSnapshot.dropFirst().map(\.fields) == [
          ["a": "soon", "b": 2.0, "c": []], ["a": "2024-02-29", "b": 3.0, "c": 7],
        ])
    }
  }

  @Test func fieldOfSeveralTypesOrNoRecordIsReadAsWithoutTable() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [["a": Self.day, "e\u{301}": Self.day], ["a": "x"]])
      let csv = try take(
        Array("a,new,\u{e9}\n2024-02-29,1,2024-02-29\n".utf8), importer(.delimited(.csv)), of: store)
      let json = try take(Array("[{\"a\": 7, \"newer\": 1.0}]".utf8), importer(.json), of: store)
      #expect(csv.tableTypes.isEmpty && json.tableTypes.isEmpty)
      #expect(
        table.lastSnapshot.dropFirst(2).map(\.fields) == [
          ["a": "2024-02-29", "new": "1", "\u{e9}": "2024-02-29"], ["a": 7, "newer": 1.0],
        ])
      try store.table("empty").create()
      try take(Array("n\n1\n".utf8), importer(.delimited(.csv)), into: "empty", of: store)
      #expect(try store.table("empty").lastSnapshot.map(\.fields) == [["n": "1"]])
    }
  }

  @Test func tableCountsMoreThanDetection() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(["zip": "01099", "kcal": 1.0])
      let text = Array("zip,kcal,new\n7,2,3\n".utf8)
      var csv = importer(.delimited(.csv))
      csv.fallbackTypes = try csv.detectedTypes(of: ImportSource(text, name: "file"))
      let report = try take(text, csv, of: store)
      #expect(report.tableTypes == ["zip": .string, "kcal": .float])
      #expect(table.lastSnapshot[1].fields == ["zip": "7", "kcal": 2.0, "new": 3])
    }
  }

  @Test func emptyTextIsMissingWhereTableHasNoText() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(["s": "x", "due": Self.day, "raw": .data(Data([1])), "tags": []])
      let csv = importer(.delimited(.csv)) { $0.emptyText = .text }
      try take(Array("s,due,raw,tags\n,,,\n\"\",\"\",\"\",\"\"\n".utf8), csv, of: store)
      #expect(table.lastSnapshot.dropFirst().map(\.fields) == [["s": ""], ["s": "", "raw": .data(Data())]])
    }
  }

  /// It says the type of each value itself.
  @Test func propertyListKeepsItsTypes() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(["a": 1])
      let list = "<plist><array><dict><key>a</key><string>1</string></dict></array></plist>"
      let report = try take(Array(list.utf8), importer(.plist), of: store)
      #expect(table.lastSnapshot[1].fields == ["a": "1"] && report.tableTypes.isEmpty)
    }
  }
}
