import Dispatch
import Foundation
import TestSupport

/// How a leader fails.
enum LeaderFailure: String, CaseIterable {
  case killed, paused
  case cutOff = "cut off"
  /// It is paused for less time than the others need to notice.
  case stalled

  fileprivate func begin(_ server: String, of cluster: some ServersWithLeader) throws {
    switch self {
    case .killed: try cluster.run("kill", server)
    case .paused, .stalled: try cluster.run("pause", server)
    case .cutOff: try cluster.runNetwork("cut", server)
    }
  }

  fileprivate func end(_ server: String, of cluster: some ServersWithLeader) throws {
    switch self {
    case .killed: try cluster.run("start", server)
    case .paused, .stalled: try cluster.run("resume", server)
    case .cutOff: try cluster.runNetwork("join", server)
    }
  }
}

/// The failures of leaders in one run.
struct LeaderFailures {
  /// A failure that the other servers noticed. Times are in nanoseconds of the clock that all processes share.
  private struct Failover {
    let kind: LeaderFailure
    let start: UInt64
    /// When another server answered a plain write, without FileDB. `nil` if no server could become the leader.
    let plainWrite: UInt64?
    /// When all servers were back.
    let end: UInt64
  }

  private var failovers: [Failover] = []
  private var stalls = 0

  private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

  /// Makes the leader fail in every way, `times` times. After each failure, it waits until all servers follow one
  /// leader again.
  mutating func bringAbout(
    _ times: Int, on cluster: some ServersWithLeader, during progress: Machines.Progress
  ) throws {
    let kinds = LeaderFailure.allCases.filter { $0 != .cutOff || cluster.hasNetwork }
    // Failures of another test may have reached these servers, too.
    try cluster.run("whole")
    for _ in 0..<times {
      for kind in kinds.shuffled() {
        try progress.waitForTransfers(.random(in: 1...20))
        try kind == .stalled ? stall(cluster) : fail(kind, cluster, progress)
      }
    }
  }

  private mutating func fail(
    _ kind: LeaderFailure, _ cluster: some ServersWithLeader, _ progress: Machines.Progress
  ) throws {
    let leader = try cluster.run("leader")
    let start = Self.now
    try kind.begin(leader, of: cluster)
    let successor = try cluster.run("successor", leader)
    let plainWrite = successor.isEmpty ? nil : Self.now
    // Without a successor, nobody can write before the leader is back.
    if plainWrite != nil, .random() { try progress.waitForTransfers(.random(in: 1...20)) }
    try kind.end(leader, of: cluster)
    try cluster.run("whole")
    failovers.append(Failover(kind: kind, start: start, plainWrite: plainWrite, end: Self.now))
  }

  private mutating func stall(_ cluster: some ServersWithLeader) throws {
    let leader = try cluster.run("leader")
    try LeaderFailure.stalled.begin(leader, of: cluster)
    // No check depends on how long this takes.
    usleep(.random(in: 100_000...900_000))
    try LeaderFailure.stalled.end(leader, of: cluster)
    try cluster.run("whole")
    stalls += 1
  }

  // MARK: Times

  /// How many failures there were of each kind, and how long nobody could write.
  func description(_ result: Machines.Result) -> String {
    let lines = LeaderFailure.allCases.compactMap { kind in
      let ofKind = failovers.filter { $0.kind == kind }
      if ofKind.isEmpty { return kind == .stalled ? "stalled \(stalls) times" : nil }
      let followed = ofKind.filter { $0.plainWrite != nil }
      let plain = followed.compactMap { failover in failover.plainWrite.map { $0 - failover.start } }
      let write = followed.map { longestGap(in: result.acknowledged, of: $0) }
      return "\(kind.rawValue) \(ofKind.count) times, "
        + "\(ofKind.count - followed.count) of them without a successor; "
        + "no writes for \(Self.median(write)) s (a plain write: \(Self.median(plain)) s) in the median, "
        + "\(Self.seconds(write.max() ?? 0)) s (\(Self.seconds(plain.max() ?? 0)) s) at most"
    }
    return lines.joined(separator: "\n")
      + "\n\(result.transfers) transfers, \(result.operations) operations, \(result.freshReads) fresh reads, "
      + "\(result.unknown) of unknown outcome"
  }

  /// The longest time in which no write returned, during a failover.
  private func longestGap(in acknowledged: [UInt64], of failover: Failover) -> UInt64 {
    let times =
      [failover.start] + acknowledged.filter { (failover.start...failover.end).contains($0) }
      + [failover.end]
    return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0
  }

  private static func median(_ times: [UInt64]) -> String {
    let sorted = times.sorted()
    return sorted.isEmpty ? "-" : seconds(sorted[sorted.count / 2])
  }

  private static func seconds(_ nanoseconds: UInt64) -> String {
    String(format: "%.1f", Double(nanoseconds) / 1e9)
  }
}
