import Foundation

/// The command line of SQLite, on GRDB's database.
final class SQLiteCommandPeer: Peer {
  static let name = "sqlite3"

  private let sample: Sample

  init(_ sample: Sample) { self.sample = sample }

  func prepare(_ workload: Workload) throws -> Run? {
    switch workload {
    case .command: try printingRecord()
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

  private func printingRecord() throws -> Run {
    let sqlite3 = try program()
    let file = try GRDBPeer.makeDatabase(sample, in: "sqlite3")
    let (id, title) = sample.recordToPrint
    return {
      try seconds(
        of: { try runProgram(sqlite3, [file.path, "SELECT * FROM storedEntry WHERE id = \(id)"]) },
        check: { try expect($0.contains(title), "the printed record") })
    }
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
