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
    let log = SharedLog.postgreSQL(info, store: name)
    try log.create()
    var failures = LeaderFailures()
    let result = try Machines(connection: info, store: name, log: log).transfer(15) {
      try failures.bringAbout(Machines.kills, on: cluster)
    }
    print("PostgreSQL with Patroni:\n\(failures.description(result))")
  }
}
