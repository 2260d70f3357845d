import FileDB
import FileDBExchange
import FileDBSQLite
import Foundation
import TestSupport
import Testing

@Suite struct SQLiteImportTests {
  @Test(.enabled(if: sqliteProgram != nil, "needs the sqlite3 program"), arguments: ["UTF-8", "UTF-16le"])
  func databaseMadeBySQLiteProgramIsReadExactly(encoding: String) throws {
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
      let expected: [Fields] = [
        [
          "i": .integer(.min), "r": 0.1, "s": "é€😀", "b": .data(Data([0, 255])), "ok": true,
          "day": "2024-02-29", "x": 1,
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

  @Test func newTableKeepsTheOrderOfTheColumns() throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (z, b, a); INSERT INTO t VALUES (1, NULL, 3);", in: file)
      try withStore { store in
        var importer = SQLiteImport(.table("t"), of: file)
        importer.columnOrder = .asInFile
        try take(importer, of: store)
        let schema = try store.table("t").snapshot().schema
        #expect(schema == TableSchema(fields: ["z", "b", "a"].map { FieldSchema($0) }))
      }
    }
  }

  @Test func schemaOfAnImportGivesTypesAndIsKept() throws {
    try withDatabase { file in
      try sql(
        "CREATE TABLE t (day, n); INSERT INTO t VALUES ('2024-02-29', 1), ('2024-03-01', 10);", in: file)
      var importer = SQLiteImport(.table("t"), of: file)
      importer.schema = TableSchema(fields: [FieldSchema("n", maximum: 10), FieldSchema("day", type: .date)])
      #expect(try imported(importer).map { $0["day"]?.date != nil } == [true, true])
      importer.schema?.fields[0].maximum = 9
      try withStore { store in
        let error = storeError { try take(importer, of: store) }
        #expect(error?.code == .valueNotAllowed && error?.field == "n")
        let tables = try store.tableNames
        #expect(tables.isEmpty)
      }
    }
  }

  @Test func viewWithoutAnEndIsAnError() throws {
    try withDatabase { file in
      try sql(
        """
        CREATE VIEW t AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c;
        """, in: file)
      try withStore(options: StoreOptions(limits: PlistLimits(fileBytes: 1 << 16))) { store in
        let error = storeError { try take(SQLiteImport(.table("t"), of: file), of: store) }
        #expect(error?.code == .unrepresentableValue && error?.table == "t")
        let tables = try store.tableNames
        #expect(tables.isEmpty)
      }
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
  func rowsComeInOrderOfRowidOrQuery(index: Int) throws {
    let (schema, source, values) = Self.orders[index]
    try withDatabase { file in
      try sql("\(schema); INSERT INTO t (v) VALUES (3), (1), (2)", in: file)
      #expect(try imported(SQLiteImport(source, of: file)).map { $0["v"] } == values)
    }
  }

  /// A table that no export made keeps its `position`.
  @Test(arguments: [
    "id INTEGER PRIMARY KEY, position TEXT", "id INTEGER PRIMARY KEY, position INTEGER",
    "id INTEGER NOT NULL, position INTEGER NOT NULL",
    "position INTEGER NOT NULL, id INTEGER PRIMARY KEY",
  ])
  func idColumnGivesRecordIDs(columns: String) throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (\(columns)); INSERT INTO t (id, position) VALUES (7, 2), (3, 1)", in: file)
      try withStore { store in
        try take(SQLiteImport(exported: "t", of: file), of: store)
        let records = try store.table("t").lastSnapshot
        #expect(Set(records.ids) == [7, 3] && records.counter == 7)
        let position = try #require(try records.record(with: 3).fields["position"])
        #expect(position == (columns.contains("TEXT") ? "1" : 1))
        #expect(records.allSatisfy { $0["id"] == nil })
      }
      #expect(try imported(SQLiteImport(.query("SELECT id FROM t WHERE id = 7"), of: file)) == [["id": 7]])
    }
  }

  @Test func invalidCounterIsIgnored() throws {
    try withDatabase { file in
      for counter in ["'many'", "-1", "NULL", "1.5"] {
        try sql(
          """
          DROP TABLE IF EXISTS t;
          CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, v);
          INSERT INTO t (v) VALUES (1), (2);
          UPDATE sqlite_sequence SET seq = \(counter)
          """, in: file)
        try withStore { store in
          try take(SQLiteImport(exported: "t", of: file), of: store)
          #expect(try store.table("t").lastSnapshot.counter == 2)
        }
      }
    }
  }

  @Test func queryCanProvideIDs() throws {
    try withDatabase { file in
      try sql(
        "CREATE TABLE t (v, [fields.id], [fields.position]); INSERT INTO t VALUES (1, 2, 3), (4, 5, 6)",
        in: file)
      var importer = SQLiteImport(.query("SELECT rowid AS ID, * FROM t ORDER BY v DESC"), of: file)
      importer.matching = .id
      try withStore { store in
        try take(importer, of: store)
        let records = try store.table("t").lastSnapshot
        #expect(records.ids == [2, 1])
        #expect(
          records.map(\.fields) == [
            ["v": 4, "id": 5, "fields.position": 6], ["v": 1, "id": 2, "fields.position": 3],
          ])
      }
    }
  }

