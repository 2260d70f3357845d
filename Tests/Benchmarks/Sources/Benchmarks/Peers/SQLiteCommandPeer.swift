import Foundation

/// The command line of SQLite, on GRDB's database.
final class SQLiteCommandPeer: CommandLinePeer {
  static let name = "sqlite3"

  private let sample: Sample
  /// What the commands do, on a database of their own.
  lazy var commands = Result { CommandTable(try makeDatabaseToChange(), sample) }

  init(_ sample: Sample) { self.sample = sample }

  func prepare(_ workload: Workload) throws -> Run? {
    switch workload {
    case .command(let verb): try running(verb)
    case .start: try startingProgram(program(), ["--version"])
    case .script: try runningScript()
    case .firstLine: try printingFirstLine()
    case .csv(.import): try importing()
    case .csv(.export): try exporting()
    default: nil
    }
  }

  private func program() throws -> String {
    guard let sqlite3 = findProgram("sqlite3") else { throw LeftOut("sqlite3 is not installed") }
    return sqlite3
  }

  /// As durable as FileDB.
  private func makeDatabaseToChange() throws -> URL {
    let file = try GRDBPeer.makeDatabase(sample, in: "sqlite3-commands")
    let levels = try ask("PRAGMA synchronous; PRAGMA journal_mode", file)
    try expect(levels == "2\nwal\n", "synchronous is not FULL or journal_mode is not WAL")
    return file
  }

  private func ask(_ sql: String, _ file: URL) throws -> String {
    try runProgram(program(), [file.path, sql])
  }

  func command(_ verb: CommandVerb, _ table: CommandTable) throws -> TableCommand {
    let (id, title) = sample.recordToPrint
    let next = "(SELECT max(position) + 1 FROM storedEntry)"
    let sql =
      switch verb {
      case .get: "SELECT * FROM storedEntry WHERE id = \(id)"
      case .count: "SELECT count(*) FROM storedEntry"
      case .show: "SELECT * FROM storedEntry ORDER BY position LIMIT \(CommandVerb.shownRecords)"
      case .add:
        "INSERT INTO storedEntry (position, \(SQLitePeer.columns)) "
          + "VALUES (\(next), \(Self.values(of: table.added))) RETURNING id"
      case .set: "UPDATE storedEntry SET amount = \(table.amount) WHERE id = \(table.changedID)"
      case .move: "UPDATE storedEntry SET position = \(next) WHERE id = \(table.moved)"
      }
    return TableCommand(program: try program(), arguments: [table.location.path, sql]) { [self] output in
      func expectAnswer(_ sql: String, _ answer: String) throws {
        try expect(try ask(sql, table.location) == answer + "\n", "what \(verb) did")
      }
      switch verb {
      case .get: try expect(output.contains(title), "the printed record")
      case .count: try expect(output == "\(table.records)\n", "the printed number of records")
      case .show:
        let lines = output.split(separator: "\n").count
        try expect(lines == CommandVerb.shownRecords, "the number of printed records")
      case .add:
        try expectAnswer(
          "SELECT count(*), (SELECT title FROM storedEntry ORDER BY position DESC LIMIT 1) FROM storedEntry",
          "\(table.records)|\(table.added.title)")
      case .set:
        try expectAnswer("SELECT amount FROM storedEntry WHERE id = \(table.changedID)", "\(table.amount)")
      case .move:
        try expectAnswer("SELECT id FROM storedEntry ORDER BY position DESC LIMIT 1", "\(table.moved)")
      }
    }
  }

  /// The fields of a record as SQL takes them.
  private static func values(of entry: Entry) -> String {
    let texts = [entry.title, entry.note].map { "'\($0.replacing("'", with: "''"))'" }
    return "\(texts[0]), \(texts[1]), \(entry.amount), \(entry.price), \(entry.due.timeIntervalSince1970), "
      + "\(entry.isDone)"
  }

  private func printingFirstLine() throws -> Run {
    let sqlite3 = try program()
    let file = try GRDBPeer.makeDatabase(sample, in: "sqlite3")
    let title = sample.entries[0].title
    return {
      try seconds(
        of: { try firstLine(of: sqlite3, [file.path, "SELECT * FROM storedEntry ORDER BY position"]) },
        check: { try expect($0.contains(title), "the first line") })
    }
  }

  private static let schema =
    "CREATE TABLE t (title TEXT, note TEXT, amount INTEGER, price REAL, due DATETIME, isDone BOOLEAN)"

  private func runningScript() throws -> Run {
    let sqlite3 = try program()
    let lines = sample.scriptEntries.map { entry in
      let texts = [entry.title, entry.note, entry.due.formatted(.iso8601)].map {
        "'\($0.replacing("'", with: "''"))'"
      }
      return "INSERT INTO t VALUES (\(texts[0]), \(texts[1]), \(entry.amount), \(entry.price), \(texts[2]), "
        + "\(entry.isDone));"
    }
    let script = sample.folder.appendingPathComponent("inserts.sql")
    let text = "\(Self.schema);\nBEGIN;\n\(lines.joined(separator: "\n"))\nCOMMIT;\n"
    try text.write(to: script, atomically: true, encoding: .utf8)
    let count = lines.count
    return { [sample] in
      try sample.importCSV(in: "sqlite3-script") {
        let file = $0.appendingPathComponent("t.sqlite").path
        try runProgram(sqlite3, ["-bail", file, ".read \"\(script.path)\""])
      } check: {
        let file = $0.appendingPathComponent("t.sqlite").path
        try expect(
          try runProgram(sqlite3, [file, "SELECT count(*) FROM t"]) == "\(count)\n", "the number of records")
      }
    }
  }

  private func importing() throws -> Run {
    let sqlite3 = try program()
    let csv = try sample.csv()
    return { [sample] in
      try sample.importCSV(in: "sqlite3-import") { folder in
        let file = folder.appendingPathComponent("t.sqlite").path
        try runProgram(
          sqlite3, ["-bail", file, Self.schema, ".mode csv", ".import --skip 1 \"\(csv.path)\" t"])
      } check: {
        try sample.check($0.appendingPathComponent("t.sqlite"), table: "t")
      }
    }
  }

  private func exporting() throws -> Run {
    let sqlite3 = try program()
    let file = try GRDBPeer.makeDatabase(sample, in: "sqlite3")
    return { [sample] in
      try sample.exportCSV(in: "sqlite3") {
        let query = "SELECT * FROM storedEntry ORDER BY position"
        try runProgram(sqlite3, ["-header", "-csv", file.path, query], output: $0)
      }
    }
  }
}
