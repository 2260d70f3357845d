import FileDB
import GRDB

/// The conventions by which an export and a later import exchange what is not a field.
extension SQLiteExport {
  /// The columns before those of the fields. With `AUTOINCREMENT`, SQLite does not give an id twice either.
  static let ownColumns = "id INTEGER PRIMARY KEY AUTOINCREMENT, position INTEGER NOT NULL"

  /// Whether `table` has these columns.
  static func made(_ table: String, in db: Database) throws -> Bool {
    // GRDB's `columns(in:)` does not accept a quote in a table's name.
    try Bool.fetchOne(
      db,
      sql: """
        SELECT count(*) = 2 FROM pragma_table_info(?) WHERE type = 'INTEGER'
          AND ((cid, name, pk) = (0, 'id', 1) OR (cid, name, "notnull") = (1, 'position', 1))
        """, arguments: [table]) ?? false
  }
}

extension Database {
  /// The highest id that a table with `AUTOINCREMENT` ever gave; `nil` for another table.
  func sequence(of table: String) throws -> Int64? {
    guard try tableExists("sqlite_sequence") else { return nil }
    // This is a table of SQLite itself, but anybody may have written into it.
    return try Int64.fetchOne(
      self,
      sql: "SELECT seq FROM sqlite_sequence WHERE name = ? COLLATE NOCASE AND typeof(seq) = 'integer'",
      arguments: [table])
  }

  func setSequence(of table: String, to id: Int64) throws {
    try execute(sql: "DELETE FROM sqlite_sequence WHERE name = ?", arguments: [table])
    try execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", arguments: [table, id])
  }
}
