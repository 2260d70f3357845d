import FileDB
import FileDBExchange
import FileDBSQLite
import Foundation
import TestSupport
import Testing

@Suite struct SQLiteImportTests {
  @Test(.enabled(if: sqliteProgram != nil, "needs the sqlite3 program"), arguments: ["UTF-8", "UTF-16le"])
  func databasesOfTheSQLiteProgramAreReadExactly(encoding: String) throws {
    try withDatabase { file in
      _ = try runSQLiteProgram(
        file,
        """
        PRAGMA encoding = '\(encoding)';
        CREATE TABLE t (i INTEGER, r REAL, s TEXT, b BLOB, ok BOOLEAN, day DATE, x);
        INSERT INTO t VALUES (-9223372036854775808, 0.1, 'é€😀', x'00ff', 1, '2024-02-29', 1);
        INSERT INTO t VALUES (9223372036854775807, 9e999, '', x'', 0, 1709164800, 1.0);
        INSERT INTO t VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL);
        INSERT INTO t VALUES ('no number', -9e999, 'a' || char(10) || 'b', 'text', 2, 'soon', '1');
        """)
      let expected: [Record] = [
        [
          "i": .integer(.min), "r": 0.1, "s": "é€😀", "b": .data(Data([0, 255])), "ok": true,
          "day": "2024-02-29",
          "x": 1,
        ],
        [
          "i": .integer(.max), "r": .real(.infinity), "s": "", "b": .data(Data()), "ok": false,
          "day": 1_709_164_800, "x": 1.0,
        ],
        [:],
        [
          "i": "no number", "r": .real(-.infinity), "s": "a\nb", "b": "text", "ok": 2, "day": "soon",
          "x": "1",
        ],
      ]
      #expect(try imported(SQLiteImport(.table("t"), of: file)) == expected)
    }
  }

  @Test func typesMakeOtherValuesOfThoseThatSQLiteHas() throws {
    try withDatabase { file in
      try sql(
        """
        CREATE TABLE t (d, b, f, i, j, s, raw);
        INSERT INTO t VALUES ('2024-02-29T12:00:00Z', 1, 2, '18446744073709551615', '{"a": [1, "x"]}', 7, 'AP8=');
        INSERT INTO t VALUES ('2024-02-29 12:00:00', 0, 2.5, 3, '[]', 'x', x'00ff');
        INSERT INTO t VALUES (1709208000, 'yes', 'nan', NULL, '"x"', '', NULL);
        """, in: file)
      var importer = SQLiteImport(.table("t"), of: file)
      importer.types = [
        "d": .date, "b": .bool, "f": .float, "i": .integer, "j": .json, "s": .string, "raw": .data,
      ]
      let noon = PlistValue.date(Date(timeIntervalSince1970: 1_709_208_000))
      let bytes = PlistValue.data(Data([0, 255]))
      let expected: [Record] = [
        [
          "d": noon, "b": true, "f": 2.0, "i": .unsigned(.max), "j": ["a": [1, "x"]], "s": "7", "raw": bytes,
        ],
        ["d": noon, "b": false, "f": 2.5, "i": 3, "j": [], "s": "x", "raw": bytes],
        ["d": noon, "b": true, "f": .real(.nan), "j": "x", "s": ""],
      ]
      #expect(try imported(importer) == expected)
    }
  }

