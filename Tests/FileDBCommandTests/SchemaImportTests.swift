import FileDB
import FileDBPlist
import Foundation
import TestSupport
import Testing

/// Imports and scripts that meet the rules of a table, and types that stick.
@Suite struct SchemaImportTests {
  private func withMedia(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let media = try store.table("media")
      try media.declare(TableSchema(fields: [FieldSchema("title", isUnique: true)]))
      try media.add(contentsOf: [["title": "Alien", "year": "1979"], ["title": "Brazil", "year": "1985"]])
      try store.close()
      try body(folder)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  private func titles(in folder: URL) throws -> [PlistValue?] {
    try RecordStore(at: folder).table("media").snapshot().map { $0.fields["title"] }
  }

  @Test(arguments: [
    ("--key", "year", "year", ["1979", "1985", "1999"]), ("--ids", "", "id", ["1", "2", "9"]),
  ])
  func duplicateOfAKeyedImportIsToldWithItsLine(option: String, key: String, column: String, keys: [String])
    throws
  {
    try withMedia { folder in
      let options = key.isEmpty ? [option] : [option, key]
      func run(_ rows: [(String, String)], _ more: String...) throws -> ToolResult {
        let csv = rows.reduce("\(column),title\n") { "\($0)\($1.0),\($1.1)\n" }
        return try filedb(["import", "-", "media"] + options + more, in: folder, input: csv)
      }
      let changed = try run([(keys[1], "Brazil"), (keys[0], "Brazil")])
      #expect(changed.status == 65)
      #expect(
        changed.error
          == "filedb: standard input:3: table 'media': record 1: field 'title': record 2 has 'Brazil' already, and the field is unique\n",
        "\(changed.error)")
      let added = try run([(keys[1], "Heat"), (keys[2], "Alien")])
      #expect(
        added.status == 65 && added.error.hasPrefix("filedb: standard input:3: table 'media': field"),
        "\(added.error)")
      let skipped = try run(
        [(keys[0], "Brazil"), (keys[2], "Brazil"), (keys[1], "Heat")], "--on-error", "skip")
      #expect(skipped.status == 0 && skipped.error.contains("standard input:2:"), "\(skipped.error)")
      #expect(
        skipped.error.contains("standard input:3:")
          && skipped.error.contains("0 added, 1 changed, 0 unchanged, 2"))
      #expect(try titles(in: folder) == ["Alien", "Heat"])
      // Only the end counts.
      #expect(try run([(keys[0], "Heat"), (keys[1], "Alien")]).status == 0)
      #expect(try titles(in: folder) == ["Heat", "Alien"])
    }
  }

  @Test func referenceWithinTheImportedTableIsToldWithItsLine() throws {
    try withMedia { folder in
      try filedb("schema", "media", "sequel", "--references", "media.title", in: folder)
      let right = "title,sequel\nHeat,Heat 2\nHeat 2,\n"
      #expect(try filedb("import", "-", "media", in: folder, input: right).status == 0)
      let wrong = try filedb("import", "-", "media", in: folder, input: "title,sequel\nDune,Heat\nEve,Adam\n")
      #expect(
        wrong.status == 65
          && wrong.error.contains("standard input:3: table 'media': field 'sequel'"))
    }
  }

  @Test func scriptNamesTheLineThatBrokeARuleInTheEnd() throws {
    try withMedia { folder in
      let scripts: [(script: String, line: Int)] = [
        ("# A comment.\nset media 1 title=Brazil\nadd media title=Eve\n", 2),
        ("add media title=Eve\nadd media title=Alien\nadd media title=Fargo\n", 2),
        (
          "create other\nadd media title=Eve\nadd other n=1\nadd media title=Eve year=1\nset media 2 year=1\n",
          2
        ),
        ("schema media year --type string --required\nadd media title=Eve\nset media 1 year=1980\n", 2),
        ("unset media 1 year\nschema media year --required\n", 1),
        ("set media 1 year=1980\nschema media rating --required\n", 2),
      ]
      for (script, line) in scripts {
        let result = try filedb("batch", in: folder, input: script)
        #expect(result.status == 65)
        #expect(
          result.error.hasPrefix("filedb: standard input:\(line): table 'media'"),
          "\(script): \(result.error)")
        #expect(result.error.hasSuffix("nothing of the script was done\n"), "\(result.error)")
        #expect(try titles(in: folder) == ["Alien", "Brazil"])
      }
      let exchange = "set media 1 title=Brazil\nset media 2 title=Alien\n"
      #expect(try filedb("batch", "--dry-run", in: folder, input: exchange).status == 0)
      #expect(try filedb("batch", in: folder, input: exchange).status == 0)
      #expect(try titles(in: folder) == ["Brazil", "Alien"])
    }
  }

  // MARK: - Types that stick

  private static let everyType: [Fields] = [
    [
      "b": true, "d": .date(Date(timeIntervalSince1970: 86_399)), "data": .data(Data([0, 255, 10])), "i": -12,
      "j": ["k": [1, "x", 1.5]], "r": 0.1, "s": "12", "whole": 3.0,
    ],
    ["b": false, "i": 7, "j": [:], "r": -0.5, "s": "true", "whole": -4.0, "only": "2024-02-29"], ["s": ""],
    [:],
  ]

  @Test(arguments: ["x.csv", "x.tsv", "x.json", "x.ndjson"])
  func exportWithASchemaGivesAnotherStoreTheSameTable(file: String) throws {
    try withTemporaryFolder { folder in
      let (from, to) = (folder.appendingPathComponent("from"), folder.appendingPathComponent("to"))
      let store = try RecordStore(at: from)
      try store.table("t").add(contentsOf: Self.everyType)
      try store.table("t").delete(3)  // So that its ids have a gap.
      try store.close()
      try FileManager.default.createDirectory(at: to, withIntermediateDirectories: true)
      #expect(try filedb("export", "t", "../\(file)", "--schema", "../s.json", in: from).status == 0)
      let result = try filedb("import", "../\(file)", "t", "--ids", "--schema", "../s.json", in: to)
      #expect(result.status == 0, "\(result.error)")
      let (before, after) = (
        try store.reopened().table("t").snapshot(), try RecordStore(at: to).table("t").snapshot()
      )
      #expect(after.ids == before.ids && after.map(\.fields) == before.map(\.fields))
      #expect(try after.schema?["s"]?.type == .string)
      // And back, without a word about types: the table has them.
      #expect(try filedb("import", "../\(file)", "t", "--ids", in: from).error.contains("3 unchanged"))
      try RecordStore(at: to).checkInvariants()
    }
  }

  @Test(
    .enabled(
      if: ["/usr/bin/jq", "/usr/local/bin/jq"].contains { FileManager.default.isExecutableFile(atPath: $0) },
      "needs jq"))
  func linesThatWentThroughJQKeepDatesAndData() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      try store.table("t").add(contentsOf: Self.everyType)
      try store.close()
      let result = try shell("filedb show t --format ndjson | jq . | filedb import - t --ids", in: folder)
      #expect(
        result.status == 0 && result.error.contains("0 added, 0 changed, 4 unchanged"), "\(result.error)")
      let snapshot = try store.reopened().table("t").snapshot()
      #expect(snapshot.map(\.fields) == Self.everyType)
    }
  }

  @Test func columnsKeepTheOrderOfTheFirstImport() throws {
    try withTemporaryFolder { folder in
      for (table, text) in [("c", "z,b,a\n1,2,3\n"), ("j", #"[{"z": 1, "b": 2, "a": 3}]"#)] {
        #expect(try filedb("import", "-", table, in: folder, input: text).status == 0)
        let shown = try filedb("show", table, "--format", "csv", in: folder)
        #expect(shown.output.hasPrefix("id,z,b,a\n"), "\(table): \(shown.output)")
      }
      let exported = try filedb("export", "c", "x.db", in: folder)
      #expect(exported.status == 0, "\(exported.error)")
      #expect(try filedb("import", "x.db", "d", "--table", "c", "--ids", in: folder).status == 0)
      #expect(try filedb("show", "d", "--format", "csv", in: folder).output.hasPrefix("id,z,b,a\n"))
    }
  }

  @Test func schemaOfAnImportIsDeclaredAndKept() throws {
    try withTemporaryFolder { folder in
      let schema = #"""
        {"fields": [{"name": "n", "type": "integer", "constraints": {"required": true, "maximum": 9}}, {"name": "s"}]}
        """#
      try Data(schema.utf8).write(to: folder.appendingPathComponent("s.json"))
      let wrong = try filedb("import", "-", "t", "--schema", "s.json", in: folder, input: "n,s\n1,2\n10,3\n")
      #expect(wrong.status == 65 && wrong.error.contains("standard input:3:1: field 'n'"), "\(wrong.error)")
      #expect(try RecordStore(at: folder).tableNames.isEmpty)
      #expect(
        try filedb("import", "-", "t", "--schema", "s.json", in: folder, input: "n,s\n1,2\n").status == 0)
      #expect(try RecordStore(at: folder).table("t").snapshot().map(\.fields) == [["n": 1, "s": "2"]])
      #expect(try filedb("add", "t", "s=x", in: folder).status == 65)
      #expect(try filedb("import", "-", "t", "--schema", "-", in: folder).status == 64)
      #expect(try filedb("export", "t", "x.db", in: folder).status == 0)
      let fromDatabase = try filedb("import", "x.db", "u", "--table", "t", "--schema", "s.json", in: folder)
      #expect(fromDatabase.status == 0, "\(fromDatabase.error)")
      #expect(try filedb("add", "u", "s=x", in: folder).status == 65)
      #expect(try filedb("export", "t", "-", "--schema", "-", in: folder).status == 64)
      let both = try filedb("export", "t", "t.csv", "--schema", "-", in: folder)
      #expect(
        both.output.contains(#""name": "n", "type": "integer", "constraints": {"required": true"#),
        "\(both.output)")
    }
  }
}
