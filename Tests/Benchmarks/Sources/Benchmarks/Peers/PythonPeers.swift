import Foundation

/// A peer that is a Python program of ours, in Programs. It times itself, so that the start of Python does not count,
/// checks what it did, and prints a line of JSON.
struct PythonProgram {
  let script: String
  /// The module without which it cannot run.
  let module: String

  private struct Timing: Decodable {
    var seconds: Double
  }

  /// Runs `workload` on the sample, or on `data` if that is something else.
  func prepare(_ workload: Workload, _ sample: Sample, data: URL? = nil) throws -> Run {
    let python = try python()
    let scratch = try sample.scratch(script)
    return {
      let output = try runProgram(python, arguments(workload.name, sample, scratch, data))
      return try JSONDecoder().decode(Timing.self, from: Data(output.utf8)).seconds
    }
  }

  /// Makes the file that the program keeps the sample in.
  func makeFile(_ sample: Sample) throws {
    guard let python = try? python() else { return }
    try runProgram(python, arguments("make", sample, try sample.scratch(script), nil))
  }

  func memoryOfOpening(_ sample: Sample) throws -> ResidentMemory.Growth? {
    guard let python = try? python() else { return nil }
    let output = try runProgram(python, arguments("memory", sample, try sample.scratch(script), nil))
    return try JSONDecoder().decode(ResidentMemory.Growth?.self, from: Data(output.utf8))
  }

  private func arguments(_ workload: String, _ sample: Sample, _ scratch: URL, _ data: URL?) -> [String] {
    [
      Places.programs.appendingPathComponent(script).path, workload, (data ?? sample.file).path, scratch.path,
    ]
  }

  private func python() throws -> String {
    guard let python = findProgram("python3") else { throw LeftOut("python3 is not installed") }
    let search = "import importlib.util as u, sys; sys.exit(u.find_spec('\(module)') is None)"
    guard (try? runProgram(python, ["-c", search])) != nil else {
      throw LeftOut("the Python module \(module) is not installed")
    }
    return python
  }
}

/// Python's own reader and writer of property lists.
final class PlistlibPeer: Peer {
  static let name = "Python plistlib"

  private static let program = PythonProgram(script: "plistlib_peer.py", module: "plistlib")
  private let sample: Sample

  init(_ sample: Sample) { self.sample = sample }

  static func mostRecords(for workload: Workload) -> Int {
    switch workload {
    case .parse, .serialize, .open, .checkpoint: 100_000
    default: 0
    }
  }

  func prepare(_ workload: Workload) throws -> Run? { try PlistlibPeer.program.prepare(workload, sample) }

  func memoryOfOpening() throws -> ResidentMemory.Growth? { try PlistlibPeer.program.memoryOfOpening(sample) }
}

/// TinyDB, a document store in one JSON file. Its records have no order of one's own, so it only adds at the bottom.
final class TinyDBPeer: Peer {
  static let name = "TinyDB"

  private static let program = PythonProgram(script: "tinydb_peer.py", module: "tinydb")
  private let sample: Sample

  init(_ sample: Sample) { self.sample = sample }

  static func mostRecords(for workload: Workload) -> Int {
    switch workload {
    case .edit(_, .memory), .edit(.top, _), .edit(.middle, _), .edit(.move, _): 0
    case .open, .rows, .record, .page, .edit, .importTables: 100_000
    default: 0
    }
  }

  func prepare(_ workload: Workload) throws -> Run? {
    let tables = workload == .importTables ? try USDATables.files().first?.deletingLastPathComponent() : nil
    return try TinyDBPeer.program.prepare(workload, sample, data: tables)
  }

  func makeFileToOpen() throws { try TinyDBPeer.program.makeFile(sample) }

  func memoryOfOpening() throws -> ResidentMemory.Growth? { try TinyDBPeer.program.memoryOfOpening(sample) }
}
