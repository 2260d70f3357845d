import FileDB
import FileDBCluster
import Foundation
import TestSupport
import Testing

/// Several machines share a store on PostgreSQL while the server is killed.
@Suite(
  .serialized, .enabled(if: PostgresServer.current != nil, "needs the server that Tests/Cluster/run starts"))
struct SeveralMachinesTests {
  @Test(arguments: [0, Machines.kills]) func transfersAreDoneOnceOrNeverAndNoMachineSeesHalfOfOne(
    kills: Int
  ) throws {
    let server = try #require(PostgresServer.current)
    let name = UUID().uuidString
    let log = SharedLog.postgreSQL(server.info, store: name)
    try log.create()
    try Machines(connection: server.info, store: name, log: log).transfer(15) {
      for _ in 0..<kills {
        usleep(.random(in: 300_000...900_000))
        try server.run("kill")
        usleep(.random(in: 0...300_000))
        try server.run("start")
      }
    }
  }
}
