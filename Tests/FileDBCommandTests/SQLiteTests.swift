import FileDB
import Foundation
import TestSupport
import Testing

private let hasSQLiteProgram =
  (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
  .contains { FileManager.default.isExecutableFile(atPath: "\($0)/sqlite3") }

@Suite struct SQLiteTests {
  private func withFoods(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let foods = try RecordStore(at: folder).table("food")
      let day = PlistValue.date(Date(timeIntervalSince1970: 1_709_164_800))
      try foods.add(contentsOf: [
        ["name": "Fig", "kcal": 74, "fat": 0.3, "fresh": true],
        ["name": "Butter", "kcal": 717, "fat": 81.0, "id": "B", "position": "low", "best": day],
        ["name": "Pear", "picture": .data(Data([0, 255])), "kcal": 57, "tags": ["ripe", ["n": 1]]],
      ])
      try foods.move(3, to: .top)
      try foods.delete(foods.add(["name": "gone"]))
      try foods.store.close()
      try body(folder)
    }
  }

  @Test func tableSurvivesExportAndImport() throws {
    try withFoods { folder in
      for file in ["f.sqlite", "f.db", "f.sqlite3", "f"] {
        let format = file == "f" ? ["--format", "sqlite"] : []
        let result = try filedb(["export", "food", file] + format, in: folder)
        #expect(result == ToolResult(output: "", error: "3 records exported to '\(file)'\n", status: 0))
        let options = ["--table", "food", "--ids", "--types", "tags=json"]
        #expect(
          try filedb(["import", file, "again"] + options, in: folder).error
            == "3 added, 0 changed, 0 unchanged\n")
        let files = try ["food", "again"].map {
          try Data(contentsOf: folder.appendingPathComponent("\($0).plist"))
        }
        #expect(files[0] == files[1])
        #expect(
          try filedb(["import", file, "again"] + options, in: folder).error
            == "0 added, 0 changed, 3 unchanged\n")
        try filedb("drop", "again", "--yes", in: folder)
      }
    }
  }

  @Test func exportSelectsRecordsAndNamesTable() throws {
    try withFoods { folder in
      try filedb("export", "food", "f.db", in: folder)
      let refused = try filedb("export", "food", "f.db", in: folder)
      #expect(
        refused.status == 65
          && refused.error.contains("table 'food': the database already has a table of this name"))
      let result = try filedb(
        "export", "food", "f.db", "--replace", "--where", "kcal < 100", "--sort", "kcal", "--fields",
        "name,id", in: folder)
      #expect(result.error == "2 records exported to 'f.db'\n")
      #expect(try filedb("export", "food", "f.db", "--table", "other", in: folder).status == 0)
      #expect(try filedb("import", "f.db", "copy", "--table", "food", in: folder).status == 0)
      #expect(
        try filedb("show", "copy", "--format", "ndjson", in: folder).output == """
          {"id": 1, "fields.id": 3, "name": "Pear", "position": 0}
          {"id": 2, "fields.id": 1, "name": "Fig", "position": 1}

          """)
      #expect(
        try filedb("export", "food", "f.db", "--replace", "--where", "kcal = 1", in: folder).status == 1)
      let missing = try filedb("import", "f.db", "none", in: folder)
      #expect(missing.status == 1 && missing.error.hasSuffix("no such table; it has 'food', 'other'\n"))
    }
  }

  @Test func importByKeyChangesMatchingRecords() throws {
    try withFoods { folder in
      try filedb("export", "food", "f.db", "--fields", "name,kcal", in: folder)
      try filedb("set", "food", "1", "kcal:integer=75", in: folder)
      try filedb("delete", "food", "3", in: folder)
      let select = "SELECT name, kcal FROM food ORDER BY name DESC"
      let arguments = ["import", "f.db", "food", "--query", select, "--key", "name"]
      #expect(
        try filedb(arguments + ["--dry-run"], in: folder).error
          == "dry run: nothing was written\n1 would be added, 1 would be changed, 1 unchanged\n")
      #expect(try filedb(arguments, in: folder).error == "1 added, 1 changed, 1 unchanged\n")
      #expect(try filedb(arguments, in: folder).error == "0 added, 0 changed, 3 unchanged\n")
      #expect(
        try filedb("show", "food", "--fields", "name,kcal", "--format", "csv", in: folder).output
          == "id,name,kcal\n1,Fig,74\n2,Butter,717\n5,Pear,57\n")
      try filedb("undo", in: folder)
      #expect(try filedb("count", "food", in: folder).output == "2\n")
      // The id and position columns of a table that an export made are not fields.
      #expect(
        try filedb("import", "f.db", "food", "--key", "name", in: folder).error
          == "1 added, 1 changed, 1 unchanged\n")
      #expect(
        try filedb("show", "food", "--fields", "name,kcal,fields.id,position", "--format", "csv", in: folder)
          .output
          == "id,name,kcal,fields.id,position\n1,Fig,74,,\n2,Butter,717,B,low\n6,Pear,57,,\n")
    }
  }

  @Test(.enabled(if: hasSQLiteProgram, "needs the sqlite3 program"))
  func databaseMadeBySQLiteProgramIsReadExactly() throws {
    try withTemporaryFolder { folder in
      let schema = """
        CREATE TABLE "a ""b"" — c" ("x y", "select" INTEGER, [é] REAL, d DATETIME, g AS ("select" + 1));
        INSERT INTO "a ""b"" — c" VALUES
          ('it''s', 9223372036854775807, 1e-320, '2024-02-29T12:00:00Z'), (x'0061ff', NULL, 3, '2024-02-29 12:00:00'),
          ('a' || char(10) || '"b"', -9223372036854775807 - 1, 0.1, 2460370.0), (1, 1, -0.5, NULL);
        CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
        INSERT INTO w VALUES ('b', 1), ('a', 2.5);
        CREATE VIEW v AS SELECT k || '!' AS k FROM w ORDER BY v;
        PRAGMA journal_mode = WAL;
        """
      try Data(schema.utf8).write(to: folder.appendingPathComponent("s.sql"))
      // Without an extension, the format is found by the first bytes.
      #expect(try shell("sqlite3 -bail data < s.sql", in: folder).status == 0)
      #expect(try filedb("import", "data", "t", "--table", "a \"b\" — c", in: folder).status == 0)
      #expect(
        try filedb("show", "t", "--format", "ndjson", in: folder).output == """
          {"id": 1, "d": "2024-02-29T12:00:00Z", "g": 9.223372036854776e+18, "select": 9223372036854775807, "x y": "it's", "é": 1e-320}
          {"id": 2, "d": "2024-02-29 12:00:00", "x y": "AGH/", "é": 3.0}
          {"id": 3, "d": 2460370, "g": -9223372036854775807, "select": -9223372036854775808, "x y": "a\\n\\"b\\"", "é": 0.1}
          {"id": 4, "g": 2, "select": 1, "x y": 1, "é": -0.5}

          """)
      let dates = try filedb("count", "t", "--where", "d = DATE('2024-02-29T12:00:00Z')", in: folder)
      #expect(dates.output == "1\n", "\(dates)")
      for (table, texts) in [("w", ["a", "b"]), ("v", ["b!", "a!"])] {
        try filedb("import", "data", table, in: folder)
        let records = try RecordStore(at: folder).table(table).lastSnapshot
        #expect(records.map { $0["k"] } == texts.map(PlistValue.string))
      }
    }
  }

  @Test(.enabled(if: hasSQLiteProgram, "needs the sqlite3 program"))
  func wrongRowsAreReported() throws {
    try withTemporaryFolder { folder in
      let made = try shell(
        "sqlite3 f.db \"CREATE TABLE t (n, s); INSERT INTO t VALUES (1, 'a'), ('x', 'b'), (3, 'c' || char(0))\"",
        in: folder)
      #expect(made.status == 0)
      let place = folder.appendingPathComponent("f.db").path
      let stopped = try filedb("import", "f.db", "t", "--types", "n=integer", in: folder)
      #expect(stopped.status == 65)
      #expect(
        stopped.error == "filedb: \(place): table 't': field 'n': row 2: 'x' is not a whole number\n")
      let result = try filedb("import", "f.db", "t", "--types", "n=integer", "--on-error", "skip", in: folder)
      #expect(result.status == 0)
      #expect(result.error.hasSuffix("\n1 record imported into 't', 2 skipped\n"))
      #expect(result.error.contains("field 's': row 3: XML cannot hold the character U+0000"))
      #expect(try filedb("count", "t", in: folder).output == "1\n")
    }
  }

  @Test func unsuitableOptionsAndFilesAreRefused() throws {
    let cases: [(arguments: [String], status: Int32, words: String)] = [
      (["import", "f.db", "t", "--detect"], 64, "for csv and tsv"),
      (["import", "f.db", "t", "--empty", "text"], 64, "for csv and tsv"),
      (["import", "f.db", "t", "--columns", "a"], 64, "for csv and tsv"),
      (["import", "f.db", "t", "--separator", ";"], 64, "for csv and tsv"),
      (["import", "f.db", "t", "--table", "a", "--query", "b"], 64, "one of --table and --query"),
      (["import", "f.csv", "t", "--table", "a"], 64, "for SQLite databases"),
      (["import", "f.json", "t", "--query", "a"], 64, "for SQLite databases"),
      (["import", "-", "t", "--format", "sqlite"], 64, "name a file"),
      (["import", "f.db", "t", "--query", "DELETE FROM food"], 65, "should be one SELECT"),
      (["import", "f.db", "t", "--query", "SELEC"], 65, "syntax error"),
      (["import", "nofile.db", "t"], 66, "there is no such file"),
      (["import", "letter.db", "t"], 65, "file is not a database"),
      (["import", "f.db", "t", "--format", "csv"], 65, "UTF-8"),
      (["export", "food", "--format", "sqlite"], 64, "name a file"),
      (["export", "food", "g.db", "--line-end", "crlf"], 64, "for csv and tsv"),
      (["export", "food", "g.db", "--quote", "'"], 64, "for csv and tsv"),
      (["export", "food", "g.csv", "--replace"], 64, "for SQLite databases"),
      (["export", "food", "g.csv", "--table", "a"], 64, "for SQLite databases"),
      (["export", "food", "letter.db"], 65, "file is not a database"),
      (["export", "food", "food", "--format", "sqlite"], 64, "taken for a table"),
      (["export", "food", "nowhere/g.db"], 66, "nowhere: there is no such folder"),
    ]
    try withFoods { folder in
      try filedb("export", "food", "f.db", in: folder)
      let letter = folder.appendingPathComponent("letter.db")
      try Data("This is a letter, not a database.".utf8).write(to: letter)
      let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      for (arguments, status, words) in cases {
        let result = try filedb(arguments, in: folder)
        #expect(result.status == status, "\(arguments): \(result.error)")
        #expect(result.error.contains(words), "\(arguments): \(result.error)")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
      #expect(try filedb("import", "f.db", "food2", "--table", "food", in: folder).status == 0)
    }
  }
}
