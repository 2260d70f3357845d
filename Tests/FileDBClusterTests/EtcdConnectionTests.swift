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

private final class Bodies: Sendable {
  let all = Mutex<[[UInt8]]>([])
}

/// A server that treats one request after another as a test says.
private final class PlayedServer: Sendable {
  enum Step {
    case answer([UInt8])
    /// Closes the connection after it has read the request.
    case close
    /// Says this much, and then nothing more. It does not close the connection.
    case silence(after: [UInt8])
  }

  private let socket: LoopbackSocket
  private let bodies = Bodies()

  var port: Int { socket.port }
  /// The bodies of the requests that have arrived.
  var requests: [[UInt8]] { bodies.all.withLock(\.self) }

  init(_ steps: [Step]) throws {
    socket = try LoopbackSocket()
    try socket.listen()
    let listener = socket.descriptor
    Thread.detachNewThread { [bodies] in
      var steps = steps[...]
      while case let client = accept(listener, nil, nil), client >= 0 {
        while let body = Self.request(client) {
          bodies.all.withLock { $0.append(body) }
          guard case .answer(let bytes)? = steps.first else { break }
          steps.removeFirst()
          Self.send(bytes, to: client)
        }
        if case .silence(let bytes)? = steps.first { Self.send(bytes, to: client) } else { close(client) }
      }
    }
  }

  deinit { shutdown(socket.descriptor, CInt(SHUT_RDWR)) }

  /// - Returns: the body of the next request; `nil` if the connection ends.
  private static func request(_ client: CInt) -> [UInt8]? {
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
