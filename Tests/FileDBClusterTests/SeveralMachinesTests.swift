import FileDB
import FileDBCluster
import Foundation
import TestSupport
import Testing

/// Processes on several "machines", each a folder, that transfer between tables while the server dies.
@Suite(
  .serialized, .enabled(if: PostgresServer.current != nil, "needs the server that Tests/Cluster/run starts"))
struct SeveralMachinesTests {
  private static let accounts = 8
  private static let balance: Int64 = 500

  /// `Tests/Cluster/run 200` kills the server that often.
  private static let kills =
    ProcessInfo.processInfo.environment["FILEDB_SERVER_KILLS"].flatMap { Int($0) } ?? 3

  @Test(arguments: [0, kills]) func transfersAreDoneOnceOrNeverAndNoMachineSeesHalfOfOne(kills: Int) throws {
    let server = try #require(PostgresServer.current)
    try withTemporaryFolder { folder in
      let name = UUID().uuidString
      let log = SharedLog.postgreSQL(server.info, store: name)
      try log.create()
      let first = try RecordStore(at: folder.appendingPathComponent("first"), sharedBy: log)
      try first.write { tx in
        for table in ["left", "right"] {
          for _ in 0..<Self.accounts { try tx[table].add(["balance": .integer(Self.balance)]) }
        }
      }
      // The last two are on one machine.
      let machines = ["a", "b", "c", "c"]
      let count = kills == 0 ? 15 : 40 * kills
      let workers = try machines.enumerated().map { number, machine in
        let place = folder.appendingPathComponent(machine).path
        return try Worker(
          [server.info, name, place, "\(number)", "\(count)"], in: folder, program: "SharedWorker")
      }
      for _ in 0..<kills {
        usleep(.random(in: 300_000...900_000))
        try server.run("kill")
        usleep(.random(in: 0...300_000))
        try server.run("start")
      }
      let said = try workers.map { try $0.end().split(separator: "\n").map(String.init) }

      // On a machine that was not there before.
      let store = try RecordStore(at: folder.appendingPathComponent("last"), sharedBy: log)
      try check(store, said, count)
      try first.catchUp()
      try check(first, said, count)
      for machine in Set(machines) {
        let again = try RecordStore(at: folder.appendingPathComponent(machine), sharedBy: log)
        try again.catchUp()
        try check(again, said, count)
        try again.checkpoint()
        try again.checkInvariants()
      }
    }
  }

  private func check(_ store: RecordStore, _ said: [[String]], _ count: Int) throws {
    let snapshot = try store.snapshot()
    let sum = ["left", "right"].flatMap { Array(snapshot[$0]) }
      .reduce(Int64(0)) { $0 + ($1["balance"]?.integer ?? 0) }
    #expect(sum == 2 * Int64(Self.accounts) * Self.balance)
    var times: [String: Int] = [:]
    for transfer in snapshot["transfers"] {
      times["\(transfer["by"]?.string ?? "?") \(transfer["number"]?.integer ?? -1)", default: 0] += 1
    }
    #expect(times.values.allSatisfy { $0 == 1 }, "done twice")
    for (worker, lines) in said.enumerated() {
      #expect(lines.last == "end")
      for number in 0..<count where lines.contains("done \(number)") {
        #expect(times["\(worker) \(number)"] == 1, "acknowledged and lost")
      }
    }
    #expect(times.count >= said.flatMap(\.self).count { $0.hasPrefix("done") })
  }
}
