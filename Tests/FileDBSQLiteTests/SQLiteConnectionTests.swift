import FileDB
import Foundation
import TestSupport
import Testing

@testable import FileDBSQLite

@Suite struct SQLiteConnectionTests {
  @Test func failedTransactionIsRolledBack() throws {
    struct Stop: Error {}
    let connection = try SQLiteConnection(":memory:", for: .writing)
    try connection.execute("CREATE TABLE t (v)")
    #expect(throws: Stop.self) {
      try connection.transaction {
        try connection.execute("INSERT INTO t VALUES (1)")
        throw Stop()
      }
    }
    try connection.transaction { try connection.execute("INSERT INTO t VALUES (?)", 2) }
    #expect(try connection.column("SELECT v FROM t") == [2])
  }

  @Test func writerTakesTheLockAtTheBeginning() throws {
    try withDatabase { file in
      let connection = try SQLiteConnection(file.path, for: .writing)
      try connection.transaction {
        _ = #expect(throws: Database.Refusal.self) { try sql("BEGIN IMMEDIATE", in: file) }
      }
      try sql("BEGIN IMMEDIATE", in: file)
    }
  }

  @Test func readerSeesOneStateOfTheDatabase() throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (v)", in: file)
      let connection = try SQLiteConnection(file.path, for: .reading)
      try connection.transaction {
        let rows = try connection.column("SELECT v FROM t")
        #expect(rows.isEmpty)
        #expect(throws: Database.Refusal.self) { try sql("INSERT INTO t VALUES (1)", in: file) }
      }
      try sql("INSERT INTO t VALUES (1)", in: file)
    }
  }

  @Test func readerCannotWrite() throws {
    try withDatabase { file in
      try sql("CREATE TABLE t (v)", in: file)
      let connection = try SQLiteConnection(file.path, for: .reading)
      let error = #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO t VALUES (1)") }
      #expect(error.map { StoreError($0).code } == .permissionDenied)
    }
  }

  @Test(arguments: [("busy_timeout", 5_000), ("foreign_keys", 0), ("trusted_schema", 0)])
  func connectionHasTheSetting(name: String, value: Int64) throws {
    let connection = try SQLiteConnection(":memory:", for: .writing)
    #expect(try connection.column("PRAGMA \(name)") == [.integer(value)])
  }

  @Test(arguments: ["", "a\0b", "é", .data(Data()), .data(Data([0])), 1, 0.5, nil] as [PlistValue?])
  func valueComesBackAsItWasBound(value: PlistValue?) throws {
    let connection = try SQLiteConnection(":memory:", for: .writing)
    #expect(try connection.column("SELECT ?", value) == [value])
  }
}
