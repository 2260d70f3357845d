import FileDB
import FileDBCluster
import Foundation
import TestSupport
import Testing

/// Processes on several "machines" transfer amounts between tables while servers are killed. Each machine is a folder.
struct Machines {
  private static let accounts = 8
  private static let balance: Int64 = 500
  /// The arguments with which the processes reach the log.
  let connection: String
  let store: String
  let log: SharedLog
  /// How long a process waits for the servers before it gives up.
  var patience = longestWait * 2

  /// The results of a run.
  struct Result {
    var transfers = 0
    var operations = 0
    var unknown = 0
    var freshReads = 0
    /// When each write returned, in order, in nanoseconds of the clock that all processes share.
    var acknowledged: [UInt64] = []
  }

  /// What the machines have done so far, as another machine sees it.
  struct Progress {
    fileprivate let machine: RecordStore

    /// Waits until the machines have made this many more transfers.
    func waitForTransfers(_ count: Int) throws {
      let end = try transferCount() + count
      try wait(for: "\(count) transfers") { try transferCount() >= end }
    }

    private func transferCount() throws -> Int {
      let snapshot = try machine.snapshot()
      return snapshot.tableNames.filter { $0.hasPrefix("transfers") }.reduce(0) { $0 + snapshot[$1].count }
    }

    /// Waits until the machine has noticed that the servers do not answer.
    func waitForFailure() throws {
      try wait(for: "a machine to notice a failure") { machine.observationError != nil }
    }
  }

  /// - Parameters:
  ///   - count: the minimum number of transfers of each process.
  ///   - disturb: runs at the same time.
  @discardableResult
  func transfer(_ count: Int, _ disturb: (Progress) throws -> Void) throws -> Result {
    try withTemporaryFolder { folder in
      let first = try RecordStore(at: folder.appendingPathComponent("first"), sharedBy: log)
      try first.write { tx in
        for table in ["left", "right"] {
          for _ in 0..<Self.accounts { try tx[table].add(["balance": .integer(Self.balance)]) }
        }
      }
      // The last two processes are on one machine.
      let machines = ["a", "b", "c", "c"]
      let busy = Set(machines).map { folder.appendingPathComponent("\($0).busy") }
      for file in busy { try Data().write(to: file) }
      let workers = try machines.enumerated().map { number, machine in
        let place = folder.appendingPathComponent(machine).path
        return try Worker(
          [connection, store, place, "\(number)", "\(count)", "\(patience.components.seconds)"], in: folder,
          program: "SharedWorker")
      }
      let outcome = Swift.Result { try disturb(Progress(machine: first)) }
      for file in busy { try FileManager.default.removeItem(at: file) }
      try outcome.get()
      let said = try workers.map { try $0.end().split(separator: "\n").map(String.init) }
      let history = try self.history(said)
      #expect(history.violations.isEmpty)

      // Check on a new machine.
      let last = try RecordStore(at: folder.appendingPathComponent("last"), sharedBy: log)
      let transfers = try check(last, said)
      try first.catchUp()
      try check(first, said)
      for machine in Set(machines) {
        let again = try RecordStore(at: folder.appendingPathComponent(machine), sharedBy: log)
        try again.catchUp()
        try check(again, said)
        try again.checkpoint()
        try again.checkInvariants()
      }
      return Result(
        transfers: transfers, operations: history.operations.count,
        unknown: history.operations.count { $0.outcome == .unknown },
        freshReads: history.operations.count { $0.kind == .fresh && $0.outcome == .done },
        acknowledged: history.operations.filter { $0.kind == .write && $0.outcome == .done }.map(\.end)
          .sorted())
    }
  }

  private func history(_ said: [[String]]) throws -> History {
    let prefix = "history "
    return History(
      try said.joined().filter { $0.hasPrefix(prefix) }.map { line in
        try #require(History.Operation(line.dropFirst(prefix.count)))
      })
  }

  /// - Returns: the number of transfers.
  @discardableResult
  private func check(_ store: RecordStore, _ said: [[String]]) throws -> Int {
    let snapshot = try store.snapshot()
    let sum = ["left", "right"].flatMap { Array(snapshot[$0]) }
      .reduce(Int64(0)) { $0 + ($1["balance"]?.integer ?? 0) }
    #expect(sum == 2 * Int64(Self.accounts) * Self.balance)
    var times: [String: Int] = [:]
    for table in snapshot.tableNames where table.hasPrefix("transfers") {
      for transfer in snapshot[table] {
        times["\(transfer["by"]?.integer ?? -1) \(transfer["number"]?.integer ?? -1)", default: 0] += 1
      }
    }
    #expect(times.values.allSatisfy { $0 == 1 }, "done twice")
    for (worker, lines) in said.enumerated() {
      #expect(lines.last == "end")
      let done = lines.filter { $0.hasPrefix("done ") }.map { $0.dropFirst("done ".count) }
      #expect(done.allSatisfy { times["\(worker) \($0)"] == 1 }, "acknowledged and lost")
    }
    #expect(times.count >= said.flatMap(\.self).count { $0.hasPrefix("done") })
    return times.count
  }

  /// `FILEDB_SERVER_KILLS=200 Tests/Cluster/with-servers Tests/run --filter SeveralMachines` kills the server that often.
  static let kills = ProcessInfo.processInfo.environment["FILEDB_SERVER_KILLS"].flatMap { Int($0) } ?? 3
}
