/// The runs of one peer in one workload at one size.
struct Measurement: Codable {
  var workload: String
  var records: Int
  var peer: String
  /// Of one operation, one number a run, in the order of the runs.
  var seconds: [Double] = []
  /// Why there are none.
  var leftOut: String?
  /// Whether that is because the peer did not do what it was timed for.
  var hasFailed = false

  var sorted: [Double] { seconds.sorted() }

  var median: Double? {
    guard !seconds.isEmpty else { return nil }
    let sorted = sorted
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
  }
}

/// How often a workload is run.
struct Effort {
  var runs = 5
  /// A peer that took more seconds than this is not run again.
  var budget = 20.0
}

/// Measures the peers of one workload at one size: each once, then each again and so on, so that a busy moment of the
/// machine meets them all.
func measure(_ workload: Workload, _ peers: [any Peer], _ sample: Sample, _ effort: Effort) -> [Measurement] {
  var lanes = peers.compactMap { Lane($0, workload, sample) }
  for _ in 0..<effort.runs {
    for index in lanes.indices { lanes[index].runOnce(within: effort.budget) }
  }
  return lanes.map(\.measurement)
}

/// A peer on its way through the runs of a workload.
private struct Lane {
  var measurement: Measurement
  private var run: Run?
  private var spent = 0.0

  /// - Returns: `nil` for a peer that cannot do such a thing.
  init?(_ peer: any Peer, _ workload: Workload, _ sample: Sample) {
    let name = type(of: peer).name
    measurement = Measurement(workload: workload.name, records: sample.records, peer: name)
    let most = type(of: peer).mostRecords(for: workload)
    guard most > 0 else { return nil }
    guard sample.records <= most else {
      measurement.leftOut = "takes too long at this size"
      return
    }
    do {
      guard let run = try peer.prepare(workload) else { return nil }
      self.run = run
    } catch { leaveOut(error) }
  }

  private mutating func leaveOut(_ error: any Error) {
    run = nil
    measurement.seconds = []
    measurement.leftOut = "\(error)"
    measurement.hasFailed = !(error is LeftOut)
  }

  /// Making ready and checking count as spent too: the whole is to end in bearable time.
  mutating func runOnce(within budget: Double) {
    guard let run, spent < budget else { return }
    do {
      spent += try seconds(of: { measurement.seconds.append(try run()) }, check: {})
    } catch { leaveOut(error) }
  }
}
