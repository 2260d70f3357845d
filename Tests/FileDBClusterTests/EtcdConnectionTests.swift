import FileDB
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDBCluster

/// How long a connection waits. The time passes only when a test says so.
@Suite struct IdleDeadlineTests {
  /// The whole answer takes almost three times as long as the timeout.
  @Test func eachPiecePutsTheEndOff() {
    let (start, timeout) = (ContinuousClock.now, Duration.seconds(2))
    var deadline = IdleDeadline(timeout, from: start)
    for piece in 1...3 {
      let now = start + timeout * piece - .nanoseconds(piece)
      #expect(deadline.timeLeft(at: now) == .nanoseconds(1))
      deadline.putOff(from: now)
    }
    let end = start + timeout * 4 - .nanoseconds(3)
    #expect(deadline.timeLeft(at: end - .nanoseconds(1)) == .nanoseconds(1))
    #expect(deadline.timeLeft(at: end) == nil)
  }
}

/// Connections to a server that a test plays.
@Suite(.enabled(if: (try? LibCurl.load()) != nil, "needs libcurl"))
struct EtcdConnectionTests {
  private static let request = EtcdRequest(path: "/v3/kv/txn", body: Array(#"{"a":1}"#.utf8))
  private static let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".utf8)

  private func message(_ connection: EtcdConnection, within timeout: Duration = longestWait) -> EtcdFailure? {
    do throws(EtcdFailure) { _ = try connection.send(Self.request, within: timeout) } catch { return error }
    return nil
  }

  /// libcurl would send the request again, and etcd might carry it out twice.
  @Test func requestIsNotSentAgainIfAKeptConnectionBreaks() throws {
    let server = try PlayedServer([.answer(Self.answer), .close])
    let connection = try EtcdConnection(to: EtcdEndpoint(host: "127.0.0.1", port: server.port), nil)
    #expect(try connection.send(Self.request, within: longestWait).body == Array("{}".utf8))
    guard case .lost = message(connection) else {
      Issue.record("the request may have reached etcd")
      return
    }
    #expect(server.requests.count == 2)
  }

  /// Bytes that arrive after a part of the answer are missing in the last one.
  @Test(arguments: 0...3) func silenceEndsTheRequest(after count: Int) throws {
    let pieces = ["HTTP/1.1 200 OK\r\n", "Content-Length: 6\r\n\r\n", "abcd"]
    let server = try PlayedServer([.silence(after: Array(pieces.prefix(count).joined().utf8))])
    let connection = try EtcdConnection(to: EtcdEndpoint(host: "127.0.0.1", port: server.port), nil)
    guard case .lost(let message) = message(connection, within: .milliseconds(100)) else {
      Issue.record("the request may have reached etcd")
      return
    }
    #expect(message == "127.0.0.1:\(server.port) did not answer within 0.1 seconds")
  }

  @Test func requestThatWasNotSentIsNotLost() throws {
    // Nobody listens there.
    let socket = try LoopbackSocket()
    let failure = message(try EtcdConnection(to: EtcdEndpoint(host: "127.0.0.1", port: socket.port), nil))
    guard case .unreachable("127.0.0.1:\(socket.port) cannot be reached: Connection refused") = failure else {
      Issue.record("\(failure as Any)")
      return
    }
  }

  /// Each piece comes before the time has run out, and the last one after twice that time.
  @Test func slowAnswerArrivesWhole() throws {
    let timeout = Duration.seconds(2)
    let pieces = ["HTTP/1.1 200 OK\r\n", "Content-Length: 4\r\n\r\n", "ab", "cd"]
    let server = try PlayedServer([.slowly(pieces.map { Array($0.utf8) }, pause: timeout * 0.6)])
    let connection = try EtcdConnection(to: EtcdEndpoint(host: "127.0.0.1", port: server.port), nil)
    #expect(try connection.send(Self.request, within: timeout).body == Array("abcd".utf8))
  }

  /// It has sent the first half when the connection breaks.
  @Test func requestThatIsHalfSentIsLost() throws {
    let server = try PlayedServer([.answer(Self.answer), .closeEarly])
    let connection = try EtcdConnection(to: EtcdEndpoint(host: "127.0.0.1", port: server.port), nil)
    _ = try connection.send(Self.request, within: longestWait)
    let large = EtcdRequest(path: "/", body: [UInt8](repeating: 1, count: 10_000_000))
    do throws(EtcdFailure) {
      _ = try connection.send(large, within: longestWait)
      Issue.record("nobody answered")
    } catch {
      guard case .lost = error else {
        Issue.record("\(error)")
        return
      }
    }
    // libcurl may connect again, before it finds that it cannot begin the body anew.
    #expect(server.requests.count == 2, "nothing of the body was sent again")
  }

  @Test func interruptionEndsAStream() throws {
    let server = try PlayedServer([.silence(after: Array("HTTP/1.1 200 OK\r\n\r\nnews".utf8))])
    let connection = try EtcdConnection(to: EtcdEndpoint(host: "127.0.0.1", port: server.port), nil)
    let hasNews = DispatchSemaphore(value: 0)
    let stream = startThread("the stream") { connection.stream(Self.request) { _ in hasNews.signal() } }
    try startThread("the news") { hasNews.wait() }.wait()
    connection.interrupt()
    try stream.wait()
    // It ends at once if it begins later.
    connection.stream(Self.request) { _ in }
  }

  /// A server that accepts connections, and says nothing: it never ends the handshake of TLS.
  @Test func silenceBeforeTheRequestIsNotLost() throws {
    let server = try PlayedServer([.silence(after: [])])
    let connection = try EtcdConnection(
      to: EtcdEndpoint(host: "127.0.0.1", port: server.port), EtcdSecurity())
    guard case .unreachable = message(connection, within: .milliseconds(100)) else {
      Issue.record("nothing of the request was sent")
      return
    }
  }

  @Test func largeRequestIsSentWhole() throws {
    let server = try PlayedServer([.answer(Self.answer)])
    let connection = try EtcdConnection(to: EtcdEndpoint(host: "127.0.0.1", port: server.port), nil)
    let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    #expect(try connection.send(EtcdRequest(path: "/", body: body), within: longestWait).status == 200)
    #expect(server.requests == [body])
  }
}

private final class Seen: Sendable {
  let bodies = Mutex<[[UInt8]]>([])
}

/// A server that treats one request after another as a test says.
private final class PlayedServer: Sendable {
  enum Step {
    case answer([UInt8])
    /// Sends the pieces of an answer with a pause before each.
    case slowly([[UInt8]], pause: Duration)
    /// Closes the connection after it has read the request.
    case close
    /// Closes the connection when a part of the request's body has arrived. Before that, libcurl sends the request again,
    /// because nobody can have carried it out.
    case closeEarly
    /// Says this much, and then nothing more. It does not close the connection.
    case silence(after: [UInt8])
  }

  private let socket: LoopbackSocket
  private let seen = Seen()

  var port: Int { socket.port }
  /// The bodies of the requests that have arrived.
  var requests: [[UInt8]] { seen.bodies.withLock(\.self) }

  init(_ steps: [Step]) throws {
    socket = try LoopbackSocket()
    try socket.listen()
    // The thread holds the socket. Otherwise it could accept clients of the next one with the same descriptor.
    Thread.detachNewThread { [seen, socket] in
      var steps = steps[...]
      while case let client = accept(socket.descriptor, nil, nil), client >= 0 {
        while let step = steps.first, let body = Self.request(client, step) {
          seen.bodies.withLock { $0.append(body) }
          guard Self.take(step, client) else { break }
          steps.removeFirst()
        }
        if case .silence? = steps.first {} else { close(client) }
      }
    }
  }

  /// - Returns: whether the connection goes on.
  private static func take(_ step: Step, _ client: CInt) -> Bool {
    switch step {
    case .answer(let bytes): send(bytes, to: client)
    case .slowly(let pieces, let pause):
      for piece in pieces {
        usleep(UInt32(pause / .microseconds(1)))
        send(piece, to: client)
      }
    case .silence(let bytes):
      send(bytes, to: client)
      return false
    case .close, .closeEarly: return false
    }
    return true
  }

  deinit { shutdown(socket.descriptor, CInt(SHUT_RDWR)) }

  /// - Returns: the body of the next request; `nil` if the connection ends.
  private static func request(_ client: CInt, _ step: Step) -> [UInt8]? {
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(client, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      received += buffer[..<count]
      guard let head = received.firstRange(of: Array("\r\n\r\n".utf8)) else {
        // The first bytes of TLS.
        if received.first == 22 { return [] }
        continue
      }
      if case .closeEarly = step, received.count > head.upperBound { return [] }
      let lines = String(decoding: received[..<head.lowerBound], as: UTF8.self).lowercased().split(
        separator: "\r\n")
      let length = lines.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) } ?? 0
      if received.count >= head.upperBound + length { return Array(received[head.upperBound...]) }
    }
  }

  private static func send(_ bytes: [UInt8], to client: CInt) {
    _ = bytes.withUnsafeBytes { Foundation.send(client, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
  }
}
