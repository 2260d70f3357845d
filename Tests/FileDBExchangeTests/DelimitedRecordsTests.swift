import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// Rows of delimited text that become records without a value for each cell on the way.
@Suite struct DelimitedRecordsTests {
  /// With a key every row is looked at value by value, and without one only those that are wrong or unusual.
  @Test(arguments: DelimitedImport.EmptyText.allCases)
  func importWithoutKeyMakesTheSameRecordsAsOneWithKey(empty: DelimitedImport.EmptyText) throws {
    var random = SeededRandom.fromEnvironment("delimited records")
    let cells = [
      "", "\"\"", "a", "\"x\"\"y\"", "\"a,b\"", "\"two\nlines\"", "\"\r\n\"", "\"cr\rx\"", "é<&>", "😀 & more",
      "7",
      "-0", "007", "1e5", "2024-02-29", "true", "no", "[1]", "a\u{1}", "\u{FFFE}", "\t", "<<<<<<<<<<",
      String(repeating: "ž", count: 40), "AQI=",
    ]
    let long = String(repeating: "&", count: 70_000)
    let types: [String: FieldType] = [
      "i": .integer, "f": .float, "b": .bool, "d": .date, "x": .data, "j": .json,
    ]
    let names = ["key", "zz", "a&b", "wgFile", "Ä"] + types.keys.sorted()
    var text = names.joined(separator: ",") + "\n"
    for number in 0..<400 {
      // In each column once.
      let longColumn = number % 40 == 0 ? 1 + number / 40 % (names.count - 1) : nil
      let values = names.enumerated().dropFirst().map { column, name in
        if column == longColumn { return long }
        let isPlain = types[name] == nil || Int.random(in: 0..<4, using: &random) == 0
        return isPlain ? cells.randomElement(using: &random)! : ""
      }
      text += ([String(number)] + values).joined(separator: ",")
      text += ["\n", "\r\n", "\r", "\n\n"].randomElement(using: &random)!
    }
    func outcome(_ matching: TableImport.Matching) throws -> ([StoredRecord<Fields>], [String]) {
      try withStore { store in
        let report = try take(
          Array(text.utf8),
          importer(.delimited(.csv)) {
            $0.types = types
            $0.emptyText = empty
            $0.onError = .skip
            $0.matching = matching
          }, of: store)
        return (Array(try store.table("t").lastSnapshot), report.skipped.map(\.description))
      }
    }
    let (records, errors) = try outcome(.nothing)
    let (expected, expectedErrors) = try outcome(.key(["key"]))
    #expect(records == expected, "seed \(random.seed)")
    #expect(errors == expectedErrors, "seed \(random.seed)")
    #expect(records.count > 20 && errors.count > 20)
  }

  @Test func numbersAreStoredAsTheyAreBuiltFromText() throws {
    let numbers = [
      "0", "-0", "1", "-1", "01", "00", "1.5", "1.50", ".5", "5.", "0.0001", "0.00001", "-0.001", "0.00011",
      "1e3",
      "123456789012345", "1234567890123456", "12345678901234.5", "0.1234567890123", "100", "1e-5", " 7", "+7",
      "999999999999999999", "9223372036854775807", "9223372036854775808", "18446744073709551616",
      "-9223372036854775808",
      "nan", "inf", "0x1F", "-", "1-", "1.-5", "4503599627370497.5", "0.3", "2.675", "99999999999999",
      "-12.25",
    ]
    for (type, name) in [(FieldType.integer, "integer"), (.float, "float")] {
      let text = "a\n" + numbers.joined(separator: "\n") + "\n"
      try withStore { store in
        let report = try take(
          Array(text.utf8),
          importer(.delimited(.csv)) {
            $0.types = ["a": type]
            $0.onError = .skip
          }, of: store)
        let expected = numbers.compactMap { type.value(of: $0) }
        try store.table("u").add(contentsOf: expected.map { ["a": $0] })
        // To the byte.
        #expect(try Array(store.table("t").lastSnapshot) == Array(store.table("u").lastSnapshot), "\(name)")
        #expect(report.skipped.count == numbers.count - expected.count)
      }
    }
  }

  @Test func wrongRowsAreSkippedWithTheirPlaces() throws {
    try withStore { store in
      let bytes = Array("a,b\n1,".utf8) + [0xFF] + Array("\n2,\u{1}\n3\n4,\"\u{FFFF}\"\n5,é\n".utf8)
      let report = try take(bytes, importer(.delimited(.csv)) { $0.onError = .skip }, of: store)
      #expect(report.skipped.map(\.line) == [2, 3, 4, 5])
      #expect(report.skipped.map(\.column) == [3, 3, 1, 3])
      #expect(report.skipped[0].message.contains("field 2 is not UTF-8"))
      #expect(report.added == 1)
      #expect(try store.table("t").lastSnapshot.map(\.fields) == [["a": "5", "b": "é"]])
    }
  }

  @Test func rowsGoToTheirPlaceAndGetTheNextIDs() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [["a": "first"], ["a": "gone"], ["a": "last"]])
      try table.delete(2)
      try store.write { tx in
        let source = ImportSource(Array("a\nx\ny\n".utf8), name: "file")
        _ = try importer(.delimited(.csv)).run(source, into: .records("t"), at: .after(1), in: &tx)
      }
      #expect(table.lastSnapshot.ids == [1, 4, 5, 3])
      #expect(table.lastSnapshot.map { $0.fields["a"] } == ["first", "x", "y", "last"])
    }
  }

  @Test func reservedNameAsColumnIsRefused() throws {
    try withStore { store in
      let error = storeError {
        _ = try take(Array("a,wgFileDbSecretId\n1,2\n".utf8), importer(.delimited(.csv)), of: store)
      }
      #expect(error?.code == .reservedField)
      #expect(error?.line == 2)
    }
  }

  @Test func limitOfStoreAppliesToImportedText() throws {
    let options = StoreOptions(limits: PlistLimits(valueBytes: 10))
    try withStore(options: options) { store in
      let error = storeError {
        _ = try take(Array("a\n12345678901\n".utf8), importer(.delimited(.csv)), of: store)
      }
      #expect(error?.code == .unrepresentableValue, "\(String(describing: error))")
    }
  }
}
