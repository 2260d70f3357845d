import Dispatch
import FileDB
import FileDBEssentials
import Synchronization

/// Waits for what other machines append, by etcd's watch of the log's head.
final class EtcdWatch: LogWatch {
  private struct State {
    var connection: EtcdConnection?
    var isInterrupted = false
  }

  private let client: EtcdClient
  private let key: String
  /// A member that stands still tells of nothing: who waits looks now and then.
  private let longestWait: Duration
  private let state = Mutex(State())
  /// Counts what has come.
  private let news = DispatchSemaphore(value: 0)

  init(_ client: EtcdClient, key: String, longestWait: Duration = .seconds(5)) {
    (self.client, self.key, self.longestWait) = (client, key, longestWait)
  }

  deinit { state.withLock { $0.connection?.close() } }

  func prepare() -> Bool {
    state.withLock { state in
      // The member that answers requests is one that lives.
      if state.connection?.isOpen != true || state.connection?.endpoint != client.endpoint {
        state.connection?.close()
        state.connection = try? connect()
      }
      // What came before is seen by the look that follows.
      while news.wait(timeout: .now()) == .success {}
      return state.connection != nil
    }
  }

  private struct Creation: Encodable {
    let create_request: EtcdRange
  }

  /// - Throws: ``EtcdFailure``, also where the watch does not begin within the timeout.
  private func connect() throws(EtcdFailure) -> EtcdConnection {
    let connection = try EtcdConnection(to: client.endpoint, within: client.timeout)
    let begun = DispatchSemaphore(value: 0)
    let first = FirstPiece()
    let request = EtcdRequest(
      path: "/v3/watch", body: try EtcdClient.encoded(Creation(create_request: EtcdRange(key))),
      token: try client.token())
    connection.stream(request) { [news] piece in
      first.note(piece)
      // An end is news, too.
      news.signal()
      begun.signal()
    }
    guard begun.wait(timeout: .now() + client.timeout / .seconds(1)) == .success,
      first.text.contains("\"created\":true")
    else {
      connection.close()
      // etcd may have forgotten it.
      client.forgetToken()
      throw .unreachable("\(connection.endpoint) does not tell of news")
    }
    return connection
  }

  func wait(upTo timeout: Duration?) {
    if state.withLock(\.isInterrupted) { return }
    let time = min(timeout ?? longestWait, longestWait)
    _ = news.wait(timeout: .now() + time / .seconds(1))
  }

  func interrupt() {
    state.withLock { $0.isInterrupted = true }
    news.signal()
  }
}

/// What etcd answers first: that the watch has begun, or why not.
private final class FirstPiece: Sendable {
  private let bytes = Mutex<[UInt8]?>(nil)

  var text: String { bytes.withLock { String(decoding: $0 ?? [], as: UTF8.self) } }

  func note(_ piece: [UInt8]?) { bytes.withLock { if $0 == nil { $0 = piece ?? [] } } }
}

extension EtcdLog {
  package func makeWatch() throws(StoreError) -> (any LogWatch)? {
    EtcdWatch(client, key: keys.head)
  }
}
