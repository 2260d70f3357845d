import Foundation

/// All that one run of the benchmarks found out.
struct Results: Codable {
  struct Memory: Codable {
    var records: Int
    var peer: String
    var state: ResidentMemory.State
    var fileBytes: Int
    var addedBytes: Int
    var peakBytes: Int

    var timesTheFile: Double { Double(addedBytes) / Double(fileBytes) }
  }

  struct CommandMemory: Codable {
    var records: Int
    var peer: String
    var verb: CommandVerb
    var peakBytes: Int
  }

  struct Calls: Codable {
    var records: Int
    var peer: String
    var verb: CommandVerb
    var calls: SystemCalls
  }

  var system = ProcessInfo.processInfo.operatingSystemVersionString
  var cores = ProcessInfo.processInfo.activeProcessorCount
  var measurements: [Measurement] = []
  var memory: [Memory] = []
  var commandMemory: [CommandMemory] = []
  var calls: [Calls] = []
  /// The length of the table's file, by the number of records.
  var fileBytes: [Int: Int] = [:]
  /// Whether somebody did something else than what was measured.
  var hasFailed = false

  /// The seconds of one operation, the median of the runs.
  func median(_ workload: Workload, _ peer: any Peer.Type, at records: Int) -> Double? {
    measurements.first {
      $0.workload == workload.name && $0.peer == peer.name && $0.records == records
    }?.median
  }

  /// How many times as long as FileDB a peer takes.
  func ratio(_ workload: Workload, _ peer: any Peer.Type, at records: Int) -> Double? {
    guard let theirs = median(workload, peer, at: records),
      let ours = median(workload, FileDBPeer.self, at: records)
    else { return nil }
    return theirs / ours
  }

  /// The sizes at which FileDB did `workload`, the smallest first.
  func sizes(_ workload: Workload) -> [Int] {
    measurements.filter { $0.workload == workload.name && $0.peer == FileDBPeer.name && !$0.seconds.isEmpty }
      .map(\.records).sorted()
  }

  func write(to file: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(self).write(to: URL(fileURLWithPath: file), options: .atomic)
  }
}
