/// The command line of SQLite, on GRDB's database.
final class SQLiteCommandPeer: Peer {
  static let name = "sqlite3"

  private let sample: Sample

  init(_ sample: Sample) { self.sample = sample }

  func prepare(_ workload: Workload) throws -> Run? {
    guard workload == .command else { return nil }
    guard let sqlite3 = findProgram("sqlite3") else { throw LeftOut("sqlite3 is not installed") }
    let file = try GRDBPeer.makeDatabase(sample, in: "sqlite3")
    let (id, title) = sample.recordToPrint
    return {
      try seconds(
        of: { try runProgram(sqlite3, [file.path, "SELECT * FROM storedEntry WHERE id = \(id)"]) },
        check: { try expect($0.contains(title), "the printed record") })
    }
  }
}
