import FileDB

/// The conventions by which an export and a later import exchange what is not a field.
extension SQLiteExport {
  /// The columns before those of the fields. With `AUTOINCREMENT`, SQLite does not give an id twice either.
  static let ownColumns = "id INTEGER PRIMARY KEY AUTOINCREMENT, position INTEGER NOT NULL"

  /// Whether `table` has these columns.
  static func made(_ table: String, in db: SQLiteConnection) throws -> Bool {
    let columns = try db.column(
      """
      SELECT name FROM pragma_table_info(?) WHERE type = 'INTEGER'
        AND ((cid, name, pk) = (0, 'id', 1) OR (cid, name, "notnull") = (1, 'position', 1))
      """, .string(table))
    return columns.count == 2
  }
}

extension SQLiteConnection {
  /// The highest id that a table with `AUTOINCREMENT` ever gave; `nil` for another table.
  func sequence(of table: String) throws -> Int64? {
    guard try has("sqlite_sequence") else { return nil }
    // This is a table of SQLite itself, but anybody may have written into it.
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = ? COLLATE NOCASE AND typeof(seq) = 'integer'"
    return try column(sql, .string(table)).first??.integer
  }

  func setSequence(of table: String, to id: Int64) throws {
    try execute("DELETE FROM sqlite_sequence WHERE name = ?", .string(table))
    try execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", .string(table), .integer(id))
  }
}
