import Dispatch
import FileDB
import FileDBEssentials
import Synchronization

/// Waits for commits of other machines. It watches the head of the log in etcd.
final class EtcdWatch: LogWatch {
  private struct State {
    var connection: EtcdConnection?
    var isInterrupted = false
  }

  private let client: EtcdClient
  private let key: String
  /// The longest time to wait before looking at the log anyway. A member that hangs never sends anything.
  private let longestWait: Duration
  private let state = Mutex(State())
  /// Counts the messages that have arrived.
  private let news = DispatchSemaphore(value: 0)

  init(_ client: EtcdClient, key: String, longestWait: Duration = .seconds(5)) {
    (self.client, self.key, self.longestWait) = (client, key, longestWait)
  }

  deinit { state.withLock { $0.connection?.close() } }

  func prepare() -> Bool {
    state.withLock { state in
      // Watch at the member that answers requests, because that one is known to work.
      if state.connection?.isOpen != true || state.connection?.endpoint != client.endpoint {
        state.connection?.close()
        state.connection = try? connect()
      }
      // The caller looks at the log next, so older messages are of no interest.
      while news.wait(timeout: .now()) == .success {}
      return state.connection != nil
    }
  }

  private struct Creation: Encodable {
    let create_request: EtcdRange
  }

  /// - Throws: ``EtcdFailure``, also if the watch does not begin within the timeout.
  private func connect() throws(EtcdFailure) -> EtcdConnection {
    let connection = try EtcdConnection(to: client.endpoint, within: client.timeout)
    let begun = DispatchSemaphore(value: 0)
    let first = FirstPiece()
    let request = EtcdRequest(
      path: "/v3/watch", body: try EtcdClient.encoded(Creation(create_request: EtcdRange(key))),
      token: try client.token())
    connection.stream(request) { [news] piece in
      first.note(piece)
      // Wake up at the end of the stream, too.
      news.signal()
      begun.signal()
    }
    guard begun.wait(timeout: .now() + client.timeout / .seconds(1)) == .success,
      first.text.contains("\"created\":true")
    else {
      connection.close()
      // etcd may have forgotten the token.
      client.forgetToken()
      throw .unreachable("\(connection.endpoint) does not report changes")
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

/// The first message of etcd: either the watch has begun, or the reason why not.
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
