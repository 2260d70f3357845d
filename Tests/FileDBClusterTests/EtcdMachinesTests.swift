import FileDB
import FileDBCluster
import FileDBEtcd
import Foundation
import TestSupport
import Testing

/// Several machines share a store on etcd while its leaders are killed, paused or cut off.
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

  @Test func transfersAreDoneOnceOrNeverWhileLeadersFail() throws {
    let cluster = try #require(EtcdCluster.current)
    var failures = LeaderFailures()
    let result = try machines(cluster).transfer(15) {
      try failures.bringAbout(Machines.kills, on: cluster)
    }
    print("etcd:\n\(failures.description(result))")
  }
}
