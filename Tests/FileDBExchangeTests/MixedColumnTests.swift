import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// Fields whose values have several types.
@Suite struct MixedColumnTests {
  static let formats: [ExchangeFormat] = [
    .delimited(.csv), .delimited(.tsv), .json, .ndjson, .plist, .binaryPlist,
  ]
  private static let day = PlistValue.date(Date(timeIntervalSince1970: 1_709_164_800))
  private static let dayText = PlistValue.string("2024-02-29T00:00:00Z")

  /// Values that some format writes like a value of another type.
  private static let values: [PlistValue] = [
    4, 4.0, 7.5, -0.0, 0, "4", "4.0", "7.5", "-0", true, 1, "true", "1", day, dayText, "2024-02-29",
    .data(Data([1, 2, 3])), "AQID", .data(Data()), "", .real(.nan), "nan", .real(-.infinity), "-infinity",
    .unsigned(.max), "18446744073709551615", [1, 2.0, day], [1, 2.0, dayText], "[1, 2.0]", [], "[]", [:],
    "{}",
    ["when": day, "n": 1], ["when": dayText, "n": 1.0], "{\"n\": 1}", 9_007_199_254_740_993,
  ]

  /// An import as `filedb import` does it, with and without its search for types.
  private func imports(
    _ bytes: [UInt8], _ format: ExchangeFormat, _ matching: TableImport.Matching
  ) throws -> [TableImport] {
    let plain = importer(format) { $0.matching = matching }
    var detecting = plain
    detecting.fallbackTypes = try plain.detectedTypes(of: ImportSource(bytes, name: "file"))
    return [plain, detecting]
  }

