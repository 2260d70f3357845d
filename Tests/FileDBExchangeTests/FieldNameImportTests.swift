import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// Names of fields that no format may bring in.
@Suite struct FieldNameImportTests {
  private static let twice = [
    "{\"a\": 1, \"a\": 2}", "{\"a\": 1, \"a\": null}", "{\"a\": null, \"a\": 1}",
    "{\"a\": null, \"a\": null}",
    "{\"a\": {\"b\": null, \"b\": 1}}", "{\"a\": [{\"b\": 1, \"c\": 2, \"b\": null}]}",
    "{\"\\u00e9\": null, \"\u{e9}\": 1}", "{\"b\": null, \"a\": null, \"b\": null}",
  ]

  @Test(arguments: [ExchangeFormat.json, .ndjson]) func keyTwiceIsAWrongRow(format: ExchangeFormat) throws {
    for row in Self.twice {
      try withStore { store in
        let skipping = importer(format) { $0.onError = .skip }
        let report = try take(Array("{\"n\": 1}\n\(row)\n{\"n\": 2}\n".utf8), skipping, of: store)
        #expect(report.added == 2 && report.skipped.count == 1, "\(row): \(report)")
        #expect(report.skipped.first?.line == 2)
        #expect(report.skipped.first?.message.contains("is in the object twice") == true)
      }
      #expect(FieldType.json.value(of: row) == nil, "\(row)")
    }
  }

  @Test func namesThatDifferInBytesAreTwoKeys() throws {
    let row = "[{\"e\u{301}\": null, \"\u{e9}\": 1, \"a\": null, \"b\": null}]"
    try withStore { store in
      try take(Array(row.utf8), TableImport(format: .json), of: store)
      #expect(try store.table("t").lastSnapshot.map(\.fields) == [["\u{e9}": 1]])
    }
  }

  private static let plist = """
    <?xml version="1.0"?><plist version="1.0"><array>
    <dict><key>n</key><integer>1</integer></dict><dict><key></key><integer>1</integer></dict>
    </array></plist>
    """
  private static let nameless: [(format: ExchangeFormat, text: String)] = [
    (.json, "[{\"n\": 1},\n{\"\": 1}]"),
    (.ndjson, "{\"n\": 1}\n{\"n\": 2, \"\": null, \"\u{301}\": 1, \"\": 1}\n"),
    (.ndjson, "{\"n\": 1}\n{\"n\": 2, \"\": 1}\n"), (.plist, plist), (.delimited(.csv), "n,\n1,2\n"),
    (.delimited(.csv), "n,\"\"\n1,2\n"), (.delimited(.tsv), "\tn\n1\t2\n"),
  ]

  @Test(arguments: nameless.indices) func fieldWithoutANameIsRefused(index: Int) throws {
    let (format, text) = Self.nameless[index]
    for matching in [TableImport.Matching.nothing, .id, .key(["n"])] {
      try withStore { store in
        let importer = importer(format) { $0.matching = matching }
        let error = try #require(storeError { try take(Array(text.utf8), importer, of: store) })
        #expect(
          [StoreError.Code.invalidText, .columnName, .invalidValue].contains(error.code), "\(error)")
        #expect(error.message.contains("no name") || error.message.contains("twice"), "\(error)")
        #expect(error.file == "file")
        #expect(try store.tableNames == [])
      }
    }
  }

  /// Inside a value, keys are data. An npm lock file has such a key, for example.
  @Test(arguments: [ExchangeFormat.json, .ndjson, .delimited(.csv), .plist, .binaryPlist])
  func keyInsideAValueMayBeEmpty(format: ExchangeFormat) throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(["packages": ["": ["name": "own"], "b": ["": 1]]])
      let bytes = try exported(table.lastSnapshot, TableExport(format: format))
      let before = table.lastSnapshot.map(\.fields)
      let report = try take(bytes, importer(format) { $0.matching = .id }, of: store)
      if !format.isPlist { #expect(report.unchanged == 1) }
      #expect(table.lastSnapshot.first?.fields == before[0])
    }
  }
}
