import Foundation

/// With foreign keys, an index for each, and constraints that say the same as FileDB's rules; or with none of that.
final class SQLiteRuledTables: RuledTables {
  private let connection: SQLiteConnection
  private let rules: Rules
  private let addOwner: SQLiteStatement
  private let addItem: SQLiteStatement
  private let deleteOwner: SQLiteStatement
  private let deleteItems: SQLiteStatement

  init(in folder: URL, _ rules: Rules) throws {
    let file = folder.appendingPathComponent("ruled.sqlite")
    try SQLiteConnection.make(file)
    connection = try SQLiteConnection(file)
    self.rules = rules
    switch rules {
    case .free:
      try connection.run("CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT)")
      try connection.run(
        "CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT, amount INTEGER, owner INTEGER)")
    case .kept:
      try connection.run("PRAGMA foreign_keys = ON")
      try connection.run("CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)")
      try connection.run(
        """
        CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE,
        amount INTEGER NOT NULL CHECK (amount BETWEEN 0 AND 1000000),
        owner INTEGER NOT NULL REFERENCES owner (id) ON DELETE CASCADE)
        """)
      try connection.run("CREATE INDEX itemOwner ON item (owner)")
    }
    addOwner = try connection.prepare("INSERT INTO owner (name) VALUES (?)")
    addItem = try connection.prepare("INSERT INTO item (code, amount, owner) VALUES (?, ?, ?)")
    deleteOwner = try connection.prepare("DELETE FROM owner WHERE id = ?")
    deleteItems = try connection.prepare("DELETE FROM item WHERE id BETWEEN ? AND ?")
  }

  func addOwners(_ count: Int) throws {
    try transact { for number in 0..<count { try addOwner.execute([.text("owner \(number)")]) } }
  }

  func add(_ items: [RuledItem]) throws {
    try transact {
      for item in items {
        try addItem.execute([.text(item.code), .integer(item.amount), .integer(item.owner)])
      }
    }
  }

  func deleteOwner(_ id: Int, items: ClosedRange<Int>) throws {
    try transact {
      try deleteOwner.execute([.integer(id)])
      if rules == .free { try deleteItems.execute([.integer(items.lowerBound), .integer(items.upperBound)]) }
    }
  }

  private func transact(_ body: () throws -> Void) throws {
    try connection.run("BEGIN IMMEDIATE")
    try body()
    try connection.run("COMMIT")
  }

  func counts() throws -> (owners: Int, items: Int) {
    (try count("owner"), try count("item"))
  }

  private func count(_ table: String) throws -> Int {
    try connection.prepare("SELECT count(*) FROM \(table)").read([]) { $0.integer(0) }.first ?? 0
  }

  func settle() throws { try connection.checkpoint() }
}
