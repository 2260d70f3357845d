import FileDB
import FileDBCluster
import FileDBTables
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDBEtcd

/// Unusual answers of etcd. A proxy makes them.
@Suite(
  .enabled(if: EtcdCluster.current != nil, "needs the etcd clusters of Tests/Cluster/with-servers"))
struct EtcdAnswerTests {
  /// Runs `body` with a log behind a proxy.
  private func withProxy(
    _ change: @escaping EtcdProxy.Change, _ body: (EtcdLog) throws -> Void
  ) throws {
    let cluster = try #require(EtcdCluster.current)
    let member = try EtcdAddress(cluster.address).endpoints[0].port
    let proxy = try EtcdProxy(to: member, change)
    let log = try EtcdLog("etcd://127.0.0.1:\(proxy.port)", store: UUID().uuidString, timeout: longestWait)
    try log.create()
    try body(log)
    withExtendedLifetime(proxy) {}
  }

  /// etcd checks its size again when it carries out a transaction. It then reports the error, but keeps the changes.
  @Test(arguments: [true, false]) func commitThatFillsEtcdIsDoneIfItIsThere(isReadable: Bool) throws {
    let isFull = Mutex(false)
    try withProxy { request, answer in
      let isCommit = request.contains("compare\":[{")
      guard isFull.withLock(\.self), isCommit || !isReadable else { return EtcdProxy.Answer(answer) }
      let message = isCommit ? "etcdserver: mvcc: database space exceeded" : "etcdserver: request timed out"
      return EtcdProxy.Answer(
        status: 500, #"{"error":"\#(message)","code":\#(isCommit ? 8 : 14),"message":"\#(message)"}"#)
    } _: { log in
      let user = LogUser(log)
      _ = try user.append("t") { _ in [.create] }
      var now = try user.newest("t").state
      let expected = try user.newest("t").expected
      let applied = try now.applyNoting(.insert([record(1)], index: 0))
      let commit = NewCommit(changes: [("t", applied)], tables: ["t": expected], states: ["t": now])
      isFull.withLock { $0 = true }
      // If the log can't be read, it asks until the time has run out.
      if !isReadable { log.client.timeout = .milliseconds(100) }
      let error = storeError { _ = try log.append(timeout: longestWait, { commit }, taking: { _ in }) }
      #expect(error?.code == (isReadable ? nil : .outcomeUnknown))
      isFull.withLock { $0 = false }
      log.client.timeout = longestWait
      #expect(try log.outcome(of: commit.token) == .committed)
      #expect(try user.newest("t").state.records.count == 1)
    }
  }

  /// Since etcd 3.6, refusals have no `error` any more.
  @Test func refusalOfANewerGatewayIsUnderstood() throws {
    let isTooLarge = Mutex(false)
    try withProxy { request, answer in
      guard isTooLarge.withLock(\.self) else { return EtcdProxy.Answer(answer) }
      return EtcdProxy.Answer(
        status: 400, #"{"code":3,"message":"etcdserver: request is too large","details":[]}"#)
    } _: { log in
      isTooLarge.withLock { $0 = true }
      let error = storeError { _ = try log.identity() }
      #expect(error?.code == .unrepresentableValue)
    }
  }

  /// etcd is restored between two requests that are sent at the same time.
  @Test func commitsOfARestoredLogAreNotAddedToThoseBefore() throws {
    let last = Mutex("no key")
    let text = Mutex("")
    try withProxy { request, answer in
      guard request.contains(last.withLock { $0 }) else { return EtcdProxy.Answer(answer) }
      // The first 30 characters of the token are 40 characters of base64.
      let former = Data(text.withLock { $0 }.utf8.prefix(30)).base64EncodedString()
      let other = Data(CommitToken.random().text.utf8.prefix(30)).base64EncodedString()
      return EtcdProxy.Answer(
        status: 200, String(decoding: answer.body, as: UTF8.self).replacing(former, with: other))
    } _: { log in
      try withTemporaryFolder { folder in
        let store = try RecordStore(
          at: folder, sharedBy: SharedLog(log), following: .whenAsked, options: StoreOptions())
        for number in 1...600 { try store.table("t").add(["number": .integer(Int64(number))]) }
      }
      let (start, key) = (FollowedCommit(sequence: 0), log.keys.commit(512))
      let commit = try log.asking([.get(EtcdRange(key))]).ranges[0][0].text
      #expect(try log.news(after: start).commits.count == 600)
      text.withLock { $0 = commit }
      last.withLock { $0 = Data(key.utf8).base64EncodedString() }
      #expect(try log.news(after: start).commits.count == 512)
    }
  }
}
