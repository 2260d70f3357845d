import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct ImportTests {
  @Test(arguments: [
    ("name;kcal\nFig;74\n", "';'"), ("name\tkcal\nFig\t74\n", "a tab"), ("name|kcal\nFig|74\n", "'|'"),
    ("\u{FEFF}name;kcal\r\nFig;74,5\r\n", "';'"),
  ])
  func separatorIsNoticedInHeader(text: String, name: String) throws {
    try withTemporaryFolder { folder in
      let result = try filedb("import", "-", "t", "--no-detect", in: folder, input: text)
      #expect(
        result.error
          == "the fields are separated by \(name); if they are not, give --separator ,\n1 record imported into 't'\n"
      )
      #expect(try RecordStore(at: folder).table("t").record(with: 1).fields["name"] == "Fig")
      let one = try filedb(
        "import", "-", "one", "--separator", ",", "--on-error", "skip", in: folder, input: text)
      #expect(one.status == (text.contains("74,5") ? 65 : 0), "asked for, it is one field: \(one.error)")
    }
  }

  @Test(arguments: [
    (
      "a,b;c\n1,2\n", [],
      "the first line has both ',' and ';'; if ';' separates the fields, give --separator ';'\n"
    ),
    (
      "a,b\tc\n1,2\n", [],
      "the first line has both ',' and a tab; if a tab separates the fields, give --separator tab\n"
    ),
    (
      "1;2\n", ["--columns", "a"],
      "the first line has ';' but no ','; give --separator ';' if ';' separates the fields\n"
    ),
    ("a,b|c\n1,2\n", [], ""),
    ("\"a;b\"\n1\n", [], "the first line is a single field in quotes, although it has ';' in it\n"),
    ("a;b\n1;2\n", ["--separator", ";"], ""),
    ("a\n1;2\n", [], ""),
  ])
  func otherSeparatorBesideCommasIsReported(text: String, options: [String], note: String) throws {
    try withTemporaryFolder { folder in
      let result = try filedb(["import", "-", "t", "--no-detect"] + options, in: folder, input: text)
      #expect(result == ToolResult(output: "", error: note + "1 record imported into 't'\n", status: 0))
    }
  }

  @Test func importNamesFieldsByHeaderOrOption() throws {
    try withTemporaryFolder { folder in
      try Data("name,kcal,note\nApple,52,\"red,\nor green\"\nPear,,\n".utf8).write(
        to: folder.appendingPathComponent("f.csv"))
      let result = try filedb("import", "f.csv", "food", "--header", "--types", "kcal=integer", in: folder)
      #expect(result == ToolResult(output: "", error: "2 records imported into 'food'\n", status: 0))
      #expect(
        try filedb("show", "food", "--format", "ndjson", in: folder).output == """
          {"id": 1, "kcal": 52, "name": "Apple", "note": "red,\\nor green"}
          {"id": 2, "name": "Pear"}

          """)
      #expect(
        try filedb(
          "import", "-", "food", "--columns", "name,kcal,note", "--top", in: folder, input: "Fig,74,x\n"
        ).status == 0)
      #expect(
        try filedb("show", "food", "--limit", "1", "--format", "csv", in: folder).output
          == "id,name,kcal,note\n3,Fig,74,x\n")
    }
  }

  @Test func dryRunReportsButImportsNothing() throws {
    try withTemporaryFolder { folder in
      let result = try filedb("import", "-", "t", "--header", "--dry-run", in: folder, input: "n\n1\n")
      #expect(
        result.error
          == "dry run: nothing was written\ntypes:\n  integer  n\n1 record would be imported into 't'\n")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
  }

  @Test func oneWrongRowStopsWholeImport() throws {
    try withTemporaryFolder { folder in
      try Data("n\n1\n2\nthree\n".utf8).write(to: folder.appendingPathComponent("f.csv"))
      let result = try filedb("import", "f.csv", "t", "--header", "--types", "n=integer", in: folder)
      #expect(result.status == 65)
      #expect(result.error == "filedb: f.csv:4:1: field 'n': 'three' is not a whole number\n")
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(files.sorted() == [".filedb", "f.csv"])
    }
  }

  @Test(arguments: [1_000, 2_500]) func importedRowsKeepTheirOrder(count: Int) throws {
    try withTemporaryFolder { folder in
      try RecordStore(at: folder).table("t").add(["n": "last"])
      let numbers = (1...count).map(String.init)
      let text = (["n"] + numbers).joined(separator: "\n")
      #expect(try filedb("import", "-", "t", "--header", "--top", in: folder, input: text).status == 0)
      let records = try RecordStore(at: folder).table("t").lastSnapshot
      #expect(records.map { $0.fields["n"]?.string } == numbers + ["last"])
      #expect(records.map(\.id.rawValue) == (2...Int64(count + 1)) + [1])
    }
  }

  private static let usda: [(file: String, fields: String, types: String, count: Int)] = [
    (
      "FOOD_DES",
      "ndb,group,long,short,common,manufacturer,survey,refuse_text,refuse,scientific,nitrogen,protein,fat,carbohydrate",
      "refuse=integer,nitrogen=float,protein=float,fat=float,carbohydrate=float", 8_789
    ), ("FD_GROUP", "code,name", "", 25),
    (
      "WEIGHT", "ndb,seq,amount,measure,grams,points,deviation",
      "seq=integer,amount=float,grams=float,points=integer,deviation=float", 15_438
    ),
    ("LANGUAL", "ndb,factor", "", 38_301), ("FOOTNOTE", "ndb,number,type,nutrient,text", "", 553),
    ("NUTR_DEF", "number,unit,tag,name,decimals,order", "decimals=integer,order=integer", 150),
    ("LANGDESC", "factor,description", "", 774),
  ]

  /// Every table of the USDA's food data, against a reading of the same file that knows only this file's shape.
  @Test(.enabled(if: sharedFolderHas("data/usda-sr28"), "needs ../shared/data/usda-sr28"), arguments: usda)
  func realTablesAreImportedExactly(file: String, fields: String, types: String, count: Int) throws {
    try withTemporaryFolder { folder in
      let source = sharedFolder.appendingPathComponent("data/usda-sr28/\(file).txt")
      let options = [
        "--separator", "^", "--quote", "~", "--encoding", "windows-1252", "--columns", fields, "--types",
        types,
      ]
      let result = try filedb(["import", source.path, "t"] + options, in: folder)
      #expect(result.status == 0, "\(result.error)")
      let snapshot = try RecordStore(at: folder).table("t").lastSnapshot
      #expect(snapshot.count == count)

      let text = try #require(String(data: Data(contentsOf: source), encoding: .windowsCP1252))
      let names = fields.split(separator: ",").map(String.init)
      let lines = text.split(separator: "\r\n")
      #expect(lines.count == count)
      let wrong = zip(lines, snapshot).first { line, record in
        let texts = line.split(separator: "^", omittingEmptySubsequences: false)
        return !zip(names, texts).allSatisfy { name, quoted in
          let text = quoted.hasPrefix("~") ? quoted.dropFirst().dropLast() : quoted
          return switch record.fields[name] {
          case .string(let value)?: text == value
          case .integer(let value)?: Int64(text) == value
          case .real(let value)?: Double(text) == value
          case nil: text.isEmpty
          default: false
          }
        }
      }
      #expect(wrong == nil)
      // Another reader of property lists agrees.
      let root =
        try PropertyListSerialization.propertyList(
          from: Data(contentsOf: folder.appendingPathComponent("t.plist")), format: nil) as? [String: Any]
      #expect((root?["data"] as? [[String: Any]])?.count == count)
    }
  }
}
