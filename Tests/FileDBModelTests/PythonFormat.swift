import Foundation
import TestSupport

/// The programs in Tests/FormatReader: a reader and a writer in Python, made from the articles Format and Journal.
enum PythonFormat {
  static let isAvailable =
    (try? run(["-c", "import sys; sys.exit(sys.version_info < (3, 10))"])) != nil

  /// What the reader says of a store.
  struct Report: Decodable {
    let journal: String
    /// What is wrong with the journal.
    let why: String
    /// `sound`, `conflict` or `not a table`, for each table that exists.
    let tables: [String: String]
  }

  /// Reads the stores in `folders`. The files of the tables of each are in a folder of `out`, named by its number.
  static func read(_ folders: [URL], into out: URL) throws -> [Report] {
    let output = try run([script("read.py"), out.path] + folders.map(\.path))
    return try output.split(separator: "\n").map {
      try JSONDecoder().decode(Report.self, from: Data($0.utf8))
    }
  }

  /// Adds `count` random commits to the store in `folder`, and writes into `out` what its tables then are.
  static func write(_ folder: URL, into out: URL, seed: UInt64, count: Int) throws {
    try FileManager.default.createDirectory(at: out, withIntermediateDirectories: true)
    _ = try run([script("write.py"), folder.path, out.path, "\(seed)", "\(count)"])
  }

  struct Failure: Error {
    let output: String
  }

  private static func script(_ name: String) -> String {
    packageRoot.appendingPathComponent("Tests/FormatReader/\(name)").path
  }

  private static func run(_ arguments: [String]) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    // Without -B, Python would leave its caches beside the scripts.
    process.arguments = ["python3", "-B"] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.start()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(output: text) }
    return text
  }
}