  @Test(arguments: formats) func exportOfAnyTableChangesNothingWhenItIsImported(format: ExchangeFormat) throws
  {
    var random = SeededRandom.fromEnvironment("mixed columns \(format)")
    for _ in 0..<60 {
      try withStore { store in
        let table = try store.table("t")
        try table.create()
        // Few values in each field, so that integers and reals, or dates and text, are often alone.
        let kinds = (0..<3).map { _ in (0..<3).map { _ in Self.values.randomElement(using: &random)! } }
        for key in 0..<Int.random(in: 1...8, using: &random) {
          var record: Fields = ["key": .string("k\(key)")]
          for (name, values) in zip(["a", "id", "fields.id"], kinds) where Bool.random(using: &random) {
            record[name] = values.randomElement(using: &random)!
          }
          try table.add(record)
        }
        let before = table.lastSnapshot.map(\.fields)
        let bytes = try exported(table.lastSnapshot, TableExport(format: format))
        for matching in [TableImport.Matching.id, .key(["key"])] where matching == .id || !format.isPlist {
          for importer in try imports(bytes, format, matching) {
            let report = try take(bytes, importer, of: store)
            #expect(
              report.unchanged == before.count && report.changed == 0,
              "seed \(random.seed): \(report), \(matching), \(importer.fallbackTypes), \(before)")
            #expect(table.lastSnapshot.map(\.fields) == before, "seed \(random.seed)")
          }
        }
        try store.checkInvariants()
      }
    }
  }

  /// The export writes midnight as a day, and the text as it is.
  @Test func textThatIsADateStaysTextBesideDates() throws {
    try withStore { store in
      let table = try store.table("t")
      let day = PlistValue.date(Date(timeIntervalSince1970: 86_400))
      try table.add(contentsOf: [["d": "1970-01-02T00:00:00Z"], ["d": day], ["d": "1970-01-02"]])
      let before = table.lastSnapshot.map(\.fields)
      for format in Self.formats {
        let bytes = try exported(table.lastSnapshot, TableExport(format: format))
        for importer in try imports(bytes, format, .id) {
          #expect(try take(bytes, importer, of: store).changed == 0, "\(format)")
          #expect(table.lastSnapshot.map(\.fields) == before, "\(format)")
        }
      }
    }
  }

  @Test(arguments: [ExchangeFormat.delimited(.csv), .json])
  func integersAndRealsOfOneFieldAreNumbers(format: ExchangeFormat) throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [["p": 4], ["p": 7.5], ["p": .real(.nan)]])
      let new: [Fields] = [
        ["p": 5], ["p": 0.25], ["p": 9_007_199_254_740_993], ["p": .real(.infinity)], ["p": -3],
      ]
      try store.table("new").add(contentsOf: new)
      let snapshot = try store.table("new").snapshot()
      let bytes = try exported(snapshot, TableExport(format: format, fields: ["p"]))
      for importer in try imports(bytes, format, .nothing) + imports(bytes, format, .key(["p"])) {
        for id in table.lastSnapshot.ids where id.rawValue > 3 { try table.delete(id) }
        try take(bytes, importer, of: store)
        #expect(
          table.lastSnapshot.dropFirst(3).map { $0["p"] } == new.map { $0["p"] }, "\(importer.matching)")
      }
    }
  }

  @Test func textAmongNumbersIsRefusedWithItsPlace() throws {
    try withStore { store in
      try store.table("t").add(contentsOf: [["p": 4], ["p": 7.5]])
      let error = storeError {
        try take(Array("p\n5\nfree\n".utf8), TableImport(format: .delimited(.csv)), of: store)
      }
      #expect(error?.line == 3)
      #expect(error?.message.hasPrefix("'free' is not a number") == true, "\(String(describing: error))")
    }
  }

  /// A value that a row does change keeps its type if the new text can be of this type.
  @Test func changedValueKeepsItsTypeWhereTheFormatCannotTell() throws {
    let cases: [(format: ExchangeFormat, own: PlistValue, text: String, new: PlistValue)] = [
      (.delimited(.csv), 7.5, "8.5", 8.5), (.delimited(.csv), 7.5, "8", 8.0),
      (.delimited(.csv), 4, "4.5", 4.5),
      (.delimited(.csv), 4, "free", "free"), (.delimited(.csv), "4", "5", "5"),
      (.delimited(.csv), true, "1", "1"), (.delimited(.csv), true, "false", false),
      (.delimited(.csv), Self.day, "2024-03-01T00:00:00Z", .date(Date(timeIntervalSince1970: 1_709_251_200))),
      (.delimited(.csv), Self.day, "2024-03-01", .date(Date(timeIntervalSince1970: 1_709_251_200))),
      (.delimited(.csv), [Self.day, 1], "\"[\"\"2024-02-29T00:00:00Z\"\",2]\"", [Self.day, 2]),
      (.delimited(.csv), 7, "007", "007"),
      (.json, 4, "\"4\"", "4"), (.json, 4.0, "4", 4), (.json, 4, "5.0", 5.0),
      (.json, Self.day, "\"2024-03-01T00:00:00Z\"", .date(Date(timeIntervalSince1970: 1_709_251_200))),
      (
        .json, ["when": Self.day, "n": 1], "{\"when\": \"2024-02-29T00:00:00Z\", \"n\": 2}",
        ["when": Self.day, "n": 2]
      ),
      (.json, [Self.day, 1], "[\"2024-02-29T00:00:00Z\", 2, 3]", [Self.day, 2, 3]),
      (.json, .real(.nan), "\"infinity\"", "infinity"),
      (.json, .real(.nan), "\"+infinity\"", .real(.infinity)),
    ]
    for (format, own, text, new) in cases {
      try withStore { store in
        let table = try store.table("t")
        // Values of all types, so that the field has none.
        try table.add(contentsOf: [
          ["k": "own", "v": own], ["k": "a", "v": "text"], ["k": "b", "v": 1], ["k": "c", "v": []],
        ])
        let row =
          if case .json = format { "[{\"k\": \"own\", \"v\": \(text)}]" } else { "k,v\nown,\(text)\n" }
        let report = try take(Array(row.utf8), importer(format) { $0.matching = .key(["k"]) }, of: store)
        #expect(report.changed == 1)
        #expect(table.lastSnapshot[0]["v"] == new, "\(own) and \(text)")
      }
    }
  }

  @Test func givenTypeDecidesAlsoWhereTheTextIsTheSame() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [["v": 4], ["v": "x"]])
      let csv = importer(.delimited(.csv)) { ($0.matching, $0.types) = (.id, ["v": .string]) }
      try take(Array("id,v\n1,4\n".utf8), csv, of: store)
      #expect(table.lastSnapshot[0]["v"] == "4")
      let declaring = importer(.delimited(.csv)) {
        ($0.matching, $0.schema) = (.id, TableSchema(fields: [FieldSchema("w", type: .float)]))
      }
      try table.set(["w": "1"], of: 1)
      try take(Array("id,w\n1,1\n".utf8), declaring, of: store)
      #expect(table.lastSnapshot[0]["w"] == 1.0)
    }
  }

  /// The schema says only that it is an array or a dictionary.
  @Test(arguments: [ExchangeFormat.delimited(.csv), .json])
  func partsOfADeclaredDictionaryKeepTheirTypes(format: ExchangeFormat) throws {
    try withStore { store in
      let table = try store.table("t")
      try table.declare(TableSchema(fields: [FieldSchema("v", type: .json), FieldSchema("w")]))
      let value: PlistValue = [
        "when": Self.day, "raw": .data(Data([1])), "list": [Self.day, Self.dayText, 1, 1.0],
      ]
      try table.add(contentsOf: [["v": value, "w": 4], ["v": [Self.day], "w": "4"], ["v": [Self.dayText]]])
      let before = table.lastSnapshot.map(\.fields)
      let bytes = try exported(table.lastSnapshot, TableExport(format: format))
      for importer in try imports(bytes, format, .id) {
        #expect(try take(bytes, importer, of: store).unchanged == 3)
        #expect(table.lastSnapshot.map(\.fields) == before)
      }
    }
  }

  @Test func whatWasNotEditedInJSONKeepsItsType() throws {
    let value: PlistValue = ["when": Self.day, "n": 1, "list": [Self.day, .data(Data([1])), .real(.nan)]]
    let old: Fields = ["v": value, "due": Self.day, "x": .real(.infinity)]
    let text = String(decoding: try RecordText.json.bytes(of: old), as: UTF8.self)
    let edited = text.replacing("\"n\": 1", with: "\"n\": 2")
    #expect(edited != text)
    var expected = old
    guard case .dict(var parts) = value else { return }
    parts["n"] = 2
    expected["v"] = .dict(parts)
    #expect(try RecordText.json.fields(from: Array(edited.utf8), was: old, name: "text") == expected)
  }

  @Test func mixedKeyMatchesItsRecord() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [["k": 1, "v": "a"], ["k": "x", "v": "b"]])
      let bytes = Array("k,v\n1,c\nx,b\n".utf8)
      let report = try take(bytes, importer(.delimited(.csv)) { $0.matching = .key(["k"]) }, of: store)
      #expect((report.changed, report.unchanged) == (1, 1))
      #expect(table.lastSnapshot.map(\.fields) == [["k": 1, "v": "c"], ["k": "x", "v": "b"]])
    }
  }
}

extension ExchangeFormat {
  /// Whether the file tells the types of its values, and has ids apart from the fields.
  var isPlist: Bool {
    switch self {
    case .plist, .binaryPlist: true
    case .delimited, .json, .ndjson: false
    }
  }
}
