import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct ExchangeTests {
  private func withFoods(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let foods = try RecordStore(at: folder).table("food")
      try foods.add(contentsOf: [
        ["name": "Pear, ripe", "kcal": 57], ["name": "Fig", "kcal": 74, "fat": 0.3],
        ["name": "Butter", "kcal": 717, "fat": 81.0, "id": "B"],
      ])
      try foods.store.close()
      try body(folder)
    }
  }

  private func write(_ text: String, to name: String, in folder: URL) throws {
    try Data(text.utf8).write(to: folder.appendingPathComponent(name))
  }

  private func read(_ name: String, in folder: URL) throws -> String {
    try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
  }

  @Test func exportWritesSameTextAsShow() throws {
    try withFoods { folder in
      for format in ["csv", "tsv", "json", "ndjson", "plist"] {
        let shown = try filedb(
          "show", "food", "--format", format, "--where", "kcal > 60", "--sort", "name", "--fields", "name,id",
          in: folder)
        let printed = try filedb(
          "export", "food", "--format", format, "--where", "kcal > 60", "--sort", "name", "--fields",
          "name,id", in: folder)
        #expect(printed == shown)
      }
      let result = try filedb("export", "food", "food.json", in: folder)
      #expect(result == ToolResult(output: "", error: "3 records exported to 'food.json'\n", status: 0))
      #expect(
        try read("food.json", in: folder) == filedb("show", "food", "--format", "json", in: folder).output)
    }
  }

  @Test func exportFollowsOptionsOfDelimitedText() throws {
    try withFoods { folder in
      let result = try filedb(
        "export", "food", "-", "--separator", ";", "--quote", "'", "--no-header", "--line-end", "crlf",
        "--fields", "name",
        "--where", "kcal < 100", in: folder)
      #expect(result.output == "1;Pear, ripe\r\n2;Fig\r\n")
      let noQuote = try filedb("export", "food", "f.csv", "--quote", "", in: folder)
      #expect(noQuote.status == 65)
      #expect(
        noQuote.error == "filedb: record 1: field 'name': a separator or a line end in a field needs quotes\n"
      )
      #expect(try filedb("tables", in: folder).status == 0)
    }
  }

  @Test func otherEncodingsAreExportedAndImported() throws {
    try withFoods { folder in
      try filedb("set", "food", "2", "name=Crème", in: folder)
      for encoding in ["latin-1", "windows-1252", "utf-16", "utf-16le", "utf-16be"] {
        try filedb("export", "food", "f.csv", "--encoding", encoding, "--where", "id = 2", in: folder)
        let bytes = try Data(contentsOf: folder.appendingPathComponent("f.csv"))
        let known: [String: String.Encoding] = [
          "latin-1": .isoLatin1, "windows-1252": .windowsCP1252, "utf-16": .utf16,
          "utf-16le": .utf16LittleEndian,
          "utf-16be": .utf16BigEndian,
        ]
        let text = try String(data: bytes, encoding: #require(known[encoding]))
        #expect(text == "id,fat,kcal,name\n2,0.3,74,Crème\n", "\(encoding)")
        let options = ["--encoding", encoding, "--types", "kcal=integer,fat=float", "--ids"]
        #expect(
          try filedb(["import", "f.csv", "food"] + options, in: folder).error
            == "0 added, 0 changed, 1 unchanged\n")
      }
    }
  }

  @Test func failedExportLeavesFileUnchanged() throws {
    try withFoods { folder in
      try write("old", to: "f.csv", in: folder)
      try filedb("set", "food", "3", "name=Čaj", in: folder)
      let result = try filedb("export", "food", "f.csv", "--encoding", "latin-1", in: folder)
      #expect(
        result.status == 65 && result.error.contains("record 3: field 'name': Latin-1 has no character 'Č'"))
      #expect(try read("f.csv", in: folder) == "old")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(names.filter { $0.hasPrefix(".f.csv") } == [])
    }
  }

  @Test(arguments: ["f.csv", "f.json", "f.db"]) func exportOfNoRecordsLeavesFileUnchanged(file: String) throws
  {
    try withFoods { folder in
      try filedb("export", "food", file, in: folder)
      let bytes = try Data(contentsOf: folder.appendingPathComponent(file))
      let result = try filedb(
        ["export", "food", file, "--where", "kcal < 0"] + (file == "f.db" ? ["--replace"] : []), in: folder)
      #expect(
        result == ToolResult(output: "", error: "filedb: table 'food': no record matches\n", status: 1))
      #expect(try Data(contentsOf: folder.appendingPathComponent(file)) == bytes)
      // A stream is complete even without records.
      let stream = try filedb("export", "food", "--format", "json", "--where", "kcal < 0", in: folder)
      #expect(
        stream == ToolResult(output: "[]\n", error: "filedb: table 'food': no record matches\n", status: 1))
    }
  }

  @Test func exportNeverOverwritesTableThroughLink() throws {
    try withFoods { folder in
      let table = try read("food.plist", in: folder)
      let made = try shell(
        """
        mkdir out other; ln -s ../food.plist out/link; ln -s .. out/folder; ln -s ../none.plist out/none; cd other; filedb create t; filedb create bare
        filedb checkpoint; mv bare.plist bare; ln -s ../other/bare ../out/bare; ln -s ../out/bare chain
        """, in: folder)
      #expect(made.error == "")
      for path in [
        "out/link", "out/none", "out/folder/food.plist", "out/folder/new.plist", "other/t.plist",
        "other/bare",
        "other/chain",
      ] {
        let result = try filedb("export", "food", path, in: folder)
        #expect(result.status == 64 && result.error.contains("taken for a table"), "\(path): \(result.error)")
      }
      #expect(try read("food.plist", in: folder) == table)
      #expect(try filedb("tables", in: folder.appendingPathComponent("other")).status == 0)
      #expect(try shell("ln -s ../f.csv out/f; filedb export food out/f", in: folder).status == 0)
      #expect(try read("f.csv", in: folder).hasPrefix("id,"))
    }
  }

  @Test func everyFormatSurvivesExportAndImport() throws {
    try withFoods { folder in
      let table = try filedb("export", "food", "--format", "plist", in: folder).output
      for file in ["f.csv", "f.tsv", "f.json", "f.ndjson", "out/f.plist", "f.bin"] {
        try FileManager.default.createDirectory(
          at: folder.appendingPathComponent("out"), withIntermediateDirectories: true)
        let format = file == "f.bin" ? ["--format", "binary-plist"] : []
        #expect(try filedb(["export", "food", file] + format, in: folder).status == 0)
        let types = ["f.csv", "f.tsv"].contains(file) ? ["--types", "kcal=integer,fat=float"] : []
        let result = try filedb(["import", file, "again", "--ids"] + format + types, in: folder)
        #expect(result.error == "3 added, 0 changed, 0 unchanged\n")
        #expect(try filedb("export", "again", "--format", "plist", in: folder).output == table)
        try filedb("drop", "again", "--yes", in: folder)
      }
    }
  }

  @Test func importByKeyChangesMatchingRecords() throws {
    try withFoods { folder in
      try write("name,kcal\nFig,74\nButter,720\nKiwi,61\nPlum,46\n", to: "f.csv", in: folder)
      let arguments = ["import", "f.csv", "food", "--key", "name"]
      let trial = try filedb(arguments + ["--dry-run"], in: folder)
      #expect(
        trial.error
          == "dry run: nothing was written\n2 would be added, 1 would be changed, 1 unchanged\n"
      )
      let result = try filedb(arguments, in: folder)
      #expect(result.error == "2 added, 1 changed, 1 unchanged\n")
      #expect(
        try filedb("show", "food", "--format", "csv", in: folder).output
          == "id,fat,fields.id,kcal,name\n1,,,57,\"Pear, ripe\"\n2,0.3,,74,Fig\n3,81,B,720,Butter\n4,,,61,Kiwi\n5,,,46,Plum\n"
      )
      #expect(
        try filedb(arguments, in: folder).error == "0 added, 0 changed, 4 unchanged\n")
      try filedb("undo", in: folder)
      #expect(try filedb("count", "food", in: folder).output == "3\n")
    }
  }

  @Test(arguments: ["ndjson", "json", "csv", "tsv"]) func shownRecordsComeBackWithTheirTypes(format: String)
    throws
  {
    try withTemporaryFolder { folder in
      let fields = [
        "due:date=2024-02-29", "raw:data=AQI=", "code=007", "n:integer=7", "size:float=2", "done:bool=true",
        #"tags:json=["a"]"#,
      ]
      try filedb("create", "t", in: folder)
      try filedb(["add", "t"] + fields, in: folder)
      let table = try filedb("export", "t", "--format", "plist", in: folder).output
      let shown = try filedb("show", "t", "--format", format, in: folder).output
      let again = try filedb("import", "-", "t", "--ids", "--format", format, in: folder, input: shown)
      #expect(again.error.hasSuffix("0 added, 0 changed, 1 unchanged\n"))
      try filedb("set", "t", "1", "due:date=2020-01-01", "raw:data=", "code=1", in: folder)
      let result = try filedb("import", "-", "t", "--ids", "--format", format, in: folder, input: shown)
      #expect(!result.error.contains("n: read as"))
      #expect(result.error.contains("raw: read as data, as in the table\n"))
      #expect(!result.error.contains("code: read as"))
      #expect(try filedb("export", "t", "--format", "plist", in: folder).output == table)

      let refused = try filedb(
        "import", "-", "t", "--format", "ndjson", in: folder,
        input: "{\"due\": \"2024-03-01\"}\n{\"due\": \"soon\"}\n")
      #expect(refused.status == 65)
      #expect(refused.error.hasPrefix("filedb: standard input:2:1: field 'due': 'soon' is not a date"))
      #expect(try filedb("count", "t", in: folder).output == "1\n")
    }
  }

  @Test func skippedRowsAreReported() throws {
    try withTemporaryFolder { folder in
      try write("n,s\n1,a\nx,b\n3,c\n", to: "f.csv", in: folder)
      let skip = ["--types", "n=integer", "--on-error", "skip"]
      let result = try filedb(["import", "f.csv", "t"] + skip, in: folder)
      #expect(
        result.error
          == "filedb: f.csv:3:1: field 'n': 'x' is not a whole number\n2 records imported into 't', 1 skipped\n"
      )
      #expect(result.status == 0)
      try write("n,s\nx,b\n", to: "f.csv", in: folder)
      #expect(try filedb(["import", "f.csv", "t"] + skip, in: folder).status == 65)
      #expect(try filedb("count", "t", in: folder).output == "2\n")
    }
  }

  @Test func largeCountsAreGrouped() throws {
    try withTemporaryFolder { folder in
      try write("n\n" + String(repeating: "1\nx\n", count: 1_234), to: "f.csv", in: folder)
      let result = try filedb(
        "import", "f.csv", "t", "--types", "n=integer", "--on-error", "skip", in: folder)
      #expect(result.error.hasSuffix("\n1,234 records imported into 't', 1,234 skipped\n"))
      let changed = try filedb("set", "t", "--where", "n = 1", "n:integer=2", in: folder)
      #expect(changed.error == "1,234 records changed\n")
    }
  }

  /// With --ids, the same file would change the record itself.
  @Test func importSaysWhatBecomesOfAColumnNamedID() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb("add", "t", "a=1", in: folder)
      let line = try filedb("show", "t", "--format", "ndjson", in: folder).output
      try write(line, to: "f.ndjson", in: folder)
      #expect(
        try filedb("import", "f.ndjson", "t", in: folder).error == """
          the column 'id' becomes the field 'fields.id'; with --ids, it gives the ids of the records
          1 record imported into 't'
          't' had 1 record before; to change those instead of adding more, give --key FIELD or --ids

          """)
      #expect(
        try filedb("show", "t", "--format", "ndjson", in: folder).output
          == "\(line){\"id\": 2, \"a\": \"1\", \"fields.id\": 1}\n")
      #expect(
        try filedb("import", "f.ndjson", "t", "--ids", in: folder).error
          == "0 added, 0 changed, 1 unchanged\n")
    }
  }

  @Test(arguments: ["f.csv", "f.json", "f.plist"]) func importOfOnlyWrongRowsMakesNoTable(file: String) throws
  {
    try withTemporaryFolder { folder in
      try write("d\nnever\nsoon\n", to: "f.csv", in: folder)
      try write("[{\"d\": \"never\"}]", to: "f.json", in: folder)
      try write(
        "<plist version=\"1.0\"><array><dict><key>d</key><string>never</string></dict></array></plist>",
        to: "f.plist", in: folder)
      let result = try filedb("import", file, "t", "--types", "d=date", "--on-error", "skip", in: folder)
      #expect(result.status == 65)
      #expect(try RecordStore(at: folder).tableNames == ["f"], "the property list itself")
      // A file without rows is a table without records.
      #expect(try filedb("import", "-", "t", in: folder, input: "d\n").status == 0)
      #expect(try filedb("count", "t", in: folder).output == "0\n")
    }
  }

  @Test func fieldNamedIDIsShownAsFieldsID() throws {
    try withFoods { folder in
      let shown = try filedb("show", "food", "--where", "id = 3", "--fields", "fields.id,name", in: folder)
      #expect(shown.output == "id  fields.id  name\n 3  B          Butter\n")
    }
  }

  @Test(arguments: [
    ("2024-02-29T10:00:00+02:00", "2024-02-29T08:00:00Z"), ("2024-02-29T10:00+0200", "2024-02-29T08:00:00Z"),
    ("2024-02-29 12:30:15 -00:30", "2024-02-29T13:00:15Z"), ("2024-02-29 12:00", "2024-02-29T12:00:00Z"),
    ("2024-02-29T12:00:00.5Z", "2024-02-29T12:00:00Z"), ("2024-02-29", "2024-02-29"),
    ("2024-02-29T00:00:00.5Z", "2024-02-29"),
  ])
  func datesAreReadInUsualForms(text: String, date: String) throws {
    try withTemporaryFolder { folder in
      try filedb("import", "-", "t", "--types", "d=date", in: folder, input: "d\n\(text)\n")
      try filedb("add", "t", "d:date=\(text)", in: folder)
      try filedb("add", "t", "d=x", in: folder)
      try filedb("set", "t", "3", "d:date=\(text)", in: folder)
      for id in ["1", "2", "3"] { #expect(try filedb("get", "t", id, "d", in: folder).output == date + "\n") }
      let detected = try filedb("import", "-", "u", in: folder, input: "d\n\(text)\n")
      let isDay = text.utf8.count == 10
      let said =
        isDay
        ? "types:\n  date  d\n"
        : "d: text, because '\(text)' as date would be written \(date); to change that, give --types d=date\n"
      #expect(detected.error == said + "1 record imported into 'u'\n")
    }
  }

  @Test(arguments: ["", " --no-detect"]) func importReadsPipeOnce(options: String) throws {
    try withTemporaryFolder { folder in
      let line = "mkfifo p; (printf 'n\\nx\\n' > p) & filedb import p t\(options)"
      let result = try shell(line, in: folder)
      #expect(result.error.hasSuffix("1 record imported into 't'\n"))
    }
  }

  @Test func slowPipeDoesNotLockStore() async throws {
    let (folder, scratch) = (try makeTemporaryFolder(), try makeTemporaryFolder())
    defer { for made in [folder, scratch] { try? FileManager.default.removeItem(at: made) } }
    let path = scratch.appendingPathComponent("pipe").path
    try #require(mkfifo(path, 0o600) == 0)
    // An end that reads, too, so that this one sees what is left in the pipe.
    let ends = [O_RDONLY, O_WRONLY].map { open(path, $0 | O_NONBLOCK | O_CLOEXEC) }
    try FileHandle(fileDescriptor: ends[1]).write(contentsOf: Data("n\nx\n".utf8))
    let tool = try RunningTool(["import", path, "t"], in: folder, scratch: scratch)
    try await wait(for: "filedb to read the first lines") {
      var pipe = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
      return poll(&pipe, 1, 0) == 0
    }
    #expect(try filedb("create", "u", in: folder).status == 0)
    for end in ends { close(end) }
    #expect(try await tool.status() == 0)
    #expect(try filedb("count", "t", in: folder).output == "1\n")
  }

  @Test func typesAreDetectedInStandardInput() throws {
    try withTemporaryFolder { folder in
      let result = try filedb("import", "-", "t", in: folder, input: "n,s\n1,007\n2,\n")
      #expect(result.error == "types:\n  integer  n\n2 records imported into 't'\n")
      #expect(
        try filedb("show", "t", "--format", "ndjson", in: folder).output
          == "{\"id\": 1, \"n\": 1, \"s\": \"007\"}\n{\"id\": 2, \"n\": 2}\n")
    }
  }
}
