import FileDB
import FileDBCluster
import FileDBEtcd
import Foundation
import TestSupport
import Testing

/// Several machines share a store on etcd while leaders are killed or paused.
@Suite(
  .serialized, .enabled(if: EtcdCluster.current != nil, "needs the cluster that Tests/Cluster/etcd starts"))
struct EtcdMachinesTests {
  private func machines(_ cluster: EtcdCluster) throws -> Machines {
    let name = UUID().uuidString
    let log = try SharedLog.etcd(cluster.address, store: name)
    try log.create()
    return Machines(connection: cluster.address, store: name, log: log)
  }

  @Test func transfersBetweenMachinesAreDoneOnce() throws {
    try machines(try #require(EtcdCluster.current)).transfer(15) {}
  }

  @Test func transfersAreDoneOnceOrNeverWhileLeadersAreKilledAndPaused() throws {
    let cluster = try #require(EtcdCluster.current)
    let kills = Machines.kills
    let result = try machines(cluster).transfer(15) {
      for _ in 0..<kills {
        usleep(.random(in: 300_000...900_000))
        let dead = try cluster.run("leader")
        try cluster.run("kill", dead)
        // The others elect a new leader and continue.
        _ = try cluster.run("leader")
        usleep(.random(in: 0...500_000))
        try cluster.run("start", dead)

        usleep(.random(in: 300_000...900_000))
        let still = try cluster.run("leader")
        try cluster.run("pause", still)
        usleep(.random(in: 500_000...2_500_000))
        try cluster.run("resume", still)
        _ = try cluster.run("leader")
      }
    }
    print(
      "\(kills) kills, \(kills) pauses, \(result.transfers) transfers, \(result.operations) operations, "
        + "\(result.unknown) of unknown outcome")
  }
}
