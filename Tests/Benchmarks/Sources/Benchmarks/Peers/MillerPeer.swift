import Foundation

/// Miller, which keeps records in no store: it makes JSON of the CSV, and CSV of the JSON.
final class MillerPeer: Peer {
  static let name = "Miller"

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
    guard let mlr = findProgram("mlr") else { throw LeftOut("Miller is not installed") }
    return mlr
  }

  private func makeJSON(_ file: URL) throws {
    try runProgram(try program(), ["--icsv", "--ojson", "cat", try sample.csv().path], output: file)
  }

  private func importing() throws -> Run {
    _ = try (program(), sample.csv())
    return { [self] in
      try sample.importCSV(in: "Miller-import") {
        try makeJSON($0.appendingPathComponent("sample.json"))
      } check: {
        let data = try Data(contentsOf: $0.appendingPathComponent("sample.json"))
        let rows = try JSONSerialization.jsonObject(with: data) as? [[String: Any]]
        try expect(rows?.count == self.sample.records, "the number of records")
        try expect(rows?.last?["amount"] as? Int == self.sample.entries.last?.amount, "the last record")
      }
    }
  }

  private func exporting() throws -> Run {
    let mlr = try program()
    let json = try sample.scratch("Miller").appendingPathComponent("sample.json")
    try makeJSON(json)
    return { [sample] in
      try sample.exportCSV(in: "Miller") {
        try runProgram(mlr, ["--ijson", "--ocsv", "cat", json.path], output: $0)
      }
    }
  }
}