  @Test(
    arguments: [
      ("2024-02-30", .date), ("noon", .date), (".5", .integer), ("maybe", .bool), ("{", .json), ("?", .data),
    ] as [(String, FieldType)])
  func valuesThatDoNotFitTheirTypeAreErrors(text: String, type: FieldType) throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (ok, v); INSERT INTO t VALUES (1, NULL), (2, '\(text)')", in: file)
      var importer = SQLiteImport(.table("t"), of: file)
      importer.types = ["v": type]
      let error = storeError { _ = try imported(importer) }
      #expect(error?.code == StoreError.invalidText)
      #expect(error?.file == file.path && error?.table == "t" && error?.field == "v")
      #expect(error?.message.hasSuffix("(row 2)") == true)
    }
  }

  private static let orders: [(schema: String, source: SQLiteImport.Source, values: [PlistValue])] = [
    ("CREATE TABLE t (v); CREATE INDEX i ON t (v)", .table("t"), [3, 1, 2]),
    ("CREATE TABLE t (v, rowid); CREATE INDEX i ON t (v, rowid)", .table("t"), [3, 1, 2]),
    ("CREATE TABLE t (v PRIMARY KEY) WITHOUT ROWID", .table("t"), [1, 2, 3]),
    ("CREATE TABLE t (v)", .query("SELECT v FROM t ORDER BY v DESC"), [3, 2, 1]),
    ("CREATE TABLE t (v); CREATE VIEW w AS SELECT v FROM t ORDER BY v", .table("w"), [1, 2, 3]),
    ("CREATE TABLE t (v)", .table("T"), [3, 1, 2]),
  ]

  @Test(arguments: orders.indices)
  func rowsComeInTheOrderOfTheirRowidsOrOfTheQuery(index: Int) throws {
    let (schema, source, values) = Self.orders[index]
    try withDatabase { file in
      try sql("\(schema); INSERT INTO t (v) VALUES (3), (1), (2)", in: file)
      #expect(try imported(SQLiteImport(source, of: file)).map { $0["v"] } == values)
    }
  }

  @Test func aColumnCanSayTheOrder() throws {
    try withDatabase { file in
      try sql(
        "CREATE TABLE t (v, place, place_); INSERT INTO t VALUES (1, 9, 4), (2, -1, 5), (3, 9, 6)", in: file)
      let records = try imported(SQLiteImport(.table("t", orderedBy: "PLACE"), of: file))
      #expect(records == [["v": 2, "place": 5], ["v": 1, "place": 4], ["v": 3, "place": 6]])
    }
  }

  @Test(arguments: ["k", "K", "rowid"])
  func aColumnCanGiveTheIds(column: String) throws {
    try withDatabase { file in
      try sql(
        "CREATE TABLE t (k INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (7, 1), (3, 2), (0, 3)", in: file)
      var importer = SQLiteImport(.query("SELECT k, v FROM t ORDER BY v"), of: file)
      if column == "rowid" { importer.source = .table("t") }
      importer.idColumn = column
      try withStore { store in
        try importer.run(into: .records("t"), of: store)
        let rows = try store.table("t").snapshot
        #expect(Set(rows.ids) == [7, 3, 0] && rows.counter == 7)
        #expect(try rows.row(with: 7).record["v"] == 1)
        #expect(try rows.row(with: 7).record["k"] == (column == "rowid" ? 7 : nil))
        if column != "rowid" { #expect(rows.ids == [7, 3, 0]) }
      }
    }
  }

  @Test(arguments: [
    ("SELECT -1 AS k", StoreError.invalidRow), ("SELECT 'x' AS k", StoreError.invalidRow),
    ("SELECT 1.0 AS k", StoreError.invalidRow), ("SELECT 1 AS k UNION ALL SELECT 1", StoreError.duplicateID),
    ("SELECT 1 AS v", StoreError.invalidText),
  ])
  func idsThatAreNoneAreErrors(query: String, code: StoreError.Code) throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (v)", in: file)
      var importer = SQLiteImport(.query(query), of: file)
      importer.idColumn = "k"
      #expect(storeError { _ = try imported(importer) }?.code == code)
    }
  }

  @Test func idsAreTakenByATableThatHasGivenNoneOnly() throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (v); INSERT INTO t VALUES (1)", in: file)
      var importer = SQLiteImport(.table("t"), of: file)
      importer.idColumn = "rowid"
      try withStore { store in
        let table = try store.table("t")
        try table.delete(table.add(["v": 2]))
        #expect(
          storeError { try importer.run(into: .records("t"), of: store) }?.code == StoreError.tableExists)
        try table.truncate()
        #expect(try importer.run(into: .records("t"), of: store) == 1)
      }
    }
  }

  @Test func rowsAreAddedWhereTheyAreAskedForInOneCommit() throws {
    try withDatabase { file in
      try sql(
        """
        CREATE TABLE t (v);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
        INSERT INTO t SELECT i FROM n
        """, in: file)
      try withStore { store in
        let table = try store.table("t")
        let last = try table.add(["v": 2_501])
        let importer = SQLiteImport(.table("t"), of: file)
        var heard: [Int] = []
        let count = try store.write { tx in
          try importer.run(into: .records("t"), at: .before(last), in: &tx) { heard.append($0) }
        }
        #expect(count == 2_500 && heard == [1_000, 2_000])
        #expect(table.snapshot.map { $0.record["v"] } == (1...2_501).map { .integer($0) })
        try sql("INSERT INTO t VALUES ('a' || char(1))", in: file)
        let error = storeError { try importer.run(into: .records("t"), of: store) }
        #expect(error?.code == StoreError.unrepresentableValue && error?.field == "v")
        #expect(table.count == 2_501)
      }
    }
  }

  @Test func anEmptyTableMakesAnEmptyTable() throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (id INTEGER PRIMARY KEY, position, v)", in: file)
      for importer in [SQLiteImport(.table("t"), of: file), SQLiteImport(exported: "t", of: file)] {
        try withStore { store in
          let count = try importer.run(into: .records("t"), of: store)
          let table = try store.table("t")
          #expect(count == 0 && table.exists)
        }
      }
    }
  }

  @Test(arguments: [
    ("CAST(x'61ff' AS TEXT)", StoreError.unrepresentableValue),
    ("'a' || char(0) || 'b'", StoreError.unrepresentableValue),
    ("char(65534)", StoreError.unrepresentableValue),
  ])
  func textThatNoTableCanHoldIsRefused(value: String, code: StoreError.Code) throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (v); INSERT INTO t VALUES (\(value))", in: file)
      let error = storeError { _ = try imported(SQLiteImport(.table("t"), of: file)) }
      #expect(error?.code == code && error?.field == "v" && error?.table == "t" && error?.file == file.path)
    }
  }

  @Test(arguments: [
    (SQLiteImport.Source.table("no"), StoreError.tableNotFound),
    (.table("t\"; DROP TABLE t; --"), StoreError.tableNotFound), (.table("t\0"), StoreError.tableNotFound),
    (.table("t", orderedBy: "no"), StoreError.invalidText),
    (.query("SELEC"), StoreError.databaseRefused), (.query(""), StoreError.databaseRefused),
    (.query("DELETE FROM t"), StoreError.databaseRefused),
    (.query("DELETE FROM t RETURNING v"), StoreError.databaseRefused),
    (.query("SELECT 1; DELETE FROM t"), StoreError.databaseRefused),
    (.query("SELECT ?"), StoreError.databaseRefused),
    (.query("SELECT 1 AS a, 2 AS a"), StoreError.invalidText),
    (.query("SELECT 1 AS wgFileDbSecretId"), StoreError.reservedField),
    (.query("SELECT abs(-9223372036854775808) AS a"), StoreError.databaseRefused),
  ])
  func whatCannotBeReadIsAnErrorAndChangesNothing(source: SQLiteImport.Source, code: StoreError.Code) throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (v); INSERT INTO t VALUES (1)", in: file)
      let before = try Data(contentsOf: file)
      let error = storeError { _ = try imported(SQLiteImport(source, of: file)) }
      #expect(error?.code == code && error?.file == file.path)
      #expect(try Data(contentsOf: file) == before)
    }
  }

  @Test func aTypeForNoColumnIsAnError() throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (v)", in: file)
      var importer = SQLiteImport(.table("t"), of: file)
      importer.types = ["w": .date]
      #expect(storeError { _ = try imported(importer) }?.code == StoreError.invalidText)
    }
  }

  @Test func filesThatAreNoDatabasesAreNamed() throws {
    try withDatabase { file in
      let importer = SQLiteImport(.table("t"), of: file)
      #expect(storeError { _ = try imported(importer) }?.code == StoreError.fileNotFound)
      #expect(!FileManager.default.fileExists(atPath: file.path))
      try Data("This is a letter, not a database.".utf8).write(to: file)
      let error = storeError { _ = try imported(importer) }
      #expect(error?.code == StoreError.notADatabase && error?.file == file.path)
      try Data().write(to: file)  // To SQLite, a database without tables.
      #expect(storeError { _ = try imported(importer) }?.code == StoreError.tableNotFound)
      let folder = SQLiteImport(.table("t"), of: file.deletingLastPathComponent())
      #expect(storeError { _ = try imported(folder) }?.code == StoreError.inputOutput)
    }
  }

  @Test func aDamagedDatabaseIsNamedAndAddsNothing() throws {
    try withDatabase { file in
      try sql(
        """
        CREATE TABLE t (v);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO t SELECT i || ' and so on' FROM n
        """, in: file)
      var bytes = try Data(contentsOf: file)
      let half = bytes.count / 2 / 4_096 * 4_096
      bytes.replaceSubrange(half..<half + 4_096, with: Data(repeating: 0xFF, count: 4_096))
      try bytes.write(to: file)
      try withStore { store in
        let error = storeError { try SQLiteImport(.table("t"), of: file).run(into: .records("t"), of: store) }
        #expect(error?.code == StoreError.damagedDatabase && error?.table == "t")
        let table = try store.table("t")
        #expect(!table.exists)
      }
    }
  }
}
