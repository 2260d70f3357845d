import FileDB
import FileDBCluster
import Foundation
import TestSupport
import Testing

/// Several machines share a store on PostgreSQL with Patroni while its leaders are killed, paused or cut off.
@Suite(.enabled(if: PatroniCluster.current != nil, "needs the servers that Tests/Cluster/failover starts"))
struct PatroniMachinesTests {
  @Test func transfersAreDoneOnceOrNeverWhileLeadersFail() throws {
    let cluster = try #require(PatroniCluster.current)
    let (info, name) = (try cluster.info, UUID().uuidString)
    let log = PostgresLog(info, store: name, timeout: longestWait)
    try log.create()
    var failures = LeaderFailures()
    // `Tests/Cluster/patroni` waits five minutes for its servers.
    let machines = Machines(connection: info, store: name, log: SharedLog(log), patience: .seconds(320))
    let result = try machines.transfer(15) { progress in
      // Do not wait long for a server that is paused. Another one may answer.
      log.timeout = .seconds(3)
      defer { log.timeout = longestWait }
      try failures.bringAbout(Machines.kills, on: cluster, during: progress)
    }
    print("PostgreSQL with Patroni:\n\(failures.description(result))")
  }
}
