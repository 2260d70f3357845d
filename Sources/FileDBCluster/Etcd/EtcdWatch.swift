import Dispatch
import FileDB
import FileDBEssentials
import Synchronization

/// Waits for commits of other machines. It watches the head of the log in etcd.
final class EtcdWatch: LogWatch {
  private struct State {
    var stream: EtcdStream?
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

  deinit { state.withLock { $0.stream?.end() } }

  func prepare() -> Bool {
    state.withLock { state in
      // Watch at the member that answers requests, because that one is known to work.
      if state.stream?.isOpen != true || state.stream?.endpoint != client.endpoint {
        state.stream?.end()
        state.stream = try? begin()
      }
      // The caller looks at the log next, so older messages are of no interest.
      while news.wait(timeout: .now()) == .success {}
      return state.stream != nil
    }
  }

  private struct Creation: Encodable {
    let create_request: EtcdRange
  }

  /// - Throws: ``EtcdFailure``, also if the watch does not begin within the timeout.
  private func begin() throws(EtcdFailure) -> EtcdStream {
    let request = EtcdRequest(
      path: "/v3/watch", body: try EtcdClient.encoded(Creation(create_request: EtcdRange(key))),
      token: try client.token())
    let stream = try EtcdStream(to: client.endpoint, client.address.security, request, news)
    guard stream.firstPiece(within: client.timeout).contains("\"created\":true") else {
      stream.end()
      // etcd may have forgotten the token.
      client.forgetToken()
      throw .unreachable("\(stream.endpoint) does not report changes")
    }
    return stream
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

/// An answer that goes on, which a thread of its own receives.
private final class EtcdStream: Sendable {
  private struct State {
    var first = ""
    var isOpen = true
  }

  private let connection: EtcdConnection
  private let state = Mutex(State())
  private let hasBegun = DispatchSemaphore(value: 0)

  /// - Parameter news: signalled at each piece, and at the end.
  init(
    to endpoint: EtcdEndpoint, _ security: EtcdSecurity?, _ request: EtcdRequest, _ news: DispatchSemaphore
  ) throws(EtcdFailure) {
    connection = try EtcdConnection(to: endpoint, security)
    // A queue of its own, so that it has a thread of its own.
    DispatchQueue(label: "FileDB.EtcdStream").async { [self] in
      connection.stream(request) { piece in
        // The first message of etcd: either the watch has begun, or the reason why not.
        state.withLock { if $0.first.isEmpty { $0.first = String(decoding: piece, as: UTF8.self) } }
        hasBegun.signal()
        news.signal()
      }
      state.withLock { $0.isOpen = false }
      hasBegun.signal()
      news.signal()
    }
  }

  var endpoint: EtcdEndpoint { connection.endpoint }
  var isOpen: Bool { state.withLock(\.isOpen) }

  /// - Returns: nothing if the stream ends, or the time is over, before anything arrives.
  func firstPiece(within timeout: Duration) -> String {
    _ = hasBegun.wait(timeout: .now() + timeout / .seconds(1))
    return state.withLock(\.first)
  }

  func end() { connection.interrupt() }
}

extension EtcdLog {
  package func makeWatch() throws(StoreError) -> (any LogWatch)? {
    EtcdWatch(client, key: keys.head)
  }
}