  @Test func importByIDChangesExistingRecords() throws {
    try withDatabase { file in
      try withStore { store in
        let table = try store.table("t")
        try table.add(contentsOf: [["v": 1, "own": true], ["v": 2], ["v": 3]])
        try SQLiteExport(to: file, table: "t").run(table.lastSnapshot)
        try sql("UPDATE t SET v = 20 WHERE id = 2; INSERT INTO t VALUES (NULL, 9, NULL, 4)", in: file)
        try table.delete(3)
        let report = try take(SQLiteImport(exported: "t", of: file), of: store)
        #expect(report.added == 2 && report.changed == 1 && report.unchanged == 1)
        #expect(table.lastSnapshot.ids == [1, 2, 3, 4])
        #expect(
          table.lastSnapshot.map(\.fields) == [["v": 1, "own": true], ["v": 20], ["v": 3], ["v": 4]])
      }
    }
  }

  @Test func importByKeyChangesExistingRecords() throws {
    try withDatabase { file in
      try sql(
        "CREATE TABLE s (name, v); INSERT INTO s VALUES ('a', 1), ('b', 2), ('c', NULL), ('d', 4)", in: file)
      try withStore(.disk) { store in
        let table = try store.table("t")
        try table.add(contentsOf: [["name": "c", "v": 3], ["name": "b", "own": 1], ["name": "a", "v": 1]])
        var importer = SQLiteImport(.table("s"), of: file)
        importer.matching = .key(["name"])
        let report = try take(importer, of: store)
        #expect(report.added == 1 && report.changed == 1 && report.unchanged == 2)
        #expect(
          table.lastSnapshot.map(\.fields) == [
            ["name": "c", "v": 3], ["name": "b", "own": 1, "v": 2], ["name": "a", "v": 1],
            ["name": "d", "v": 4],
          ])
        try store.checkpoint()
        let bytes = try Data(contentsOf: table.url)
        #expect(try take(importer, of: store).unchanged == 4)
        try store.checkpoint()
        #expect(try Data(contentsOf: table.url) == bytes)
        importer.source = .query("SELECT name, v FROM s UNION ALL SELECT 'a', 9")
        let error = storeError { try take(importer, of: store) }
        #expect(error?.code == .duplicateKey && error?.message.contains("first in row 1") == true)
      }
    }
  }

  @Test func wrongRowsCanBeSkipped() throws {
    try withDatabase { file in
      try sql(
        """
        CREATE TABLE t (n, s);
        INSERT INTO t VALUES (1, 'a'), ('x', 'b'), (3, 'c' || char(1)), (4, CAST(x'ff' AS TEXT)), (5, 'e')
        """, in: file)
      var importer = SQLiteImport(.table("t"), of: file)
      importer.types = ["n": .integer]
      importer.onError = .skip
      try withStore { store in
        let report = try take(importer, of: store)
        #expect(report.added == 2)
        #expect(report.skipped.map(\.field) == ["n", "s", "s"])
        #expect(report.skipped.map { $0.message.prefix(6) } == ["row 2:", "row 3:", "row 4:"])
        #expect(report.skipped.allSatisfy { $0.file == file.path && $0.table == "t" })
        #expect(try store.table("t").lastSnapshot.map { $0["n"] } == [1, 5])
      }
    }
  }

  @Test(arguments: [
    ("SELECT -1 AS id", StoreError.Code.invalidText), ("SELECT 'x' AS id", StoreError.Code.invalidText),
    ("SELECT 1.0 AS id", StoreError.Code.invalidText),
    ("SELECT 1 AS id UNION ALL SELECT 1", StoreError.Code.duplicateKey),
    ("SELECT 1 AS v", StoreError.Code.invalidText),
  ])
  func invalidOrRepeatedIDsAreErrors(query: String, code: StoreError.Code) throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (v)", in: file)
      var importer = SQLiteImport(.query(query), of: file)
      importer.matching = .id
      #expect(storeError { _ = try imported(importer) }?.code == code)
    }
  }

  @Test func queryMustBeOneSelect() throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (v)", in: file)
      for query in [
        "SELECT 1; SELECT 2", "SELECT 1 AS v; DROP TABLE t", "SELECT 1 AS v;; DROP TABLE t", "",
        " -- nothing",
        "DELETE FROM t",
      ] {
        let error = storeError { _ = try imported(SQLiteImport(.query(query), of: file)) }
        #expect(
          error?.code == .databaseRefused && error?.message == "the query should be one SELECT",
          "\(query)")
      }
      #expect(try imported(SQLiteImport(.query("SELECT 1 AS v; -- that is all"), of: file)) == [["v": 1]])
    }
  }

  @Test func rowsAreAddedAtGivenPlaceAllOrNone() throws {
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
          try importer.run(into: "t", at: .before(last), in: &tx) { heard.append($0) }
        }.added
        #expect(count == 2_500 && heard == [1_000, 2_000])
        #expect(table.lastSnapshot.map { $0.fields["v"] } == (1...2_501).map { .integer($0) })
        try sql("INSERT INTO t VALUES ('a' || char(1))", in: file)
        let error = storeError { try take(importer, of: store) }
        #expect(error?.code == .unrepresentableValue && error?.field == "v")
        #expect(try table.count == 2_501)
      }
    }
  }

  @Test func emptyTableIsImportedAsEmptyTable() throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (id INTEGER PRIMARY KEY, position, v)", in: file)
      for importer in [SQLiteImport(.table("t"), of: file), SQLiteImport(exported: "t", of: file)] {
        try withStore { store in
          let report = try take(importer, of: store)
          let table = try store.table("t")
          #expect(try report.added == 0 && table.exists)
        }
      }
    }
  }

  @Test(arguments: [
    (SQLiteImport.Source.table("no"), StoreError.Code.tableNotFound),
    (.table("t\"; DROP TABLE t; --"), StoreError.Code.tableNotFound),
    (.table("t\0"), StoreError.Code.tableNotFound),
    (.query("SELEC"), StoreError.Code.databaseRefused), (.query(""), StoreError.Code.databaseRefused),
    (.query("DELETE FROM t"), StoreError.Code.databaseRefused),
    (.query("DELETE FROM t RETURNING v"), StoreError.Code.databaseRefused),
    (.query("SELECT 1; DELETE FROM t"), StoreError.Code.databaseRefused),
    (.query("SELECT ?"), StoreError.Code.databaseRefused),
    (.query("SELECT 1\0; DELETE FROM t"), StoreError.Code.databaseRefused),
    (.query("SELECT \"absent\" FROM t"), StoreError.Code.databaseRefused),
    (.query("SELECT 1 AS a, 2 AS a"), StoreError.Code.invalidText),
    (.query("SELECT 1 AS wgFileDbSecretId"), StoreError.Code.reservedField),
    (.query("SELECT abs(-9223372036854775808) AS a"), StoreError.Code.databaseRefused),
  ])
  func unreadableSourceIsAnErrorAndChangesNothing(source: SQLiteImport.Source, code: StoreError.Code) throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (v); INSERT INTO t VALUES (1)", in: file)
      let before = try Data(contentsOf: file)
      let error = storeError { _ = try imported(SQLiteImport(source, of: file)) }
      #expect(error?.code == code && error?.file == file.path)
      #expect(try Data(contentsOf: file) == before)
    }
  }

  @Test func typeForMissingColumnIsAnError() throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (v)", in: file)
      var importer = SQLiteImport(.table("t"), of: file)
      importer.types = ["w": .date]
      #expect(storeError { _ = try imported(importer) }?.code == .invalidText)
    }
  }

  @Test func filesThatAreNotDatabasesAreRefused() throws {
    try withDatabase { file in
      let importer = SQLiteImport(.table("t"), of: file)
      #expect(storeError { _ = try imported(importer) }?.code == .fileNotFound)
      #expect(!FileManager.default.fileExists(atPath: file.path))
      try Data("This is a letter, not a database.".utf8).write(to: file)
      let error = storeError { _ = try imported(importer) }
      #expect(error?.code == .notADatabase && error?.file == file.path)
      try Data().write(to: file)  // To SQLite, a database without tables.
      #expect(storeError { _ = try imported(importer) }?.code == .tableNotFound)
      let folder = SQLiteImport(.table("t"), of: file.deletingLastPathComponent())
      #expect(storeError { _ = try imported(folder) }?.code == .fileNotFound)
    }
  }

  @Test func damagedDatabaseIsReportedAndAddsNothing() throws {
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
        let error = storeError { try take(SQLiteImport(.table("t"), of: file), of: store) }
        #expect(error?.code == .damagedDatabase && error?.table == "t")
        let table = try store.table("t")
        #expect(try !table.exists)
      }
    }
  }
}
