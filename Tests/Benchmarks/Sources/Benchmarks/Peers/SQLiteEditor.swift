import Foundation

/// One statement for each edit, which is a transaction by itself. Threads take turns, as with FileDB and GRDB, by a
/// lock that guards the connection and all of its statements.
final class SQLiteEditor: SharedEditor, @unchecked Sendable {
  private let lock = NSLock()
  private let connection: SQLiteConnection
  private let addTop: SQLiteStatement
  private let addBottom: SQLiteStatement
  private let addAfter: SQLiteStatement
  private let move: SQLiteStatement
  private let update: SQLiteStatement
  private let delete: SQLiteStatement

  init(_ connection: SQLiteConnection) throws {
    self.connection = connection
    func add(at position: String) throws -> SQLiteStatement {
      try connection.prepare(
        "INSERT INTO storedEntry (\(SQLitePeer.columns), position) VALUES (?, ?, ?, ?, ?, ?, \(position))")
    }
    let after = """
      (SELECT ifnull((above.position + (SELECT min(position) FROM storedEntry WHERE position > above.position)) / 2,
      above.position + 1) FROM storedEntry AS above WHERE id = ?)
      """
    addTop = try add(at: "(SELECT ifnull(min(position) - 1, 1) FROM storedEntry)")
    addBottom = try add(at: "(SELECT ifnull(max(position) + 1, 1) FROM storedEntry)")
    addAfter = try add(at: after)
    move = try connection.prepare("UPDATE storedEntry SET position = \(after) WHERE id = ?")
    update = try connection.prepare("UPDATE storedEntry SET amount = ? WHERE id = ?")
    delete = try connection.prepare("DELETE FROM storedEntry WHERE id = ?")
  }

  func commit(_ edits: [Edit], _ log: EditLog) throws {
    try log.run(edits) { edit in try lock.withLock { try perform(edit) } }
  }

  func transact(_ edits: [Edit], _ log: EditLog) throws {
    try lock.withLock {
      try connection.run("BEGIN IMMEDIATE")
      try log.run(edits, perform)
      try connection.run("COMMIT")
    }
  }

  private func perform(_ edit: Edit) throws -> Int {
    switch edit {
    case .add(let entry, let place):
      let values = SQLiteEditor.values(entry)
      switch place {
      case .top: try addTop.execute(values)
      case .bottom: try addBottom.execute(values)
      case .after(let id): try addAfter.execute(values + [.integer(id)])
      }
      return connection.lastID
    case .move(let id, let other):
      try move.execute([.integer(other), .integer(id)])
      return id
    case .update(let id, let amount):
      try update.execute([.integer(amount), .integer(id)])
      return id
    case .delete(let id):
      try delete.execute([.integer(id)])
      return id
    }
  }

  private static func values(_ entry: Entry) -> [SQLiteValue] {
    [
      .text(entry.title), .text(entry.note), .integer(entry.amount), .real(entry.price),
      .real(entry.due.timeIntervalSince1970), .integer(entry.isDone ? 1 : 0),
    ]
  }

  func settle() throws { try lock.withLock { try connection.checkpoint() } }

  func count() throws -> Int {
    try integers("SELECT count(*) FROM storedEntry", []).first ?? 0
  }

  func entry(_ id: Int) throws -> Entry? {
    try lock.withLock {
      try connection.prepare("SELECT \(SQLitePeer.columns) FROM storedEntry WHERE id = ?")
        .read([.integer(id)], \.entry).first
    }
  }

  func neighbours(of id: Int) throws -> (above: Int?, below: Int?) {
    let position = "(SELECT position FROM storedEntry WHERE id = ?)"
    return (
      try integers(
        "SELECT id FROM storedEntry WHERE position < \(position) ORDER BY position DESC LIMIT 1",
        [.integer(id)]
      ).first,
      try integers(
        "SELECT id FROM storedEntry WHERE position > \(position) ORDER BY position LIMIT 1", [.integer(id)]
      ).first
    )
  }

  private func integers(_ sql: String, _ values: [SQLiteValue]) throws -> [Int] {
    try lock.withLock { try connection.prepare(sql).read(values) { $0.integer(0) } }
  }
}
