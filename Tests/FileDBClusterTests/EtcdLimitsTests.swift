import FileDB
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDBCluster

/// An etcd with lower limits, or with users. Each test starts its own.
@Suite(.serialized, .enabled(if: EtcdCluster.current != nil, "needs etcd"))
struct EtcdLimitsTests {
  private func open(_ cluster: EtcdCluster, user: String = "") throws -> EtcdLog {
    let address = cluster.address.replacing("etcd://", with: "etcd://\(user)")
    return try EtcdLog(address, store: "s", timeout: longestWait)
  }

  private func insert(_ byteCount: Int, into user: LogUser) throws {
    _ = try user.append("t") { state in
      [.insert([record(state.counter + 1, String(repeating: "x", count: byteCount))], index: 0)]
    }
  }

  private func parts(_ log: EtcdLog) throws -> Int {
    try log.asking([.get(EtcdRange(under: log.keys.parts).withoutValues)]).ranges[0].count
  }

  @Test func errorForALargeRequestNamesTheOptionAndNothingIsCommitted() throws {
    try EtcdCluster.withOneMember(["ETCD_MAX_REQUEST_BYTES": "500000"]) { cluster in
      let log = try open(cluster)
      try log.create()
      let user = LogUser(log)
      _ = try user.append("t") { _ in [.create] }
      let error = storeError { try insert(2_000_000, into: user) }
      #expect(
        error?.code == .unrepresentableValue && error?.description.contains("--max-request-bytes") == true)
      #expect(try parts(log) == 0 && user.commits(after: 0).count == 1)
      try insert(300_000, into: user)
      #expect(try user.newest("t").state.records.count == 1)
    }
  }

  @Test func errorForManyOperationsNamesTheOption() throws {
    try EtcdCluster.withOneMember(["ETCD_MAX_TXN_OPS": "5"]) { cluster in
      let log = try open(cluster)
      let error = storeError { try log.create() }
      #expect(error?.code == .unrepresentableValue && error?.description.contains("--max-txn-ops") == true)
    }
  }

  @Test func commitThatDoesNotFitIsRefusedBeforeItIsSent() throws {
    try EtcdCluster.withOneMember(["ETCD_QUOTA_BACKEND_BYTES": "8000000"]) { cluster in
      let log = try open(cluster)
      try log.create()
      let user = LogUser(log)
      _ = try user.append("t") { _ in [.create] }
      let early = storeError { try insert(5_000_000, into: user) }
      #expect(early?.code == .diskFull && early?.description.contains("--quota-backend-bytes") == true)
      #expect(try parts(log) == 0)
      // The size of small commits is not checked, so write them until etcd is full.
      var count = 0
      let late = storeError {
        for _ in 0..<1_000 {
          try insert(50_000, into: user)
          count += 1
        }
      }
      #expect(late?.code == .diskFull && late?.description.contains("alarm disarm") == true)
      #expect(count > 10)
      #expect(try user.newest("t").state.records.count == count)
      // What the message says helps.
      #expect(late?.description.contains("larger --quota-backend-bytes") == true)
      for verb in ["kill", "start"] { try cluster.run(verb, "1") }
      _ = try cluster.run("leader")
      try disarm(log.client)
      #expect(try log.forgetCommits(olderThan: .zero) == count + 1)
      try insert(50_000, into: user)
      #expect(try user.newest("t").state.records.count == count + 1)
    }
  }

  private struct AlarmRequest: Encodable {
    var action: String
    var memberID: String?
    var alarm: String?
  }

  private struct Alarms: Decodable {
    struct Alarm: Decodable {
      let memberID: String
      let alarm: String
    }
    let alarms: [Alarm]
  }

  /// Does what `etcdctl alarm disarm` does.
  private func disarm(_ client: EtcdClient) throws {
    let found: Alarms = try client.ask("/v3/maintenance/alarm", AlarmRequest(action: "GET"))
    for alarm in found.alarms {
      let request = AlarmRequest(action: "DEACTIVATE", memberID: alarm.memberID, alarm: alarm.alarm)
      let _: EtcdNothing = try client.ask("/v3/maintenance/alarm", request)
    }
  }

  @Test func compactingNeedsNoRoomForWhatTheTablesInclude() throws {
    try EtcdCluster.withOneMember(["ETCD_QUOTA_BACKEND_BYTES": "8000000"]) { cluster in
      let log = try open(cluster)
      try log.create()
      let user = LogUser(log)
      _ = try user.append("t") { _ in [.create] }
      for _ in 0..<20 { try insert(50_000, into: user) }
      #expect(try log.forgetCommits(olderThan: .seconds(3_600)) == 0)
      for _ in 0..<40 { try insert(50_000, into: user) }
      // The tables themselves would take up more than what is left.
      #expect(try log.forgetCommits(olderThan: .zero) == 21)
      #expect(try user.commits(after: 21).count == 40)
      try insert(50_000, into: user)
      #expect(try user.newest("t").state.records.count == 61)
      #expect(storeError { _ = try log.forgetCommits(olderThan: .zero) }?.code == .diskFull)
    }
  }

  @Test func clientLogsInAgainWhenEtcdForgetsTheToken() throws {
    try EtcdCluster.withOneMember { cluster in
      try open(cluster).create()
      try enableUsers(open(cluster).client)
      for user in ["", "root:wrong@", "nobody:geheim@"] {
        let error = storeError { _ = try open(cluster, user: user).identity() }
        #expect(error?.code == .permissionDenied && error?.description.contains("wrong") == false, "\(user)")
      }
      let log = try open(cluster, user: "root:geheim@")
      let (user, watch) = (LogUser(log), try #require(try log.makeWatch()))
      _ = try user.append("t") { _ in [.create] }
      #expect(watch.prepare())
      try cluster.run("kill", "1")
      try cluster.run("start", "1")
      _ = try cluster.run("leader")
      try insert(10, into: user)
      #expect(try user.commits(after: 0).count == 2 && log.address()?.contains("geheim") == false)
    }
  }

  private struct User: Encodable {
    var name: String?
    var user: String?
    var password: String?
    var role: String?
  }

  private func enableUsers(_ client: EtcdClient) throws {
    for (path, user) in [
      ("user/add", User(name: "root", password: "geheim")), ("role/add", User(name: "root")),
      ("user/grant", User(user: "root", role: "root")), ("enable", User()),
    ] {
      let _: EtcdNothing = try client.ask("/v3/auth/\(path)", user)
    }
  }
}
