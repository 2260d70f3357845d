import FileDB
import FileDBExchange
import FileDBSQLite
import Foundation
import TestSupport
import Testing

@Suite struct SQLiteExportTests {
  @Test func columnsHaveTheTypesOfTheirValues() throws {
    try withDatabase { file in
      try withStore { store in
        let table = try store.table("t")
        let first = try table.add([
          "array": [1, "x"], "bool": true, "data": .data(Data([0, 255])), "empty": .data(Data()),
          "int": .integer(.max),
          "mixed": 1, "day": .date(Date(timeIntervalSince1970: 1_709_208_000)), "real": 0.5,
          "text": "it's \"x\"",
          "large": .unsigned(.max),
        ])
        try table.add(
          ["mixed": 1.0, "int": .integer(.min), "bool": false, "real": .real(.nan)], at: .before(first))
        #expect(try SQLiteExport(to: file, table: "t").run(table.lastSnapshot) == 2)
      }
      #expect(
        try sql("SELECT name, type, pk FROM pragma_table_info('t')", in: file) == [
          ["id", "INTEGER", "1"], ["position", "INTEGER", "0"], ["array", "TEXT", "0"],
          ["bool", "BOOLEAN", "0"], ["data", "BLOB", "0"], ["day", "DATETIME", "0"], ["empty", "BLOB", "0"],
          ["int", "INTEGER", "0"], ["large", "", "0"], ["mixed", "", "0"], ["real", "REAL", "0"],
          ["text", "TEXT", "0"],
        ])
      let columns = [
        "id", "position", "array", "bool", "data", "day", "empty", "int", "large", "mixed", "real", "text",
      ]
      let quoted = columns.map { "quote(\($0))" }.joined(separator: " || ';' || ")
      let records = try imported(
        SQLiteImport(.query("SELECT \(quoted) AS v FROM t ORDER BY position"), of: file))
      #expect(
        records.map { $0["v"] } == [
          "2;0;NULL;0;NULL;NULL;NULL;-9223372036854775808;NULL;1.0;'nan';NULL",
          "1;1;'[1, \"x\"]';1;X'00FF';'2024-02-29T12:00:00Z';X'';9223372036854775807;'18446744073709551615';1;0.5;'it''s \"x\"'",
        ])
    }
  }

  @Test(.enabled(if: sqliteProgram != nil, "needs the sqlite3 program"))
  func sqliteProgramReadsExportedDatabase() throws {
    try withDatabase { file in
      try withStore { store in
        let table = try store.table("notes")
        try table.add(["title": "é", "due": .date(Date(timeIntervalSince1970: 0))])
        try SQLiteExport(to: file, table: "notes").run(table.lastSnapshot)
      }
      let output = try runSQLiteProgram(
        file, "PRAGMA integrity_check; SELECT id, position, title, strftime('%s', due) FROM notes")
      #expect(output == "ok\n1|0|é|0\n")
    }
  }

  /// Each field has values of one type or of several that SQLite tells apart.
  @Test func randomTablesSurviveExportAndImport() throws {
    var random = SeededRandom.fromEnvironment("SQLite")
    for _ in 0..<60 {
      let table = RandomTable(using: &random)
      try withDatabase { file in
        try withStore { store in
          try store.write { tx in try tx["t"].replaceAll(identified: table.records) }
          try store.table("t").delete(store.table("t").add([:]))
          try SQLiteExport(to: file, table: "t").run(store.table("t").lastSnapshot)
          var importer = SQLiteImport(exported: "t", of: file)
          importer.types = table.types
          try take(importer, into: "back", of: store)
          let (old, new) = (try store.table("t").lastSnapshot, try store.table("back").lastSnapshot)
          #expect(new.ids == old.ids && new.counter == old.counter)
          for (before, after) in zip(old, new) {
            #expect(after.fields == before.fields, "id \(before.id), seed \(random.seed)")
          }
        }
      }
    }
  }

  @Test(arguments: [
    "a\"b", "a'b", "select", "a;b", "a b", "\"", "\"\"", "é", "e\u{301}", "a\"\u{301}b", "]", "`", "?1",
    "a--", "ID",
    "id", "fields.id", "Fields.fields.Position", "fields", "id_", "rowid", "_rowid_", "😀", "\n",
  ])
  func hostileFieldNamesSurviveExportAndImport(name: String) throws {
    try withDatabase { file in
      try withStore { store in
        let table = try store.table("t")
        try table.add([name: 1, "z": 2])
        try SQLiteExport(to: file, table: "t").run(table.lastSnapshot)
        #expect(try imported(SQLiteImport(exported: "t", of: file)) == [[name: 1, "z": 2]])
      }
    }
  }

  @Test(arguments: [
    "a\"b", "a'b", "select", "a; DROP TABLE other; --", "", "é", "a\"\u{301}b", "*", "main.other",
  ])
  func hostileTableNamesSurviveExportAndImport(name: String) throws {
    try withDatabase { file in
      try sql("CREATE TABLE other (v); INSERT INTO other VALUES (1)", in: file)
      try withStore { store in
        let table = try store.table("t")
        try table.add(["v": 1])
        var export = SQLiteExport(to: file, table: name)
        try export.run(table.lastSnapshot)
        #expect(storeError { try export.run(table.lastSnapshot) }?.code == .tableExists)
        try table.add(["v": 2])
        export.existingTable = .replaced
        try export.run(table.lastSnapshot)
        #expect(try imported(SQLiteImport(exported: name, of: file)) == [["v": 1], ["v": 2]])
        #expect(try imported(SQLiteImport(.table("other"), of: file)) == [["v": 1]])
      }
    }
  }

  @Test func tableExistsIfItsNameDiffersOnlyInTheCaseOfAToZ() throws {
    try withDatabase { file in
      try sql("CREATE TABLE É (v)", in: file)
      try withStore { store in
        let table = try store.table("t")
        try table.add(["v": 1])
        try SQLiteExport(to: file, table: "é").run(table.lastSnapshot)
        try SQLiteExport(to: file, table: "t").run(table.lastSnapshot)
        let error = storeError { try SQLiteExport(to: file, table: "T").run(table.lastSnapshot) }
        #expect(error?.code == .tableExists)
      }
    }
  }

  @Test func fieldsDifferingOnlyInCaseAreRefused() throws {
    try withDatabase { file in
      try withStore { store in
        let table = try store.table("t")
        try table.add(["name": 1, "Name": 2])
        let error = storeError { try SQLiteExport(to: file, table: "t").run(table.lastSnapshot) }
        #expect(
          error?.code == .unrepresentableValue && error?.field == "name" && error?.table == "t")
        #expect(!FileManager.default.fileExists(atPath: file.path))
      }
    }
  }

  @Test func emptyTableIsExportedAndMissingTableIsAnError() throws {
    try withDatabase { file in
      try withStore { store in
        #expect(
          storeError { try SQLiteExport(to: file, table: "t").run(store.table("t").lastSnapshot) }?.code
            == .tableNotFound)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        try store.table("t").create()
        #expect(try SQLiteExport(to: file, table: "t").run(store.table("t").lastSnapshot) == 0)
        #expect(try imported(SQLiteImport(exported: "t", of: file)).isEmpty)
      }
    }
  }

  @Test(arguments: [("sqlite_x", StoreError.Code.databaseRefused), ("a\0b", StoreError.Code.databaseRefused)])
  func tableNameRefusedBySQLiteLeavesNoFile(name: String, code: StoreError.Code) throws {
    try withDatabase { file in
      try withStore { store in
        let table = try store.table("t")
        try table.add(["v": 1])
        let error = storeError { try SQLiteExport(to: file, table: name).run(table.lastSnapshot) }
        #expect(error?.code == code && error?.file == file.path && error?.table == name)
        #expect(!FileManager.default.fileExists(atPath: file.path))
      }
    }
  }

  @Test func failedExportLeavesDatabaseUnchanged() throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (v); INSERT INTO t VALUES (7)", in: file)
      try withStore { store in
        let table = try store.table("t")
        var record = Fields()
        for number in 0..<2_100 { record["f\(number)"] = 1 }  // SQLite has 2000 columns.
        try table.add(record)
        var export = SQLiteExport(to: file, table: "t")
        export.existingTable = .replaced
        #expect(storeError { try export.run(table.lastSnapshot) }?.code == .databaseRefused)
        #expect(try imported(SQLiteImport(.table("t"), of: file)) == [["v": 7]])
      }
    }
  }

  @Test func replacingTableKeepsRowsThatReferToIt() throws {
    try withDatabase { file in
      try sql(
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY);
        CREATE TABLE other (v REFERENCES t ON DELETE CASCADE);
        INSERT INTO t VALUES (1);
        INSERT INTO other VALUES (1);
        """, in: file)
      try withStore { store in
        let table = try store.table("t")
        try table.add(["v": 1])
        var export = SQLiteExport(to: file, table: "t")
        export.existingTable = .replaced
        try export.run(table.lastSnapshot)
      }
      #expect(try imported(SQLiteImport(.table("other"), of: file)) == [["v": 1]])
    }
  }

  @Test func exportRefusesFileThatIsNotADatabase() throws {
    try withDatabase { file in
      let letter = Data("This is a letter, not a database.".utf8)
      try letter.write(to: file)
      try withStore { store in
        let table = try store.table("t")
        try table.add(["v": 1])
        #expect(
          storeError { try SQLiteExport(to: file, table: "t").run(table.lastSnapshot) }?.code
            == StoreError.Code.notADatabase)
        let nowhere = file.appendingPathComponent("x.sqlite")
        #expect(
          storeError { try SQLiteExport(to: nowhere, table: "t").run(table.lastSnapshot) }?.code
            == .inputOutput)
      }
      #expect(try Data(contentsOf: file) == letter)
    }
  }
}
