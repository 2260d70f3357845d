import FileDB
import FileDBExchange
import FileDBSQLite
import Foundation
import TestSupport
import Testing

/// Which values the columns of a database become.
@Suite struct SQLiteValueTests {
  @Test func valuesAreConvertedToGivenTypes() throws {
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
      let expected: [Fields] = [
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
  func valueThatDoesNotFitItsTypeIsAnError(text: String, type: FieldType) throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (ok, v); INSERT INTO t VALUES (1, NULL), (2, '\(text)')", in: file)
      var importer = SQLiteImport(.table("t"), of: file)
      importer.types = ["v": type]
      let error = storeError { _ = try imported(importer) }
      #expect(error?.code == .invalidText)
      #expect(error?.file == file.path && error?.table == "t" && error?.field == "v")
      #expect(error?.message.hasPrefix("row 2: ") == true)
    }
  }

  @Test(arguments: [
    ("2024-02-29", 0), ("2024-02-29 12:30", 45_000), ("2024-02-29T12:30", 45_000),
    ("2024-02-29 12:30:15", 45_015), ("2024-02-29 12:30:15.999", 45_015), ("2024-02-29T12:30:15Z", 45_015),
    ("2024-02-29 12:30:15.123456+01:00", 41_415), ("2024-02-29 12:30:15 -00:30", 46_815),
    ("2024-02-29 12:30 Z", 45_000),
  ])
  func datesAreReadAsSQLiteReadsThem(text: String, seconds: Int) throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (d); INSERT INTO t VALUES ('\(text)')", in: file)
      try sql("INSERT INTO t SELECT CAST(strftime('%s', d) AS INTEGER) FROM t", in: file)
      try sql("INSERT INTO t SELECT julianday(d) FROM t WHERE typeof(d) = 'text'", in: file)
      var importer = SQLiteImport(.table("t"), of: file)
      importer.types = ["d": .date]
      let date = PlistValue.date(Date(timeIntervalSince1970: Double(1_709_164_800 + seconds)))
      #expect(try imported(importer) == [["d": date], ["d": date], ["d": date]])
    }
  }

  @Test(arguments: [
    "2024-02-30", "2024-02-29 ", "2024-02-29 1:30", "2024-02-29 12:30:15.", "2024-02-29 12:30:15x",
    "2024-02-29 12:30+1:00", "12:30", "2024-02-29_12:30", "", "0000-01-01",
  ])
  func textsThatAreNotDatesAreErrors(text: String) throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (d); INSERT INTO t VALUES ('\(text)')", in: file)
      expectNoDate(in: file)
    }
  }

  @Test(arguments: ["1e300", "-1e300", "-1.0", "5373484.5", "9e999"])
  func numbersOutsideJulianDaysAreErrors(number: String) throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (d REAL); INSERT INTO t VALUES (\(number))", in: file)
      expectNoDate(in: file)
    }
  }

  private func expectNoDate(in file: URL) {
    var importer = SQLiteImport(.table("t"), of: file)
    importer.types = ["d": .date]
    #expect(storeError { _ = try imported(importer) }?.code == .invalidText)
  }

  @Test(arguments: [
    ("CAST(x'61ff' AS TEXT)", StoreError.Code.unrepresentableValue),
    ("'a' || char(0) || 'b'", StoreError.Code.unrepresentableValue),
    ("char(65534)", StoreError.Code.unrepresentableValue),
  ])
  func unrepresentableTextIsRefused(value: String, code: StoreError.Code) throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (v); INSERT INTO t VALUES (\(value))", in: file)
      let error = storeError { _ = try imported(SQLiteImport(.table("t"), of: file)) }
      #expect(error?.code == code && error?.field == "v" && error?.table == "t" && error?.file == file.path)
    }
  }
}
