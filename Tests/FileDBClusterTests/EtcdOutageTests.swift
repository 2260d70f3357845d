import FileDB
import Foundation
import TestSupport
import Testing

@testable import FileDBCluster

/// Members of etcd that are paused, killed or cut off. The tests run one after another, with a cluster of their own.
@Suite(
  .serialized,
  .enabled(if: EtcdCluster.outages != nil, "needs the etcd clusters of Tests/Cluster/with-servers"))
struct EtcdOutageTests {
  private func cluster() throws -> EtcdCluster { try #require(EtcdCluster.outages) }

  private func log() throws -> EtcdLog {
    let log = try EtcdLog(try cluster().address, store: UUID().uuidString, timeout: longestWait)
    try log.create()
    return log
  }

  /// Runs `body` while the cluster has no leader, so no member can answer requests that need a majority. The log does
  /// not wait long for them.
  private func withoutMajority(_ log: EtcdLog, _ body: () throws -> Void) throws {
    let cluster = try cluster()
    for member in ["1", "2"] { try cluster.run("pause", member) }
    log.client.timeout = .milliseconds(300)
    defer {
      for member in ["1", "2"] { _ = try? cluster.run("resume", member) }
      _ = try? cluster.run("leader")
      log.client.timeout = longestWait
    }
    try body()
  }

  @Test func absentCommitNeverArrivesLater() throws {
    let log = try log()
    let user = LogUser(log)
    _ = try user.append("t") { _ in [.create] }
    let late = try user.commit("late")
    try withoutMajority(log) {
      let error = storeError { _ = try log.append(timeout: longestWait, { late }, beforeOthersSee: { _ in }) }
      #expect(error?.code == .outcomeUnknown)
      let outcome = try log.outcome(of: late.token)
      #expect(outcome == .unknown)
    }
    let outcome = try log.outcome(of: late.token)
    #expect(outcome != .unknown)
    let count = try user.newest("t").state.records.count
    #expect(count == (outcome == .committed ? 1 : 0))
    _ = try user.append("t") { state in [.insert([record(state.counter + 1)], index: 0)] }
    #expect(try user.newest("t").state.records.count == count + 1)
  }

  @Test func callsTimeOutWithoutAMajority() throws {
    try withTemporaryFolder { folder in
      let log = try log()
      let store = try RecordStore(at: folder, sharedBy: SharedLog(log))
      try store.table("t").add(["title": "one"])
      try withoutMajority(log) {
        // The first write sends its commit without reading the log before it. The next one reads first.
        #expect(storeError { try store.table("t").add(["title": "two"]) }?.code == .outcomeUnknown)
        #expect(storeError { try store.table("t").add(["title": "two"]) }?.code == .unreachable)
        #expect(storeError { try store.catchUp() }?.code == .unreachable)
        let count = try store.table("t").count
        #expect(count == 1)
      }
      try store.table("t").add(["title": "three"])
      let titles = try store.table("t").snapshot().map { $0["title"] }
      #expect([["one", "three"], ["one", "two", "three"]].contains(titles))
    }
  }

  @Test func clientSurvivesMembersThatAreKilledOneAfterAnother() throws {
    try withTemporaryFolder { folder in
      let (cluster, log) = (try cluster(), SharedLog(try log()))
      let store = try RecordStore(at: folder, sharedBy: log)
      for member in ["1", "2", "3"] {
        try cluster.run("kill", member)
        _ = try cluster.run("leader")
        try store.table("t").add(["title": "one"])
        try cluster.run("start", member)
        _ = try cluster.run("leader")
      }
      try store.table("t").add(["title": "one"])
      let fresh = try RecordStore(at: folder.appendingPathComponent("fresh"), sharedBy: log)
      #expect(try fresh.table("t").snapshot().map { $0["title"] } == Array(repeating: "one", count: 4))
    }
  }

  // MARK: Several machines share a store

  private func machines(_ log: EtcdLog) throws -> Machines {
    Machines(connection: try cluster().address, store: log.name, log: SharedLog(log))
  }

  @Test func transfersBetweenMachinesAreDoneOnce() throws {
    try machines(log()).transfer(15) { _ in }
  }

  @Test func transfersAreDoneOnceOrNeverWhileLeadersFail() throws {
    var failures = LeaderFailures()
    let log = try log()
    let result = try machines(log).transfer(15) { progress in
      // Do not wait long for a member that is paused. Another one may answer.
      log.client.timeout = .seconds(3)
      defer { log.client.timeout = longestWait }
      try failures.bringAbout(Machines.kills, on: cluster(), during: progress)
    }
    print("etcd:\n\(failures.description(result))")
  }
}
