import FileDB
import FileDBTables
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDBCluster

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
      let version = try user.newest("t")
      var now = version.state
      let applied = try now.applyRecording(.insert([record(1)], index: 0))
      let commit = NewCommit(
        changes: [LoggedChange(applied, of: "t")], position: version.through, tables: ["t": version.lineage],
        states: ["t": now])
      isFull.withLock { $0 = true }
      // If the log can't be read, it asks until the time has run out.
      if !isReadable { log.client.timeout = .milliseconds(100) }
      let error = storeError {
        _ = try log.append(timeout: longestWait, { commit }, beforeOthersSee: { _ in })
      }
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

  /// Values that contradict each other, or that no machine has written: another client of etcd may write anything.
  private static let wrongValues: [[String: String]] = [
    ["start": "9 -"], ["start": "2 -", "base": "1 -"], ["base": "9 -"], ["head": "1 -", "base": "2 -"],
    ["head": "18446744073709551615 -"],
    ["start": "18446744073709551614 -", "base": "18446744073709551614 -", "head": "18446744073709551615 -"],
    ["tables": "t 1 1 a 1\nt 1 1 a 1\n"], ["tables": "u 1\nu 1\n"], ["tables": "t -1\n"],
    ["tables": "t 1 1 a -1\n"], ["tables": "t 1 1 a 9223372036854775807\n"],
    ["tables": "t 1 9223372036854775807 a 1\nu 1 9223372036854775807 b 1\n"],
    ["commits/0000000000000001": "\(token) 1000000000 9223372036854775807\n"],
    ["commits/0000000000000001": "\(token) 1000000000 -1\n"],
    [
      "commits/0000000000000001": "\(token) 1000000000 9223372036854775807\n",
      "commits/0000000000000002": "\(token) 1000000000 9223372036854775807\n",
    ],
  ]
  private static let token = "0123456789abcdef0123456789abcdef"

  @Test(arguments: wrongValues) func wrongValuesAreAnError(values: [String: String]) throws {
    try withChangedAnswers { key, pair in
      values[key].map { pair["value"] = Data($0.utf8).base64EncodedString() }
    } _: { log in
      #expect(firstError(log)?.code == .damagedJournal)
    }
  }

  /// A commit that comes under the number of another one would be carried out twice, or not at all.
  @Test func commitsInAnotherOrderAreAnError() throws {
    try withChangedAnswers { key, pair in
      guard let number = key.last.flatMap({ Int(String($0)) }), key.hasPrefix("commits/") else { return }
      pair["key"] = Data("\(key.dropLast())\(4 - number)".utf8).base64EncodedString()
    } _: { log in
      #expect(firstError(log)?.code == .damagedJournal)
    }
  }

  @Test func answerWithoutTheRangesIsAnError() throws {
    let isIncomplete = Mutex(false)
    try withProxy { _, answer in
      isIncomplete.withLock(\.self)
        ? EtcdProxy.Answer(status: 200, #"{"header":{"revision":"9"},"succeeded":true}"#)
        : EtcdProxy.Answer(answer)
    } _: { log in
      isIncomplete.withLock { $0 = true }
      #expect(storeError { _ = try log.identity() }?.code == .unreachable)
      #expect(firstError(log)?.code == .unreachable)
    }
  }

  /// Runs `body` with a log of three commits. From then on, `change` changes the pairs that etcd answers with.
  private func withChangedAnswers(
    _ change: @escaping @Sendable (_ key: String, _ pair: inout [String: Any]) -> Void,
    _ body: (EtcdLog) throws -> Void
  ) throws {
    let start = Mutex<String?>(nil)
    try withProxy { _, answer in
      guard let start = start.withLock(\.self),
        var message = try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any],
        var responses = message["responses"] as? [[String: Any]]
      else { return EtcdProxy.Answer(answer) }
      for index in responses.indices {
        guard var range = responses[index]["response_range"] as? [String: Any],
          var pairs = range["kvs"] as? [[String: Any]]
        else { continue }
        for index in pairs.indices {
          let key = (pairs[index]["key"] as? String).flatMap { Data(base64Encoded: $0) } ?? Data()
          change(String(String(decoding: key, as: UTF8.self).dropFirst(start.count)), &pairs[index])
        }
        range["kvs"] = pairs
        responses[index]["response_range"] = range
      }
      message["responses"] = responses
      guard let body = try? JSONSerialization.data(withJSONObject: message) else {
        return EtcdProxy.Answer(answer)
      }
      return EtcdProxy.Answer(status: 200, String(decoding: body, as: UTF8.self))
    } _: { log in
      let user = LogUser(log)
      _ = try user.append("t") { _ in [.create] }
      for id in 1...2 { _ = try user.append("t") { _ in [.insert([record(Int64(id))], index: 0)] } }
      let other = try EtcdLog("etcd://\(log.client.endpoint)", store: log.name, timeout: longestWait)
      start.withLock { $0 = log.keys.root }
      try body(other)
    }
  }

  /// The first error of everything that reads a log.
  private func firstError(_ log: EtcdLog) -> StoreError? {
    let reads: [() throws -> Void] = [
      { _ = try log.tables() }, { _ = try log.droppedTables() }, { _ = try log.commits(after: 0) },
      { _ = try log.news(after: FollowedCommit(sequence: 0)) }, { _ = try log.status() },
      { _ = try log.base(of: TableKey("t"), unless: nil) }, { _ = try log.bases { _, _ in } },
    ]
    return reads.lazy.compactMap { storeError($0) }.first
  }
}
