import Foundation

/// All that one run of the benchmarks found out.
struct Results: Codable {
  struct Memory: Codable {
    var records: Int
    var peer: String
    var fileBytes: Int
    var addedBytes: Int
    var peakBytes: Int

    var timesTheFile: Double { Double(addedBytes) / Double(fileBytes) }
  }

  var system = ProcessInfo.processInfo.operatingSystemVersionString
  var cores = ProcessInfo.processInfo.activeProcessorCount
  var measurements: [Measurement] = []
  var memory: [Memory] = []

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
