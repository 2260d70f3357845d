import Foundation

/// sqlite-utils, a command line in Python that makes SQLite databases of CSV and JSON; on GRDB's database.
final class SQLiteUtilsPeer: Peer {
  static let name = "sqlite-utils"

  private let sample: Sample

  init(_ sample: Sample) { self.sample = sample }

  func prepare(_ workload: Workload) throws -> Run? {
    switch workload {
    case .csv(.import): try importing()
    case .csv(.export): try exporting()
    default: nil
    }
  }

  private func program() throws -> String {
    guard let program = findProgram("sqlite-utils") else { throw LeftOut("sqlite-utils is not installed") }
    return program
  }

  private func importing() throws -> Run {
    let program = try program()
    let csv = try sample.csv()
    return { [sample] in
      try sample.importCSV(in: "sqlite-utils-import") { folder in
        let file = folder.appendingPathComponent("t.sqlite").path
        // The bar that it draws goes to standard error.
        try runProgram(program, ["insert", file, "t", csv.path, "--csv", "--detect-types", "--silent"])
      } check: {
        try sample.check($0.appendingPathComponent("t.sqlite"), table: "t")
      }
    }
  }

  private func exporting() throws -> Run {
    let program = try program()
    let file = try GRDBPeer.makeDatabase(sample, in: "sqlite-utils")
    return { [sample] in
      try sample.exportCSV(in: "sqlite-utils") {
        let query = "SELECT * FROM storedEntry ORDER BY position"
        try runProgram(program, ["query", file.path, query, "--csv"], output: $0)
      }
    }
  }
}
